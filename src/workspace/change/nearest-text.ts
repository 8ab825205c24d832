// Finds the text that was perhaps meant where an exact match failed, and says what differs.
import type {Json} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import {atOnce, type Turns} from '../open-file.ts';
import {type ByteString, readable} from '../patch/patch.ts';
import {LineIndex, type TextLines, withoutWhitespace} from '../patch/text-lines.ts';
import {findOccurrences} from './find-occurrences.ts';

interface NearMatch {
  /** What to do, in a sentence or two. */
  readonly hint: string;
  /** The place that was most likely meant. */
  readonly nearest?: {
    readonly lines: readonly [number, number];
    /** As it is in the file; long ones are cut. */
    readonly text: string;
    readonly differs: readonly string[];
  };
}

/** Above this no candidate is looked for: nothing else runs and no deadline is asked while one is. */
const MAX_CHARACTERS = 1024 * 1024;
const TEXT = new TextDecoder('utf-8', {ignoreBOM: true});
const NEAR_LINES = 20;
const NEAR_CHARACTERS = 2000;

/** `  12<TAB>code`, `12|code`, `12→code`, then `12 | code` and `12: code`: a blank may belong to either side. */
const LINE_NUMBERS = [/^\s*\d+(?:\t|\s?[|│→]|:)/, /^\s*\d+(?:\s?[|│→]|:)\s/];

/** What a caller who pasted something else than the text may have pasted. */
const REPAIRS: readonly {readonly fault: string; readonly repairs: (wanted: string) => readonly string[]}[] =
  [
    {fault: 'line numbers pasted with the text', repairs: withoutLineNumbers},
    {fault: 'escaped newlines, tabs or quotes (such as \\n) instead of the characters', repairs: unescaped},
    {
      fault: 'real newlines where the file has the characters \\n',
      repairs: wanted => [wanted.replaceAll('\n', '\\n')],
    },
  ];

/**
 * For a text that does not occur: where something like it is, and what differs. It only advises,
 * nothing is ever replaced by it. Linear in the length of the file.
 */
export function nearMatch(content: Uint8Array, wanted: string): NearMatch {
  if (content.length === 0) return {hint: 'The file is empty.'};
  // A character has at most three bytes for each unit, so what is larger need not be decoded to be refused.
  const text = content.length > 3 * MAX_CHARACTERS ? undefined : TEXT.decode(content);
  if (text === undefined || text.length + wanted.length > MAX_CHARACTERS) {
    return {hint: 'The file is too large to look for something like it; read the lines again.'};
  }
  const lines = text.split('\n');
  for (const {fault, repairs} of REPAIRS) {
    const repaired = repairs(wanted).filter(repair => repair !== wanted);
    const found = repaired[0] === undefined ? undefined : findBare(lines, repaired[0]);
    if (repaired[0] === undefined || found === undefined) continue;
    const also = repaired.some(repair => text.includes(repair))
      ? []
      : describeDifference(found.text, repaired[0]).differs;
    const more = also.length === 0 ? '' : `, and differs in ${also.join(', ')}`;
    const what = `old_string has ${fault}${more}. Send ${named(found.lines)} as in the file.`;
    return near(found.lines, found.text, [fault, ...also], `${named(found.lines)}; ${what}`);
  }
  const found = findBare(lines, wanted);
  if (found !== undefined) {
    const {differs, detail} = describeDifference(found.text, wanted, found.lines[0]);
    return near(found.lines, found.text, differs, differing(found.lines, differs, detail));
  }
  const similar = mostSimilarLines(lines, wanted.split('\n'));
  if (similar === undefined) return {hint: 'No line of the file is similar. Read the file again.'};
  const shown = lines.slice(similar[0] - 1, similar[1]).join('\n');
  const {detail} = describeDifference(shown, wanted, similar[0]);
  return near(similar, shown, ['the text'], differing(similar, ['the text'], detail));
}

