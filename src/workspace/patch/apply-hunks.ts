// Applies the hunks of one file, and finds those that moved.
import {type Mismatch, MismatchExplainer} from '../change/nearest-text.ts';
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import {endingOf, indentationsOf, ownText} from './own-text.ts';
import {type ByteString, type Hunk, type HunkLine, TextBuilder} from './patch.ts';
import {
  type Candidate,
  HunkFinder,
  joined,
  keepOrder,
  MAX_PLACES,
  named,
  type Places,
  textsOf,
} from './place-hunks.ts';
import type {LineForm, TextLines} from './text-lines.ts';

/** A hunk whose place is known. */
export interface LocatedHunk {
  /** Index of the line of the old file where it begins. */
  readonly at: number;
  /** `at` minus where the hunk said it was. */
  readonly offset: number;
  /** With the line endings of the file. */
  readonly lines: readonly HunkLine[];
}

interface PlacedHunk extends LocatedHunk {
  /** 1-based number of the hunk in its section. */
  readonly number: number;
}

export interface HunkProblem extends Mismatch {
  /** 1-based number of the hunk in its section. */
  readonly hunk: number;
  /** Line of the patch text. */
  readonly line: number;
}

/** What the caller is told of a hunk that was applied. */
interface HunkNote {
  readonly hunk: number;
  readonly text: string;
}

interface HunkResult {
  readonly content: ByteString;
  /** From top to bottom. */
  readonly located: readonly PlacedHunk[];
  readonly problems: readonly HunkProblem[];
  readonly notes: readonly HunkNote[];
}

/** Explaining is for people: nobody reads the hundredth. */
const MAX_EXPLAINED = 20;
/** So many places are named. */
const NAMED_PLACES = 6;

/** A hunk on the way to its place. */
interface Draft extends Candidate {
  readonly number: number;
  readonly hunk: Hunk;
  readonly block: readonly ByteString[];
  /** Index of the line where it says it belongs. */
  readonly stated: number;
  lines: readonly HunkLine[];
  /** It stands where it says. */
  isExact: boolean;
  places?: Places;
}

/**
 * Applies the hunks of one section. A hunk goes where its header says if its old lines are there; elsewhere, or
 * without line numbers, where they occur once. Of several places the order of the hunks and an exact line number
 * leave one, or it is refused. (W22) `content` of the result counts only where there are no problems.
 */
export function* applyHunks(
  file: TextLines,
  hunks: readonly Hunk[],
  numbers: LineNumbers = 'unread',
): Turns<HunkResult> {
  return yield* new HunkApplier(file, numbers).apply(hunks);
}

class HunkApplier {
  readonly #file: TextLines;
  readonly #numbers: LineNumbers;
  readonly #finder: HunkFinder;
  readonly #explainer: MismatchExplainer;
  readonly #problems: HunkProblem[] = [];
  readonly #notes: HunkNote[] = [];
  /** What hunks that were found without their indentation say of it. */
  readonly #indentations = new Map<string, string>();

  constructor(file: TextLines, numbers: LineNumbers) {
    this.#file = file;
    this.#numbers = numbers;
    this.#finder = new HunkFinder(file);
    this.#explainer = new MismatchExplainer(file);
  }

