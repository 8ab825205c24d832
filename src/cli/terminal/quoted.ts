import {cutMiddle} from '../../core/text/cut-middle.ts';
import {showInvisible} from '../../core/text/show-invisible.ts';
import {type Console, type Style, styled} from '../console.ts';
import {breakColumns} from './break-columns.ts';
import {terminalColumns} from './terminal-columns.ts';

const LONGEST = 12_000;
const QUOTE_BAR = '  │ ';
/** A terminal that is narrower than this cannot show a bar and a wide character beside it. */
const LEAST_WIDTH = 2;
/** More marks on one letter than any script has would run into the rows above and below. */
const STACKED_MARKS = /(?<=\p{M}{3})\p{M}/gu;

/**
 * What a call brings along, as rows behind a bar that it cannot step out of. Lines are broken here and not by
 * the terminal, and what cannot be seen is shown by its number, so that nothing of it can pass for a
 * question of ours (review R15). A diff has colours.
 */
export function quoted(text: string, console: Console): readonly string[] {
  const shown = showInvisible(cutMiddle(text.replace(/\n+$/, ''), LONGEST))
    .replaceAll('\t', '    ')
    .replace(STACKED_MARKS, mark => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
  if (shown === '') return [];
  // One column stays free: some terminals begin a new row as soon as the last column is taken.
  const width = Math.max(LEAST_WIDTH, console.columns - terminalColumns(QUOTE_BAR) - 1);
  const isDiff = /^--- /m.test(shown) && /^@@ /m.test(shown);
  return shown.split('\n').flatMap(line => {
    const style = isDiff ? styleOf(line) : undefined;
    return breakColumns(line, width).map(row => QUOTE_BAR + (style ? styled(console, style, row) : row));
  });
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'bold';
  if (line.startsWith('@@ ')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}
