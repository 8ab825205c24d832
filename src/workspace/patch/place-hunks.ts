// Finds the place of each hunk of a section: by its line number, by its text, and by the hunks around it.
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import {type ByteString, type Hunk, type HunkLine, readable, TextBuilder} from './patch.ts';
import {
  type LineForm,
  LineIndex,
  type SearchAllowance,
  type TextLines,
  withoutBlanksAround,
} from './text-lines.ts';

/** Where the old lines of a hunk may be. */
export interface Places {
  /** Index of the line where each begins, in order; undefined where there is too much to search. */
  readonly at: readonly number[] | undefined;
  /** How exactly the lines are there. */
  readonly form: LineForm;
  /** Lines above it that it names, and that are not in the file. */
  readonly missing: readonly ByteString[];
  /** They are in the file, but not below the lines that it names. */
  readonly isElsewhere: boolean;
}

const MAX_COMPARISONS = 10_000_000;
/** Above it the hunks around one tell nothing. */
export const MAX_PLACES = 256;
/** W22: in this order, each only where the one before finds nothing. */
const FORMS: readonly LineForm[] = ['lineEnd', 'blanksAtEnd', 'indentation', 'typography'];

/** Lines `from` to `to`, the end excluded. `anchor` is the line that was named; nothing above it belongs to the block. */
interface Stretch {
  readonly anchor: number;
  readonly to: number;
}

/** Looks for the old lines of hunks in one file. The indexes are built when they are first needed. */
export class HunkFinder {
  readonly #file: TextLines;
  readonly #allowance: SearchAllowance = {comparisons: MAX_COMPARISONS};
  readonly #indexes = new Map<LineForm, LineIndex>();

  constructor(file: TextLines) {
    this.#file = file;
  }