  *apply(hunks: readonly Hunk[]): Turns<HunkResult> {
    const drafts = yield* this.#drafts(hunks);
    const wasAt = drafts.map(({at}) => at[0] ?? 0);
    let misplaced = keepOrder(drafts);
    const shifts = new Set(drafts.flatMap(draft => shiftOf(draft) ?? []));
    const doubtful = drafts.filter(draft => this.#isDoubtful(draft, shifts));
    if (doubtful.length > 0) {
      for (const draft of doubtful) yield* this.#search(draft);
      misplaced = keepOrder(drafts);
    }
    for (const draft of drafts) this.#preferOwnLine(draft, shifts);
    yield* this.#learnIndentation(drafts);
    const placed: PlacedHunk[] = [];
    let trusted = this.#numbers !== 'changed';
    for (const [index, draft] of drafts.entries()) {
      if (index % LINES_A_TURN === LINES_A_TURN - 1) yield;
      if (misplaced.has(draft)) {
        this.#refuse(draft, OUT_OF_ORDER, `belongs at line ${(wasAt[index] ?? 0) + 1}`);
        continue;
      }
      const located = yield* this.#locate(draft, trusted, shifts);
      if (located === undefined) continue;
      if (located.offset !== 0) trusted = false;
      placed.push(located);
    }
    placed.sort((one, other) => one.at - other.at || one.number - other.number);
    let end = 0;
    for (const {at, number, lines} of placed) {
      const draft = drafts[number - 1];
      if (at < end && draft !== undefined) this.#refuse(draft, OUT_OF_ORDER, `belongs at line ${at + 1}`);
      end = at + lines.filter(({kind}) => kind !== '+').length;
    }
    this.#problems.sort((one, other) => one.hunk - other.hunk);
    const content = yield* this.#content(placed);
    return {content, located: placed, problems: this.#problems, notes: this.#notes};
  }

  *#drafts(hunks: readonly Hunk[]): Turns<readonly Draft[]> {
    const isCarried = yield* needsCarriageReturns(this.#file, hunks);
    const drafts: Draft[] = [];
    let seen = 0;
    for (const [index, hunk] of hunks.entries()) {
      // A short hunk may be one of very many.
      seen += 1 + hunk.lines.length;
      if (seen >= LINES_A_TURN) {
        seen = 0;
        yield;
      }
      const {hasNoLineNumber = false} = hunk;
      const lines = isCarried && !hasNoLineNumber ? yield* withCarriageReturns(hunk.lines) : hunk.lines;
      const block = yield* textsOf(lines, '+');
      const stated = statedIndex(hunk, block.length);
      const draft: Draft = {
        number: index + 1,
        hunk,
        block,
        stated,
        lines,
        length: block.length,
        at: [],
        isExact: false,
      };
      drafts.push(draft);
      if (block.length === 0) {
        if (!hasNoLineNumber && stated <= this.#file.count) draft.at = [stated];
        continue;
      }
      const isTold = !hasNoLineNumber && this.#numbers !== 'changed';
      draft.isExact = isTold && this.#file.matches(yield* joined(block), block.length, stated);
      if (draft.isExact) draft.at = [stated];
      else yield* this.#search(draft);
    }
    return drafts;
  }

  *#search(draft: Draft): Turns<undefined> {
    const {hunk, block} = draft;
    draft.isExact = false;
    draft.places = hunk.hasNoLineNumber
      ? yield* this.#finder.below(hunk, block)
      : yield* this.#finder.anywhere(block);
    const {at = [], form} = draft.places;
    // W22: less than the exact text tells the place only where one fits.
    const isUsable = at.length === 1 || form === 'exact' || form === 'lineEnd';
    draft.at = isUsable && at.length < MAX_PLACES ? at : [];
  }

  /** Its line fits, but so does the one that is as far off as another hunk of the section. */
  #isDoubtful({isExact, block, stated}: Draft, shifts: ReadonlySet<number>): boolean {
    if (!isExact) return false;
    return [...shifts].some(shift => this.#file.matches(block.join(''), block.length, stated + shift));
  }

  /** W22: of several places the one where it says, if no other hunk speaks against it. */
  #preferOwnLine(draft: Draft, shifts: ReadonlySet<number>): void {
    const {at, hunk, stated} = draft;
    if (at.length < 2 || hunk.oldStart === undefined || this.#numbers === 'changed') return;
    if (at.includes(stated) && ![...shifts].some(shift => at.includes(stated + shift))) draft.at = [stated];
  }

  *#learnIndentation(drafts: readonly Draft[]): Turns<undefined> {
    for (const {at, places, lines} of drafts) {
      const [place] = at;
      if (place === undefined || at.length > 1 || places?.form !== 'indentation') continue;
      const told = (yield* indentationsOf(this.#file, place, lines)) ?? new Map<string, string>();
      for (const [here, own] of told) this.#indentations.set(here, own);
    }
  }

  *#locate(draft: Draft, trusted: boolean, shifts: ReadonlySet<number>): Turns<PlacedHunk | undefined> {
    const {hunk, number, stated, block, places, at} = draft;
    const {hasNoLineNumber = false} = hunk;
    if (block.length === 0) return this.#addition(draft, trusted);
    const [place] = at;
    if (place === undefined || at.length > 1) {
      yield* this.#explain(draft, shifts);
      return undefined;
    }
    const lines = hasNoLineNumber
      ? yield* ownText(this.#file, place, draft.lines, this.#indentations)
      : draft.lines;
    if (lines === undefined) {
      this.#refuse(
        draft,
        'the old lines have another indentation there, and what the new lines need cannot be told from it; indent them as the file does',
        `nearest: line ${place + 1}`,
        {nearest_line: place + 1},
      );
      return undefined;
    }
    const end = place + block.length;
    if (end < this.#file.count && lastNew(lines)?.endsWith('\n') === false) {
      this.#refuse(
        draft,
        'the last line should end the file without a newline, but the file goes on behind it',
        `ends at line ${end}`,
      );
      return undefined;
    }
    const notes = [
      ...(places !== undefined && places.missing.length > 0
        ? [`${named(places.missing)} behind @@ is not in the file`]
        : []),
      ...(FOUND_BY[places?.form ?? 'exact'] ?? []),
    ];
    for (const text of notes) this.#notes.push({hunk: number, text});
    return {at: place, offset: hasNoLineNumber ? 0 : place - stated, number, lines};
  }

  /** A hunk without old lines. */
  #addition(draft: Draft, trusted: boolean): PlacedHunk | undefined {
    const {hunk, number, stated, lines} = draft;
    const {count, endsWithNewline} = this.#file;
    if (hunk.hasNoLineNumber && hunk.atEnd) return {...this.#append(lines), offset: 0, number};
    // W15: without a line of context only the end of the file can be verified; elsewhere the read lock vouches
    // for the line numbers, as long as the patch itself has not shown them to be wrong.
    const isVouched = trusted && stated <= count && this.#numbers === 'as_read';
    const isAtEnd = stated === count && this.#numbers !== 'changed';
    if (hunk.hasNoLineNumber || hunk.oldStart === undefined || !(isAtEnd || isVouched)) {
      this.#refuse(
        draft,
        hunk.hasNoLineNumber
          ? 'only added lines, with neither context nor line numbers; add the lines around them'
          : 'only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them',
      );
      return undefined;
    }
    if (stated === count && count > 0 && !endsWithNewline) {
      this.#refuse(
        draft,
        'the last line of the file has no newline, so nothing can be added behind it without that line',
      );
      return undefined;
    }
    return {at: stated, offset: 0, number, lines};
  }

  /** Behind the last line, with its line ending. */
  #append(added: readonly HunkLine[]): {readonly at: number; readonly lines: readonly HunkLine[]} {
    const {count, endsWithNewline} = this.#file;
    const last = this.#file.line(count - 1) ?? '';
    const ending = endingOf(last) || endingOf(this.#file.line(0)) || '\n';
    const lines = added.map(({kind, text}) => ({kind, text: text.replace(/\r?\n$/, ending)}));
    if (count === 0 || endsWithNewline) return {at: count, lines};
    return {
      at: count - 1,
      lines: [{kind: '-', text: last}, {kind: '+', text: `${last}${ending}`}, ...lines],
    };
  }

  *#explain(draft: Draft, shifts: ReadonlySet<number>): Turns<undefined> {
    const {hunk, block, places, stated, lines} = draft;
    const {hasNoLineNumber = false} = hunk;
    const at = draft.at.length > 0 ? draft.at : (places?.at ?? undefined);
    const missing =
      places !== undefined && places.missing.length > 0
        ? `; ${named(places.missing)} behind @@ is not in the file either`
        : '';
    if (at === undefined) {
      const why = hasNoLineNumber ? 'no line numbers' : 'not at the line that is stated';
      return this.#refuse(draft, `${why}, and there is too much to search; give the right line numbers`);
    }
    if (at.length > 0) {
      const where = at.slice(0, NAMED_PLACES).map(place => place + 1);
      const [shift] = shifts;
      const isOff = shift !== undefined && at.includes(stated) ? `; another hunk is off by ${shift}` : '';
      const advice = hasNoLineNumber
        ? 'add context until they occur once'
        : this.#numbers === 'changed'
          ? 'the file changed since it was read, so its line numbers do not count: read it again or add context'
          : 'add context or correct the line number';
      return this.#refuse(
        draft,
        `the old lines occur more than once${missing}${isOff}; ${advice}`,
        `at lines ${where.join(', ')}`,
        {places: where},
      );
    }
    if (places?.isElsewhere) {
      const below = `not below ${named(hunk.anchors ?? [])}`;
      return this.#refuse(
        draft,
        `the old lines are in the file, but ${below}; correct that line or the old lines`,
      );
    }
    const {why, own, example, detail} =
      this.#problems.length < MAX_EXPLAINED
        ? yield* this.#explainer.explain({lines: block, result: yield* textsOf(lines, '-')}, stated)
        : {why: 'the old lines are not in the file'};
    return this.#refuse(draft, `${why}${missing}`, own, detail, example);
  }

  #refuse({number, hunk: {line}}: Draft, why: string, own = '', detail = {}, example = ''): undefined {
    this.#problems.push({hunk: number, line, why, own, detail, example});
  }

  /** The text with all hunks in it. They do not overlap, or there is a problem. */
  *#content(placed: readonly PlacedHunk[]): Turns<ByteString> {
    const content = new TextBuilder();
    let copied = 0;
    for (const {at, lines} of placed) {
      content.push(this.#file.slice(copied, at));
      copied = at;
      for (const [index, line] of lines.entries()) {
        if (index % LINES_A_TURN === LINES_A_TURN - 1) yield;
        if (line.kind !== '-') content.push(line.text);
        if (line.kind !== '+') copied += 1;
      }
    }
    content.push(this.#file.slice(copied, this.#file.count));
    return content.finish();
  }
}