function near(
  lines: readonly [number, number],
  text: string,
  differs: readonly string[],
  says: string,
): NearMatch {
  const shownLines = text.split('\n').slice(0, Math.min(NEAR_LINES, lines[1] - lines[0] + 1));
  const shown = takeStart(shownLines.join('\n'), NEAR_CHARACTERS);
  return {
    hint: `Nearest: ${says}`,
    nearest: {lines, text: shown, differs},
  };
}

function differing(lines: readonly [number, number], differs: readonly string[], detail: string): string {
  return `${named(lines)} ${lines[0] === lines[1] ? 'differs' : 'differ'} in ${differs.join(', ')}. ${detail}`.trim();
}

function named([first, last]: readonly [number, number]): string {
  return first === last ? `line ${first}` : `lines ${first}-${last}`;
}

/** The place that equals `wanted` (its lines with their ends) but for white space, invisible characters and the form of quotes. */
function findBare(
  lines: readonly string[],
  wanted: string,
): {lines: readonly [number, number]; text: string} | undefined {
  const sought = withoutLookalikes(wanted);
  if (sought === '') return undefined;
  const bareLines = lines.map(withoutLookalikes);
  const [start] = atOnce(findOccurrences(bareLines.join(''), sought, 1)).first;
  if (start === undefined) return undefined;
  let first = 0;
  let at = 0;
  for (; at + (bareLines[first] ?? '').length <= start; first += 1) at += (bareLines[first] ?? '').length;
  let last = first;
  for (; at + (bareLines[last] ?? '').length < start + sought.length; last += 1)
    at += (bareLines[last] ?? '').length;
  const ending = last + 1 < lines.length ? '\n' : '';
  return {lines: [first + 1, last + 1], text: lines.slice(first, last + 1).join('\n') + ending};
}

/** Without the line numbers, where every line has one. */
function withoutLineNumbers(wanted: string): readonly string[] {
  const lines = wanted.split('\n');
  return LINE_NUMBERS.filter(number => lines.every(line => line.trim() === '' || number.test(line))).map(
    number => lines.map(line => line.replace(number, '')).join('\n'),
  );
}

function unescaped(wanted: string): readonly string[] {
  const meaning: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'};
  return [wanted.replace(/\\([nrt"'`\\])/g, (_, character: string) => meaning[character] ?? character)];
}

/** A line that is in the file this often ("}", "return;") tells nothing about the place. */
const COMMON = 20;
const TRIGRAM_SLOTS = 1 << 16;
const ENOUGH = 0.5;
/** Longer lines are compared by their beginning. */
const COMPARED = 1000;

/** The lines (from 1) most like those wanted; undefined where none are. Linear in the file. */
export function mostSimilarLines(
  lines: readonly string[],
  wanted: readonly string[],
): readonly [number, number] | undefined {
  const sought = wanted.map(withoutLookalikes);
  const start = byEqualLines(lines, sought) ?? byLikeness(lines, sought);
  if (start === undefined) return undefined;
  // One of the lines wanted is there, so something of the place is in the file.
  return [Math.max(0, start) + 1, Math.min(lines.length, start + wanted.length)];
}

/** Each equal line votes for where the first line would be. */
function byEqualLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = new Map<string, number[]>(sought.filter(line => line.length > 3).map(line => [line, []]));
  for (const [at, line] of lines.entries()) {
    const found = places.get(withoutLookalikes(line));
    if (found !== undefined && found.length <= COMMON) found.push(at);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of sought.entries()) {
    const found = places.get(line) ?? [];
    if (found.length > COMMON) continue;
    for (const at of found) votes.set(at - index, (votes.get(at - index) ?? 0) + 1);
  }
  return best(votes);
}

function best(votes: ReadonlyMap<number, number>): number | undefined {
  let winner: number | undefined;
  let most = 0;
  for (const [start, count] of votes) {
    if (count > most || (count === most && winner !== undefined && start < winner))
      [winner, most] = [start, count];
  }
  return winner;
}

/** Without an equal line: the line that shares most runs of three characters with the longest one wanted. */
function byLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const longest = sought.reduce(
    (index, line, at) => (line.length > (sought[index] ?? '').length ? at : index),
    0,
  );
  const anchor = (sought[longest] ?? '').slice(0, COMPARED);
  const total = anchor.length - 2;
  if (total < 1) return undefined;
  const slots = new Uint8Array(TRIGRAM_SLOTS);
  for (let at = 0; at < total; at += 1) slots[slot(anchor, at)] = 1;
  let winner: number | undefined;
  let most = ENOUGH;
  for (const [at, raw] of lines.entries()) {
    const line = withoutLookalikes(raw.slice(0, COMPARED));
    let shared = 0;
    for (let index = 0; index < line.length - 2; index += 1) shared += slots[slot(line, index)] ?? 0;
    const likeness = shared / Math.max(total, line.length - 2);
    if (likeness > most) [winner, most] = [at, likeness];
  }
  return winner === undefined ? undefined : winner - longest;
}

function slot(text: string, at: number): number {
  return (
    (text.charCodeAt(at) * 7919 + text.charCodeAt(at + 1) * 263 + text.charCodeAt(at + 2)) % TRIGRAM_SLOTS
  );
}

const SHOWN = 120;

/** Characters that editors, chats and models put in the place of plain ones. */
const STRAIGHT: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/\u2026/g, '...'],
];

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

