import {type Element, element} from '../markup.ts';
import {renderInline} from './render-inline.ts';

const DELIMITERS = /^\|?(?: *:?-+:? *\|)* *:?-+:? *\|?$/;
const LONGEST_DELIMITERS = 5000;

/** GFM: a line with cells, and below it one of dashes. */
export function isTableStart(lines: readonly string[], at: number): boolean {
  const below = (lines[at + 1] ?? '').trim();
  if (!(lines[at] ?? '').includes('|') || !below.includes('-') || !below.includes('|')) return false;
  return below.length <= LONGEST_DELIMITERS && DELIMITERS.test(below);
}

export function tableEnd(lines: readonly string[], at: number): number {
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) end += 1;
  return end;
}

export function renderTable([head = '', , ...rows]: readonly string[]): Element {
  const cells = (line: string, tag: 'th' | 'td'): Element => [
    'tr',
    {},
    splitRow(line).map((cell): Element => [tag, {}, renderInline(cell)]),
  ];
  const table = element('table', {}, element('thead', {}, cells(head, 'th')), [
    'tbody',
    {},
    rows.map(row => cells(row, 'td')),
  ]);
  return element('div', {class: 'scroll'}, table);
}

/** An escaped `|` is part of its cell. */
function splitRow(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map(cell => cell.trim().replaceAll('\\|', '|'));
}
