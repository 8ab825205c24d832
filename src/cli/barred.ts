import {cutMiddle} from '../mcp/cut-middle.ts';
import {printable} from './printable.ts';

const LONGEST_PREVIEW = 12_000;
const BAR = '  │ ';

/**
 * What a call brings along, as lines behind a bar that it cannot step out of: long lines are broken
 * here and not by the terminal, so that nothing of it can pass for a question of ours.
 */
export function barred(preview: string, columns: number): readonly string[] {
  const text = printable(cutMiddle(preview, LONGEST_PREVIEW)).replaceAll('\t', '    ').replace(/\n+$/, '');
  if (text === '') return [];
  const width = Math.max(20, columns - BAR.length);
  return text.split('\n').flatMap(line => broken([...line], width).map(piece => BAR + piece));
}

function broken(characters: readonly string[], width: number): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += width) {
    pieces.push(characters.slice(start, start + width).join(''));
  }
  return pieces.length === 0 ? [''] : pieces;
}
