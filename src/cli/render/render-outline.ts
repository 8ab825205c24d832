import {type Console, styled} from '../console.ts';
import {printable} from '../terminal/printable.ts';
import type {Outline, OutlineSection, ReadPage} from '../toolbox-services.ts';
import {groupDigits} from './group-digits.ts';

const OWN = 'own';
const ALL = 'with below';
const INDENT = '  ';

interface Row {
  readonly own: string;
  /** Empty where nothing is below. */
  readonly all: string;
  readonly heading: string;
}

/** The heading tree of a page, tokens to the left of each heading, the whole at the bottom. */
export function renderOutline({response}: ReadPage, outline: Outline, console: Console): string {
  const rows = rowsOf(outline.sections, 0);
  const total = groupDigits(outline.total_tokens);
  const ownWidth = Math.max(OWN.length, ...rows.map(({own}) => own.length));
  const allWidth = Math.max(ALL.length, total.length, ...rows.map(({all}) => all.length));
  const line = (own: string, all: string, text: string): string =>
    `${own.padStart(ownWidth)}  ${all.padStart(allWidth)}  ${text}`;
  return [
    styled(console, 'bold', oneLine(response.title ?? '(no title)')),
    styled(console, 'cyan', oneLine(response.final_url)),
    '',
    styled(console, 'dim', line(OWN, ALL, 'tokens')),
    ...rows.map(({own, all, heading}) => line(own, all, heading)),
    styled(console, 'bold', line('', total, 'the whole page')),
    '',
  ].join('\n');
}

function rowsOf(sections: readonly OutlineSection[], depth: number): readonly Row[] {
  return sections.flatMap(({heading, tokens, tokens_with_subsections, level, sections: below}) => [
    {
      own: groupDigits(tokens),
      all: below.length === 0 ? '' : groupDigits(tokens_with_subsections),
      heading: INDENT.repeat(depth) + (level === 0 ? '(before the first heading)' : oneLine(heading)),
    },
    ...rowsOf(below, depth + 1),
  ]);
}

function oneLine(text: string): string {
  return printable(text).replace(/[\n\t]+/g, ' ');
}