interface Difference {
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
    return `Line ${firstLine + at} is ${shownApart(there, line)} in the file, ${shownApart(line, there)} in old_string.`;
  }
  return '';
}

/** Quoted, so that blanks and tabs show; of a long line the part where the other one begins to differ. */
function shownApart(line: string, other: string): string {
  let same = 0;
  while (same < line.length && line[same] === other[same]) same += 1;
  const from = line.length <= SHOWN ? 0 : Math.max(0, Math.min(same - 20, line.length - SHOWN));
  const part = line.slice(from, from + SHOWN);
  return `${from > 0 ? '…' : ''}${JSON.stringify(part)}${from + SHOWN < line.length ? '…' : ''}`;
}

function byLine(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

function straightQuotes(text: string): string {
  let straight = text;
  for (const [curly, plain] of STRAIGHT) straight = straight.replace(curly, plain);
  return straight;
}

/** No invisible characters, blanks of all widths as spaces, letters composed. */
function visible(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Zs}]/gu, ' ')
    .normalize('NFC');
}

/** What is left of a text for comparing it loosely: no white space, nothing invisible, plain quotes. */
function withoutLookalikes(text: string): string {
  const dense = text.replace(/\s+/g, '');
  return /^[\x21-\x7e]*$/.test(dense) ? dense : straightQuotes(visible(dense)).replace(/\s+/g, '');
}

/** How a hunk that does not match could be meant. */
interface Mismatch {
  /** A sentence without its subject: `line 3 is …, but the hunk expects …`. */
  readonly text: string;
  readonly detail: {readonly [name: string]: Json};
}

const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 160;
/** A line that occurs more often than this tells nothing about the place. */
const VOTES_PER_LINE = 64;
/** So many lines of a long hunk say where it was meant to be. */
const EXPLAINED_LINES = 10_000;

/** Compares failed hunks of one file with the places they come nearest to. */
export class MismatchExplainer {
  readonly #file: TextLines;
  #index: LineIndex | undefined;

  constructor(file: TextLines) {
    this.#file = file;
  }

