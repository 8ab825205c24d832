// Gives a hunk that was found by less than its exact text the text of the file: its line endings and its indentation.
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import type {ByteString, HunkLine} from './patch.ts';
import {type TextLines, withoutBlanksAround} from './text-lines.ts';

/**
 * The hunk as it has to read at line `at` of the file. Kept and removed lines are those of the file. A new line
 * takes the ending of the line before it, and the indentation that stands in the file for its own. (W22) Undefined
 * where nothing in the hunk says what indentation that is. `others` is what the hunks beside it say.
 */
export function* ownText(
  file: TextLines,
  at: number,
  lines: readonly HunkLine[],
  others: Indentations = new Map(),
): Turns<readonly HunkLine[] | undefined> {
  const carry = yield* indentationOf(file, at, lines, others);
  if (carry === undefined) return undefined;
  const own: HunkLine[] = [];
  let ending = endingOf(file.line(at - 1)) || endingOf(file.line(at)) || '\n';
  let old = at;
  for (const [index, {kind, text}] of lines.entries()) {
    if (index % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (kind !== '+') {
      const line = file.line(old) ?? '';
      old += 1;
      ending = endingOf(line) || ending;
      own.push({kind, text: line});
      continue;
    }
    const bare = text.replace(/\r?\n$/, '');
    const carried = carry(bare);
    if (carried === undefined) return undefined;
    // Only "\ No newline at end of file" leaves it out.
    own.push({kind, text: text.endsWith('\n') ? `${carried}${ending}` : carried});
  }
  return closed(own, ending);
}

/** A last line without a newline gets one where a new line follows it. */
function closed(lines: readonly HunkLine[], ending: ByteString): readonly HunkLine[] {
  const last = lines.findLastIndex(({kind}) => kind !== '-');
  return lines.flatMap((line, index): HunkLine | HunkLine[] => {
    if (line.text.endsWith('\n') || line.kind !== ' ' || index >= last) return line;
    return [
      {kind: '-', text: line.text},
      {kind: '+', text: `${line.text}${ending}`},
    ];
  });
}

/** The line break of a line; empty where it has none. */
export function endingOf(line: ByteString | undefined): ByteString {
  return /\r?\n$/.exec(line ?? '')?.[0] ?? '';
}

/** How a line of the hunk is indented in the file. */
type Carry = (line: ByteString) => ByteString | undefined;
type Translate = (indentation: string) => string | undefined;

/** Indentation in the hunk → in the file. */
export type Indentations = ReadonlyMap<string, string>;

/** What the old lines of a hunk say; undefined where one of the hunk is two in the file, and what tells them apart is lost. */
export function* indentationsOf(
  file: TextLines,
  at: number,
  lines: readonly HunkLine[],
): Turns<Indentations | undefined> {
  const pairs = new Map<string, string>();
  let old = at;
  for (const [index, {kind, text}] of lines.entries()) {
    if (index % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (kind === '+') continue;
    const there = file.line(old) ?? '';
    old += 1;
    if (withoutBlanksAround(text) === '') continue;
    const [here, own] = [indentation(text), indentation(there)];
    if ((pairs.get(here) ?? own) !== own) return undefined;
    pairs.set(here, own);
  }
  return pairs;
}

function* indentationOf(
  file: TextLines,
  at: number,
  lines: readonly HunkLine[],
  others: Indentations,
): Turns<Carry | undefined> {
  const known = yield* indentationsOf(file, at, lines);
  if (known === undefined) return undefined;
  const fits = [...others].every(([here, own]) => (known.get(here) ?? own) === own);
  const pairs = fits ? new Map([...others, ...known]) : known;
  if ([...pairs].every(([here, own]) => here === own)) return line => line;
  const ways = [shifted(pairs), inUnits(pairs)].filter(way => way !== undefined);
  return line => {
    // An empty line has none, whatever stands around it.
    if (line === '') return line;
    const here = indentation(line);
    // Two ways that explain the old lines and not the same new one: nobody knows.
    const [known, other] = new Set(pairs.has(here) ? [pairs.get(here)] : ways.map(way => way(here)));
    return known === undefined || other !== undefined ? undefined : `${known}${line.slice(here.length)}`;
  };
}

function indentation(line: ByteString): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** All lines are further in, or further out, by the same blanks. */
function shifted(pairs: ReadonlyMap<string, string>): Translate | undefined {
  const [first] = pairs;
  if (first === undefined) return undefined;
  const [here, own] = first;
  const added = own.endsWith(here) ? own.slice(0, own.length - here.length) : undefined;
  const removed = here.startsWith(own) ? here.slice(own.length) : undefined;
  const entries = [...pairs];
  if (added !== undefined && entries.every(([one, other]) => other === added + one))
    return indent => added + indent;
  if (removed !== undefined && entries.every(([one, other]) => one === removed + other))
    return indent => (indent.startsWith(removed) ? indent.slice(removed.length) : undefined);
  return undefined;
}

/** So many blanks for a tab, or the reverse, or levels of another width. */
function inUnits(pairs: ReadonlyMap<string, string>): Translate | undefined {
  const entries = [...pairs].filter(([here, own]) => here !== '' || own !== '');
  const [first] = entries;
  if (first === undefined) return undefined;
  for (const [from, to] of unitsOf(first)) {
    const translate: Translate = indent => {
      let at = 0;
      let own = '';
      for (; indent.startsWith(from, at); at += from.length) own += to;
      const rest = indent.slice(at);
      // Blanks behind the tabs align a line; a tab that is left over is of another style.
      const isAligned = to === '\t' && own !== '' && !rest.includes('\t');
      return rest === '' || isAligned ? own + rest : undefined;
    };
    if (entries.every(([here, own]) => translate(here) === own)) return translate;
  }
  return undefined;
}

/** What one level may be in the hunk and in the file: the smaller ones first, as they explain more. */
function unitsOf([here, own]: readonly [string, string]): readonly (readonly [string, string])[] {
  const units: (readonly [string, string])[] = [];
  for (let levels = Math.min(here.length, own.length); levels >= 1; levels -= 1) {
    const from = here.slice(0, here.length / levels);
    const to = own.slice(0, own.length / levels);
    if (from.repeat(levels) === here && to.repeat(levels) === own) units.push([from, to]);
  }
  return units;
}
