import {terminalColumns} from './terminal-columns.ts';

/**
 * Breaks lines at blanks, so that a terminal does not break them within words; what goes on is moved in by `hang`.
 * A word that is wider than the line is left whole, such as an address that somebody copies.
 */
export function wrapText(text: string, width: number, hang = ''): string {
  return text
    .split('\n')
    .map(line => wrapLine(line, width, hang))
    .join('\n');
}

function wrapLine(line: string, width: number, hang: string): string {
  if (terminalColumns(line) <= width) return line;
  const [start = ''] = /^\s*/.exec(line) ?? [];
  const rows: string[] = [];
  let row = start;
  let isEmpty = true;
  for (const word of line.slice(start.length).split(/(?<=\S)\s+(?=\S)/)) {
    if (!isEmpty && terminalColumns(`${row} ${word}`) > width) {
      rows.push(row);
      row = `${hang}${word}`;
      continue;
    }
    row += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...rows, row].join('\n');
}
