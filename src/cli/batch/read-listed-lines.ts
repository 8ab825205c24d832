import {readLines} from '../jsonl/read-lines.ts';

export interface ListedLine {
  /** From 1. */
  readonly line: number;
  /** Without blanks around it; `undefined` for a line that is longer than any address. */
  readonly text: string | undefined;
}

const MAX_LINE_BYTES = 16_384;
const COMMENT = '#';

/** The lines of a list of addresses, as they come; empty ones and comments (`# …`) are passed over. */
export async function* readListedLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<ListedLine> {
  const decoder = new TextDecoder();
  let line = 0;
  for await (const read of readLines(input, MAX_LINE_BYTES)) {
    line += 1;
    // The decoder drops a byte order mark; trim takes the carriage return of another system's lines.
    const text = read.ok ? decoder.decode(read.value).trim() : undefined;
    if (text === '' || text?.startsWith(COMMENT)) continue;
    yield {line, text};
  }
}
