// Finds the text that was perhaps meant where an exact match failed, and says what differs.
import type {Json} from '../../core/result.ts';
import {atOnce, type Turns} from '../open-file.ts';
import {type ByteString, readable} from '../patch/patch.ts';
import {LineIndex, type TextLines, withoutWhitespace} from '../patch/text-lines.ts';
import {findOccurrences} from './find-occurrences.ts';

interface NearMatch {
  /** What to do, in a sentence or two. */
  readonly hint: string;
  /** The place that was most likely meant. */
  readonly nearest?: {readonly lines: readonly [number, number]; readonly differs: readonly string[]};
}

/** Above this no candidate is looked for: nothing else runs and no deadline is asked while one is. */
const MAX_CHARACTERS = 1024 * 1024;
const TEXT = new TextDecoder('utf-8', {ignoreBOM: true});

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
    return {
      hint: `Nearest: ${named(found.lines)}; ${what}`,
      nearest: {lines: found.lines, differs: [fault, ...also]},
    };
  }
  const found = findBare(lines, wanted);
  if (found !== undefined) {
    return near(found.lines, describeDifference(found.text, wanted, found.lines[0]));
  }
  const similar = mostSimilarLines(lines, wanted.split('\n'));
  if (similar === undefined) return {hint: 'No line of the file is similar. Read the file again.'};
  const shown = lines.slice(similar[0] - 1, similar[1]).join('\n');
  return near(similar, describeText(shown, wanted, similar[0]));
}

