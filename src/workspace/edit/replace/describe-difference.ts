import {straightQuotes, visible} from './spelling.ts';

const SHOWN = 120;

/** Ways in which two texts that read the same can differ, the commonest first. Each is linear. */
const KINDS: readonly {readonly name: string; readonly same: (text: string) => string}[] = [
  {name: 'line endings', same: text => text.replace(/\r\n?/g, '\n')},
  {name: 'white space at line ends', same: text => byLine(text, line => line.trimEnd())},
  {name: 'white space at the end', same: text => text.trimEnd()},
  {name: 'tabs against spaces', same: text => text.replace(/[\t ]+/g, ' ')},
  {name: 'indentation', same: text => byLine(text, line => line.trimStart())},
  {name: 'curly quotes or dashes', same: straightQuotes},
  {name: 'invisible or composed characters', same: visible},
];

export interface Difference {
  readonly differs: readonly string[];
  /** The first line that is not the same, as both have it; `firstLine` is its number in the file. */
  readonly detail: string;
}

/** How the lines `found` in a file differ from what was `wanted`. */
export function describeDifference(found: string, wanted: string, firstLine = 1): Difference {
  const alone = KINDS.find(({same}) => same(found).includes(same(wanted)));
  return {
    differs: alone === undefined ? together(found, wanted) : [precise(alone.name, found, wanted)],
    detail: firstDifference(found.split('\n'), wanted.split('\n'), firstLine),
  };
}

/** No single kind explains it: those that are in play. */
function together(found: string, wanted: string): string[] {
  const names: string[] = [];
  // The line end behind the last line is not among what was wanted.
  let [left, right] = wanted.endsWith('\n') ? [found, wanted] : [found.replace(/\r?\n$/, ''), wanted];
  const sameLines = left.split('\n').length === right.split('\n').length;
  for (const {name, same} of KINDS) {
    const [nextLeft, nextRight] = [same(left), same(right)];
    if ((nextLeft === left) !== (nextRight === right)) names.push(name);
    [left, right] = [nextLeft, nextRight];
    if (left.includes(right)) return names.length > 0 ? names : ['white space'];
  }
  return [...names, sameLines ? 'white space within a line' : 'white space or line breaks'];
}

function precise(name: string, found: string, wanted: string): string {
  if (name === 'line endings') {
    return found.includes('\r') ? 'line endings (the file has CRLF)' : 'line endings (the file has LF)';
  }
  // That kind makes any amount of blanks equal.
  return name === 'tabs against spaces' && found.includes('\t') === wanted.includes('\t')
    ? 'the number of spaces'
    : name;
}

function firstDifference(found: readonly string[], wanted: readonly string[], firstLine: number): string {
  const last = wanted.length - 1;
  for (const [at, line] of wanted.entries()) {
    const there = found[at];
    if (there === undefined) return `Line ${firstLine + at} of it is not there.`;
    // The first and the last line may have been given in part.
    const partial =
      (at === 0 && there.endsWith(line)) ||
      (at === last && there.startsWith(line)) ||
      (last === 0 && there.includes(line));
    if (there === line || partial) continue;
    return `Line ${firstLine + at} is ${shown(there, line)} in the file, ${shown(line, there)} in old_string.`;
  }
  return '';
}

/** Quoted, so that blanks and tabs show; of a long line the part where the other one begins to differ. */
function shown(line: string, other: string): string {
  let same = 0;
  while (same < line.length && line[same] === other[same]) same += 1;
  const from = line.length <= SHOWN ? 0 : Math.max(0, Math.min(same - 20, line.length - SHOWN));
  const part = line.slice(from, from + SHOWN);
  return `${from > 0 ? '…' : ''}${JSON.stringify(part)}${from + SHOWN < line.length ? '…' : ''}`;
}

function byLine(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}