  /** `stated` is the 0-based line where the block should have been. */
  *explain(
    {
      lines: wholeBlock,
      result: wholeResult,
    }: {readonly lines: readonly ByteString[]; readonly result: readonly ByteString[]},
    stated: number,
  ): Turns<Mismatch> {
    const block = wholeBlock.slice(0, EXPLAINED_LINES);
    const result = wholeResult.slice(0, EXPLAINED_LINES);
    if (this.#file.count === 0) return {text: 'the file is empty', detail: {hint: 'empty_file'}};
    const nearest = yield* this.#nearest(block, stated);
    const hint = this.#hint(block, result, nearest ?? stated);
    if (nearest === undefined) {
      const text = `none of its context or "-" lines occurs in the file, which has ${this.#file.count} lines`;
      return {
        text: withHint(text, hint),
        detail: {hint: hint ?? null, expected: shown(block.slice(0, SHOWN_LINES))},
      };
    }
    let first = block.findIndex((line, offset) => this.#file.line(nearest + offset) !== line);
    if (first === -1) first = 0;
    const from = Math.max(0, first - 2);
    const found = Array.from(
      {length: SHOWN_LINES},
      (_, at) => this.#file.line(nearest + from + at) ?? [],
    ).flat();
    const actual = this.#file.line(nearest + first);
    const text =
      actual === undefined
        ? `the file ends at line ${this.#file.count}, but the hunk expects ${quote(block[first])} in line ${nearest + first + 1}`
        : `line ${nearest + first + 1} is ${quote(actual)}, but the hunk expects ${quote(block[first])}`;
    return {
      text: withHint(text, hint),
      detail: {
        hint: hint ?? null,
        nearest_line: nearest + 1,
        expected: shown(block.slice(from, from + SHOWN_LINES)),
        found: shown(found),
      },
    };
  }

  /** Each line of the block votes for the places it would put the block at. */
  *#nearest(block: readonly ByteString[], stated: number): Turns<number | undefined> {
    this.#index ??= yield* LineIndex.of(this.#file, 'withoutWhitespace');
    const votes = new Map<number, number>();
    for (const [offset, line] of block.entries()) {
      if (line.trim() === '') continue;
      if (this.#index.count(line) > VOTES_PER_LINE) continue;
      for (const position of this.#index.positions(line)) {
        const start = position - offset;
        if (start >= 0) votes.set(start, (votes.get(start) ?? 0) + 1);
      }
    }
    let best: number | undefined;
    let most = 0;
    for (const [start, count] of votes) {
      const nearer = best === undefined || Math.abs(start - stated) < Math.abs(best - stated);
      if (count > most || (count === most && nearer)) {
        best = start;
        most = count;
      }
    }
    return best ?? (stated < this.#file.count ? stated : undefined);
  }

  #hint(block: readonly ByteString[], result: readonly ByteString[], at: number): string | undefined {
    const fits = (lines: readonly ByteString[], key: (line: ByteString) => ByteString): boolean =>
      lines.length > 0 &&
      lines.every((line, offset) => key(this.#file.line(at + offset) ?? '\0') === key(line));
    if (fits(block, line => line.replace(/\n$/, ''))) return 'final_newline';
    if (fits(block, line => line.replace(/\r?\n$/, ''))) return 'line_endings';
    if (fits(block, withoutWhitespace)) return 'white_space';
    if (fits(result, line => line)) return 'already_applied';
    const numbered = block.filter(line => /^\s*\d+\s*[|:\t]/.test(line)).length;
    return numbered * 2 > block.length ? 'line_numbers' : undefined;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  final_newline:
    'they differ in the newline at the end of the file: "\\ No newline at end of file" says there is none',
  line_endings: 'they differ in line endings (CRLF and LF are mixed)',
  white_space: 'they differ in white space',
  already_applied: 'the change seems to be there already',
  line_numbers: 'the hunk seems to contain line numbers; leave them out',
};

function withHint(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text}; ${HINTS[hint] ?? ''}`;
}

function quote(line: ByteString | undefined): string {
  return JSON.stringify(shown([line ?? ''])[0]);
}

function shown(lines: readonly ByteString[]): string[] {
  return lines.map(line => {
    // Cut in bytes first, so that a line of megabytes costs nothing.
    const text = readable(line.slice(0, 4 * SHOWN_CHARACTERS)).replace(/\n$/, '');
    return text.length > SHOWN_CHARACTERS ? `${takeStart(text, SHOWN_CHARACTERS)}…` : text;
  });
}
