import {element, type Markup, type Tag} from '../markup.ts';
import {renderInline} from './render-inline.ts';
import {isTableStart, renderTable, tableEnd} from './render-table.ts';

/** Deeper quotes and lists are shown as they are written. */
const DEEPEST = 10;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(?: {1,4}|$)/;

/** A block, and the line behind it. */
interface Block {
  readonly markup: Markup;
  readonly end: number;
}

/** Markdown as our pages are converted to it, as elements. Never HTML: a tag in it is text. */
export function renderMarkdown(text: string): readonly Markup[] {
  return renderBlocks(text.split('\n'), 0);
}

function renderBlocks(lines: readonly string[], depth: number): readonly Markup[] {
  const blocks: Markup[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const {markup, end} =
      fence(lines, at) ??
      heading(line, at) ??
      (isTableStart(lines, at) ? table(lines, at) : undefined) ??
      (depth < DEEPEST ? (quote(lines, at, depth) ?? list(lines, at, depth)) : undefined) ??
      paragraph(lines, at, depth);
    blocks.push(markup);
    at = end;
  }
  return blocks;
}

function fence(lines: readonly string[], at: number): Block | undefined {
  const [, marks = '', info = ''] = FENCE.exec(lines[at] ?? '') ?? [];
  if (marks === '') return undefined;
  const closes = (line: string): boolean => {
    const written = line.trim();
    return written.length >= marks.length && written === marks.charAt(0).repeat(written.length);
  };
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? '')) end += 1;
  const code = lines.slice(at + 1, end).join('\n');
  const title = info.trim().slice(0, 40);
  const markup = element('pre', title === '' ? {} : {title}, element('code', {}, code));
  return {markup, end: end + 1};
}

function heading(line: string, at: number): Block | undefined {
  const [found, marks = '', text = ''] = HEADING.exec(line) ?? [];
  if (found === undefined) return RULE.test(line) ? {markup: element('hr'), end: at + 1} : undefined;
  const level = marks.length;
  // The page that is shown stands below the headings of the report.
  const tag: Tag = level === 1 ? 'h4' : level === 2 ? 'h5' : 'h6';
  return {markup: [tag, {}, renderInline(text.replace(/(?:^|[ \t])#+[ \t]*$/, ''))], end: at + 1};
}

function table(lines: readonly string[], at: number): Block {
  const end = tableEnd(lines, at);
  return {markup: renderTable(lines.slice(at, end)), end};
}

function quote(lines: readonly string[], at: number, depth: number): Block | undefined {
  if (!QUOTE.test(lines[at] ?? '')) return undefined;
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1;
  const inner = lines.slice(at, end).map(line => line.replace(QUOTE, ''));
  return {markup: ['blockquote', {}, renderBlocks(inner, depth + 1)], end};
}

function list(lines: readonly string[], at: number, depth: number): Block | undefined {
  const first = ITEM.exec(lines[at] ?? '');
  if (!first || RULE.test(lines[at] ?? '')) return undefined;
  const number = first[3];
  const items: Markup[] = [];
  let end = at;
  for (;;) {
    const start = ITEM.exec(lines[end] ?? '');
    if (!start || (start[3] === undefined) !== (number === undefined)) break;
    const from = end;
    const indent = start[0].length;
    end = itemEnd(lines, from + 1, indent);
    const inner = lines.slice(from, end).map((line, index) => dedent(line, index === 0, indent));
    items.push(['li', {}, tight(renderBlocks(inner, depth + 1))]);
  }
  if (number === undefined) return {markup: ['ul', {}, items], end};
  return {markup: ['ol', {start: Number(number)}, items], end};
}

/** Up to the next item or the next text that does not belong to this one. */
function itemEnd(lines: readonly string[], from: number, indent: number): number {
  let end = from;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    const isBlank = line.trim() === '';
    const isInside = line.startsWith(' '.repeat(Math.min(indent, 2)));
    const afterBlank = (lines[end - 1] ?? '').trim() === '';
    if (!isBlank && !isInside && (afterBlank || startsBlock(line))) break;
    end += 1;
  }
  while (end > from && (lines[end - 1] ?? '').trim() === '') end -= 1;
  // Blank lines between two items belong to the list.
  let next = end;
  while (next < lines.length && (lines[next] ?? '').trim() === '') next += 1;
  return ITEM.test(lines[next] ?? '') ? next : end;
}

function dedent(line: string, isFirst: boolean, indent: number): string {
  if (isFirst) return line.slice(indent);
  const spaces = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, spaces));
}

/** An item that is one paragraph is shown without the space around paragraphs. */
function tight(blocks: readonly Markup[]): readonly Markup[] {
  const [first, ...rest] = blocks;
  if (first === undefined || typeof first === 'string' || first[0] !== 'p') return blocks;
  return [...first[2], ...rest];
}

function paragraph(lines: readonly string[], at: number, depth: number): Block {
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    if (line.trim() === '' || (depth < DEEPEST && startsBlock(line))) break;
    end += 1;
  }
  const text = lines
    .slice(at, end)
    .map(line => line.trimStart())
    .join('\n');
  return {markup: ['p', {}, renderInline(text)], end};
}

function startsBlock(line: string): boolean {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some(pattern => pattern.test(line));
}