  /** Every place of a hunk with line numbers: to the byte. */
  *anywhere(block: readonly ByteString[]): Turns<Places> {
    return {at: yield* this.#find(block, 'exact'), form: 'exact', missing: [], isElsewhere: false};
  }

  /** The places of a hunk without line numbers: below the lines that it names, and as exact as there are some. (W22) */
  *below({anchors = [], atEnd}: Hunk, block: readonly ByteString[]): Turns<Places> {
    const {stretches, missing} = yield* this.#stretches(anchors);
    let isElsewhere = false;
    for (const form of FORMS) {
      const all = yield* this.#find(block, form);
      if (all === undefined) return {at: undefined, form, missing, isElsewhere: false};
      const last = this.#file.count - block.length;
      if (atEnd === true && all.includes(last)) return {at: [last], form, missing, isElsewhere: false};
      const found = new Set(stretches.flatMap(stretch => this.#within(all, block.length, stretch)));
      if (found.size > 0) return {at: [...found].sort((a, b) => a - b), form, missing, isElsewhere: false};
      isElsewhere ||= all.length > 0;
    }
    return {at: [], form: 'lineEnd', missing, isElsewhere};
  }

  /** What of the file each chain of named lines leaves; one that is not there is left out. */
  *#stretches(
    anchors: readonly ByteString[],
  ): Turns<{readonly stretches: readonly Stretch[]; readonly missing: readonly ByteString[]}> {
    let stretches: readonly Stretch[] = [{anchor: -1, to: this.#file.count}];
    const missing: ByteString[] = [];
    for (const anchor of anchors) {
      const lines = yield* this.#anchorLines(anchor, stretches);
      if (lines.length === 0) missing.push(anchor);
      else stretches = stretches.flatMap(stretch => partsOf(stretch, lines));
    }
    return {stretches, missing};
  }

  *#anchorLines(anchor: ByteString, stretches: readonly Stretch[]): Turns<readonly number[]> {
    const inside = (at: number): boolean => stretches.some(({anchor: from, to}) => at > from && at < to);
    for (const form of FORMS) {
      const found = yield* this.#find([anchor], form);
      const lines = found?.filter(inside) ?? [];
      if (lines.length > 0) return lines;
    }
    // Models name a definition by its beginning.
    const lines: number[] = [];
    this.#allowance.comparisons -= this.#file.count;
    if (this.#allowance.comparisons < 0) return lines;
    for (let at = 0; at < this.#file.count && lines.length < MAX_PLACES; at += 1) {
      if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
      if (inside(at) && withoutBlanksAround(this.#file.line(at) ?? '').startsWith(anchor)) lines.push(at);
    }
    return lines;
  }

  /** The places in a stretch: that one which is in the definition named, if there is just one. */
  #within(all: readonly number[], length: number, {anchor, to}: Stretch): readonly number[] {
    // The line that was named may be the first of the block.
    const inside = all.filter(at => at + length > anchor && at < to);
    if (anchor < 0 || inside.length < 2) return inside;
    const end = this.#endOfDefinition(anchor, to);
    const own = inside.filter(at => at < end);
    return own.length > 0 ? own : inside;
  }

  /** Where the next definition of the same or a lower level begins. */
  #endOfDefinition(anchor: number, to: number): number {
    const level = indentation(this.#file.line(anchor) ?? '');
    for (let at = anchor + 1; at < to; at += 1) {
      this.#allowance.comparisons -= 1;
      if (this.#allowance.comparisons < 0) break;
      const line = this.#file.line(at) ?? '';
      if (indentation(line) <= level && /^[ \t]*[\w#@]/.test(line)) return at;
    }
    return to;
  }

  *#find(block: readonly ByteString[], form: LineForm): Turns<number[] | undefined> {
    let index = this.#indexes.get(form);
    if (index === undefined) {
      index = yield* LineIndex.of(this.#file, form);
      this.#indexes.set(form, index);
    }
    return yield* index.occurrences(block, MAX_PLACES, this.#allowance);
  }
}

function indentation(line: ByteString): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

/** From each of the lines to the next one. */
function partsOf({anchor, to}: Stretch, lines: readonly number[]): readonly Stretch[] {
  const inside = lines.filter(line => line > anchor && line < to);
  return inside.map((line, index) => ({anchor: line, to: inside[index + 1] ?? to}));
}

/** A hunk on the way to its place. */
export interface Candidate {
  readonly length: number;
  /** Indices, in order; none where it failed. */
  at: readonly number[];
}

/**
 * Leaves of the places of each hunk those that the order of all of them allows: behind the earliest places of the hunks
 * before it, and before the latest places of those behind it. A hunk that has none then stays with the places it had:
 * the index of each such hunk is returned.
 */
export function keepOrder(hunks: readonly Candidate[]): ReadonlySet<Candidate> {
  const misplaced = new Set<Candidate>();
  const earliest = new Map<Candidate, number>();
  let cursor = 0;
  for (const hunk of hunks) {
    if (hunk.at.length === 0) continue;
    const from = hunk.at.find(at => at >= cursor);
    if (from === undefined) {
      misplaced.add(hunk);
      continue;
    }
    earliest.set(hunk, from);
    cursor = from + hunk.length;
  }
  let end = Number.POSITIVE_INFINITY;
  for (const hunk of hunks.toReversed()) {
    const from = earliest.get(hunk);
    if (from === undefined) continue;
    hunk.at = hunk.at.filter(at => at >= from && at + hunk.length <= end);
    end = hunk.at.at(-1) ?? end;
  }
  return misplaced;
}

/** The lines of one side: without those of the other kind. */
export function* textsOf(lines: readonly HunkLine[], without: '-' | '+'): Turns<ByteString[]> {
  const texts: ByteString[] = [];
  for (const [at, {kind, text}] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    if (kind !== without) texts.push(text);
  }
  return texts;
}

/** The text of very many lines. */
export function* joined(lines: readonly ByteString[]): Turns<ByteString> {
  const text = new TextBuilder();
  for (const [at, line] of lines.entries()) {
    if (at % LINES_A_TURN === LINES_A_TURN - 1) yield;
    text.push(line);
  }
  return text.finish();
}

/** `"def f():" and "class A"`, for people. */
export function named(lines: readonly ByteString[]): string {
  return lines.map(line => JSON.stringify(readable(line))).join(' and ');
}
