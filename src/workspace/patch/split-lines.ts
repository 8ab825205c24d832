import type {ByteString} from './byte-string.ts';

/** Lines with their `\n`; only the last may lack one. Joined, they are the content again. */
export function splitLines(content: ByteString): ByteString[] {
  const lines: ByteString[] = [];
  let start = 0;
  while (start < content.length) {
    const newline = content.indexOf('\n', start);
    const end = newline === -1 ? content.length : newline + 1;
    lines.push(content.slice(start, end));
    start = end;
  }
  return lines;
}