/** How far it was found from where it says; undefined where it has no line number or is where it says. */
function shiftOf({hunk, at, stated, isExact}: Draft): number | undefined {
  const [place] = at;
  if (isExact || hunk.hasNoLineNumber || place === undefined || at.length > 1) return undefined;
  return place === stated ? undefined : place - stated;
}

const OUT_OF_ORDER = 'that is before the end of an earlier hunk; hunks go from top to bottom';

/** What the answer says of a hunk that was not found by its exact text. */
const FOUND_BY: {readonly [form in LineForm]?: readonly string[]} = {
  blanksAtEnd: ['blanks at line ends differed; the lines of the file were kept'],
  indentation: ["the indentation differed; the file's own was carried over"],
  typography: ['quotes or dashes differed; the lines of the file were kept'],
};

function statedIndex(hunk: Hunk, oldLines: number): number {
  const start = hunk.oldStart ?? 0;
  return oldLines === 0 ? start : Math.max(0, start - 1);
}

function lastNew(lines: readonly HunkLine[]): ByteString | undefined {
  return lines.findLast(line => line.kind !== '-')?.text;
}

/**
 * A patch with LF on every line, for a file with CRLF on every line: models write no CR. Such a patch
 * could match nothing as it stands, so it is read as if it had the endings of the file. Anything mixed
 * is left alone.
 */
