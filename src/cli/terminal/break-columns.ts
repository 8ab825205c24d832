import {terminalColumns} from './terminal-columns.ts';

/** Made with the first line: most starts of the command line print none. */
let graphemes: Intl.Segmenter | undefined;

/** One line as the rows of a terminal that is `width` columns wide; an empty line is one row. */
export function breakColumns(line: string, width: number): readonly string[] {
  const rows: string[] = [];
  let row = '';
  let columns = 0;
  for (const segment of segmentsOf(line, width)) {
    const needed = terminalColumns(segment);
    if (row !== '' && columns + needed > width) {
      rows.push(row);
      row = '';
      columns = 0;
    }
    row += segment;
    columns += needed;
  }
  return [...rows, row];
}

/** Characters as a reader counts them; one that is wider than a row comes in code points. */
function* segmentsOf(line: string, width: number): Generator<string> {
  graphemes ??= new Intl.Segmenter(undefined, {granularity: 'grapheme'});
  for (const {segment} of graphemes.segment(line)) {
    if (terminalColumns(segment) > width) yield* segment;
    else yield segment;
  }
}