function near(lines: readonly [number, number], {differs, detail}: Difference): NearMatch {
  const verb = lines[0] === lines[1] ? 'differs' : 'differ';
  const hint = `Nearest: ${named(lines)} ${verb} in ${differs.join(', ')}. ${detail}`.trim();
  return {hint, nearest: {lines, differs}};
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

/** Characters of a line that are shown. */
const SHOWN = 72;

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

/** How the lines `found` in a file differ from what was `wanted`, if that is white space or how characters look. */
export function describeDifference(
  found: string,
  wanted: string,
  firstLine = 1,
  source: Source = 'old_string',
): Difference {
  const alone = KINDS.find(({same}) => same(found).includes(same(wanted)));
  return {
    differs: alone === undefined ? together(found, wanted) : [precise(alone.name, found, wanted)],
    detail: firstDifference(found.split('\n'), wanted.split('\n'), firstLine, source).text,
  };
}

/** How they differ if it is more than that. */
function describeText(
  found: string,
  wanted: string,
  firstLine: number,
  source: Source = 'old_string',
): Difference {
  const {text, more} = firstDifference(found.split('\n'), wanted.split('\n'), firstLine, source);
  const below =
    more === 0
      ? ''
      : ` ${more} ${more === 1 ? 'line' : 'lines'} below ${more === 1 ? 'differs' : 'differ'} too.`;
  return {differs: ['the text'], detail: `${text}${below}`};
}

/** Where the text came from. Of `old_string`, the first and the last line may have been given in part. */
type Source = 'old_string' | 'the hunk';

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

function firstDifference(
  found: readonly string[],
  wanted: readonly string[],
  firstLine: number,
  source: Source,
): {readonly text: string; readonly more: number} {
  const last = wanted.length - 1;
  const isSame = (line: string, at: number): boolean => {
    const there = found[at];
    if (there === undefined || there === line || source === 'the hunk') return there === line;
    return (
      (at === 0 && there.endsWith(line)) ||
      (at === last && there.startsWith(line)) ||
      (last === 0 && there.includes(line))
    );
  };
  const differing = wanted.flatMap((line, at) => (isSame(line, at) ? [] : [at]));
  const [at] = differing;
  if (at === undefined) return {text: '', more: 0};
  const [there, line = ''] = [found[at], wanted[at]];
  const text =
    there === undefined
      ? `The file ends before ${shownApart(line, '')} of ${source}.`
      : `Line ${firstLine + at} is ${shownApart(there, line)} in the file, ${shownApart(line, there)} in ${source}.`;
  return {text, more: differing.length - 1};
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

/** Why a hunk does not match. Hunks whose `why` is the same failed alike. */
export interface Mismatch {
  readonly why: string;
  /** Of this hunk alone: what it expects, or where the nearest place is. */
  readonly own?: string;
  /** A sentence that shows `why`; one is enough for all that failed alike. */
  readonly example?: string;
  readonly detail?: {readonly [name: string]: Json};
}

/** A line that occurs more often than this tells nothing about the place. */
const VOTES_PER_LINE = 64;
/** Nor does one with so few characters, where the hunk has longer ones. */
const SHORT = 3;
/** So many lines of a long hunk say where it was meant to be. */
const EXPLAINED_LINES = 10_000;

/** Compares failed hunks of one file with the places they come nearest to. */
export class MismatchExplainer {
  readonly #file: TextLines;
  #index: LineIndex | undefined;
  #lines: readonly string[] | undefined;

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
    if (this.#file.count === 0) return {why: 'the file is empty'};
    const block = wholeBlock.slice(0, EXPLAINED_LINES);
    const result = wholeResult.slice(0, EXPLAINED_LINES);
    const nearest = yield* this.#nearest(block, stated);
    const hint = this.#hint(block, result, nearest ?? stated);
    if (nearest === undefined) {
      const expected = block.find(isTelling) ?? block[0] ?? '';
      // Cut in bytes first, so that a line of megabytes costs nothing.
      const shown = shownApart(readable(expected.slice(0, 4 * SHOWN)).replace(/\r?\n$/, ''), '');
      return {why: `the old lines are not in the file${hint}`, own: `expects ${shown}`};
    }
    const end = Math.min(this.#file.count, nearest + block.length);
    const place = {
      own: `nearest: ${named([nearest + 1, end])}`,
      detail: {nearest_line: nearest + 1},
    };
    const found = this.#file.slice(nearest, end).replace(/\n$/, '');
    const wanted = block.join('').replace(/\n$/, '');
    if (found === wanted) return {why: FINAL_NEWLINE, ...place};
    const isShort = found.length + wanted.length <= MAX_CHARACTERS;
    const [foundText, wantedText] = [readable(found), readable(wanted)];
    const isAlike = isShort && withoutLookalikes(foundText) === withoutLookalikes(wantedText);
    const describe = isAlike ? describeDifference : describeText;
    const {differs, detail} = describe(foundText, wantedText, nearest + 1, 'the hunk');
    const why = `the old lines differ in ${differs.join(', ')}${hint}`;
    return isAlike ? {why, example: detail, ...place} : {why: `${why}. ${detail}`, ...place};
  }

  /** Each line of the block votes for the places it would put the block at; else a line that is like one of them. */
  *#nearest(block: readonly ByteString[], stated: number): Turns<number | undefined> {
    this.#index ??= yield* LineIndex.of(this.#file, 'withoutWhitespace');
    const votes = new Map<number, number>();
    const isVoter = block.some(isTelling) ? isTelling : (line: ByteString) => line.trim() !== '';
    for (const [offset, line] of block.entries()) {
      if (!isVoter(line) || this.#index.count(line) > VOTES_PER_LINE) continue;
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
    return best ?? this.#likest(block);
  }

  #likest(block: readonly ByteString[]): number | undefined {
    const {content} = this.#file;
    if (content.length > MAX_CHARACTERS) return undefined;
    this.#lines ??= readable(content).split('\n');
    const start = byLikeness(
      this.#lines,
      block.map(line => withoutLookalikes(readable(line.slice(0, 4 * COMPARED)))),
    );
    return start === undefined ? undefined : Math.max(0, start);
  }

  #hint(block: readonly ByteString[], result: readonly ByteString[], at: number): string {
    const isThere =
      result.length > 0 && result.every((line, offset) => this.#file.line(at + offset) === line);
    if (isThere) return '; the change seems to be there already';
    const numbered = block.filter(line => /^\s*\d+\s*[|:\t]/.test(line)).length;
    return numbered * 2 > block.length ? '; the hunk seems to contain line numbers, leave them out' : '';
  }
}

const FINAL_NEWLINE =
  'the old lines differ in the newline at the end of the file: "\\ No newline at end of file" says there is none';

function isTelling(line: ByteString): boolean {
  return withoutWhitespace(line).length > SHORT;
}