function* needsCarriageReturns(file: TextLines, hunks: readonly Hunk[]): Turns<boolean> {
  let seen = 0;
  for (const {lines} of hunks) {
    for (const {text} of lines) {
      seen += 1;
      if (seen % LINES_A_TURN === 0) yield;
      if (text.endsWith('\r\n')) return false;
    }
  }
  return yield* file.isCrlf();
}

function* withCarriageReturns(lines: readonly HunkLine[]): Turns<readonly HunkLine[]> {
  const carried: HunkLine[] = [];
  for (const [at, {kind, text}] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    carried.push({kind, text: text.endsWith('\n') ? `${text.slice(0, -1)}\r\n` : text});
  }
  return carried;
}

/** The same content under one or several names, from its first to its last section. */
export interface FileHistory {
  /** Undefined where a section creates it. */
  readonly initial: ByteString | undefined;
  /** Undefined where a section deletes it. */
  readonly final: ByteString | undefined;
  /** The hunks of each section that had some, with the number of lines before and after. */
  readonly versions: readonly FileVersion[];
}

export interface FileVersion {
  readonly kind: 'create' | 'delete' | 'modify';
  readonly hunks: readonly LocatedHunk[];
  /** Number of the section in the patch, to keep their order across threads. */
  readonly order: number;
}

/**
 * What the line numbers of a patch say of a file (W15). `as_read`: it is what the session was shown, so they hold.
 * `changed`: it is something else by now, so they say nothing. `unread`: nobody knows; the old lines have to agree.
 */
export type LineNumbers = 'as_read' | 'changed' | 'unread';
