import {cutMiddle} from '../mcp/cut-middle.ts';
import {type Console, type Style, styled} from './console.ts';
import {printable} from './printable.ts';

const LONGEST_PREVIEW = 12_000;
const BAR = '  │ ';

/**
 * What a call brings along, as lines behind a bar that it cannot step out of: long lines are broken
 * here and not by the terminal, so that nothing of it can pass for a question of ours. A diff has colours.
 */
export function barred(preview: string, console: Console): readonly string[] {
  const text = printable(cutMiddle(preview, LONGEST_PREVIEW)).replaceAll('\t', '    ').replace(/\n+$/, '');
  if (text === '') return [];
  const width = Math.max(20, console.columns - BAR.length);
  const isDiff = /^--- /m.test(text) && /^@@ /m.test(text);
  return text.split('\n').flatMap(line => {
    const style = isDiff ? styleOf(line) : undefined;
    return broken([...line], width).map(piece => BAR + (style ? styled(console, style, piece) : piece));
  });
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'bold';
  if (line.startsWith('@@ ')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}

function broken(characters: readonly string[], width: number): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += width) {
    pieces.push(characters.slice(start, start + width).join(''));
  }
  return pieces.length === 0 ? [''] : pieces;
}
