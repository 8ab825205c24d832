import {BLANK, characterClass, mayOpen, surelyOpens} from './character-class.ts';

/** A pair of delimiters of ours, by the positions of the two among the parts of a block. */
export interface Emphasis {
  readonly style: number;
  readonly firstPiece: number;
  endPiece: number;
  readonly openPart: number;
  closePart: number;
}

/** Delimiters side by side, which CommonMark reads as one run. */
interface Run {
  readonly opens: Emphasis[];
  readonly closes: Emphasis[];
  readonly character: string;
  length: number;
  canOpen: boolean;
  canClose: boolean;
}

/**
 * Reads the delimiters as CommonMark does (its "process emphasis") and returns those that would not pair up
 * as meant, none where all do.
 */
export function misreadEmphasis(
  parts: readonly string[],
  emphases: readonly Emphasis[],
): ReadonlySet<Emphasis> {
  if (isUnambiguous(parts, emphases)) return NOTHING;
  const misread = new Set<Emphasis>();
  const runs = collectRuns(parts, emphases, misread);
  if (misread.size === 0) pairRuns(runs, misread);
  return misread;
}

const NOTHING: ReadonlySet<Emphasis> = new Set();

/** Most blocks: no delimiter of ours is inside or beside another pair, and each can be read in one way only. */
function isUnambiguous(parts: readonly string[], emphases: readonly Emphasis[]): boolean {
  let end = -1;
  for (const {openPart, closePart} of emphases) {
    if (openPart <= end + 1 && end !== -1) return false;
    if (!isSureOpener(classBefore(parts, openPart), classAfter(parts, openPart))) return false;
    if (!isSureOpener(classAfter(parts, closePart), classBefore(parts, closePart))) return false;
    end = closePart;
  }
  return true;
}

/** Whether a delimiter opens in every reading and closes in none; the other way round for its mirror image. */
function isSureOpener(before: number, after: number): boolean {
  return surelyOpens(before, after) && !mayOpen(after, before);
}

function classBefore(parts: readonly string[], part: number): number {
  const previous = parts[part - 1] ?? '';
  return characterClass(previous.charCodeAt(previous.length - 1));
}

function classAfter(parts: readonly string[], part: number): number {
  return characterClass((parts[part + 1] ?? '').charCodeAt(0));
}

function collectRuns(parts: readonly string[], emphases: readonly Emphasis[], misread: Set<Emphasis>): Run[] {
  const opening = new Map(emphases.map(emphasis => [emphasis.openPart, emphasis]));
  const closing = new Map(emphases.map(emphasis => [emphasis.closePart, emphasis]));
  const isDelimiter = (part: number): boolean => opening.has(part) || closing.has(part);
  const runs: Run[] = [];
  const positions = [...opening.keys(), ...closing.keys()].sort((a, b) => a - b);
  for (let index = 0; index < positions.length; ) {
    const first = positions[index] ?? 0;
    const character = (parts[first] ?? '').charAt(0);
    const run: Run = {opens: [], closes: [], character, length: 0, canOpen: false, canClose: false};
    let part = first;
    while (isDelimiter(part) && (parts[part] ?? '').charAt(0) === character) {
      const opened = opening.get(part);
      const closed = closing.get(part);
      if (opened) run.opens.push(opened);
      if (closed) run.closes.push(closed);
      run.length += (parts[part] ?? '').length;
      part++;
      index++;
    }
    const previous = first === 0 ? '' : (parts[first - 1] ?? '');
    const before = characterClass(previous.charCodeAt(previous.length - 1));
    const after = part < parts.length ? characterClass((parts[part] ?? '').charCodeAt(0)) : BLANK;
    run.canOpen = mayOpen(before, after);
    run.canClose = mayOpen(after, before);
    if (!surelyOpens(before, after)) for (const emphasis of run.opens) misread.add(emphasis);
    if (!surelyOpens(after, before)) for (const emphasis of run.closes) misread.add(emphasis);
    if (character === '~' && run.opens.length + run.closes.length > 1) {
      for (const emphasis of [...run.opens, ...run.closes]) misread.add(emphasis);
    }
    runs.push(run);
  }
  return runs;
}

interface Opener {
  readonly run: Run;
  left: number;
}

function pairRuns(runs: readonly Run[], misread: Set<Emphasis>): void {
  const openers: Opener[] = [];
  for (const run of runs) {
    if (run.character === '~') continue;
    let left = run.length;
    let closed = 0;
    for (let at = openers.length - 1; at >= 0 && left > 0 && run.canClose; ) {
      const opener = openers[at];
      if (opener === undefined) break;
      if (isOddMatch(opener.run, run)) {
        at--;
        continue;
      }
      const width = opener.left >= 2 && left >= 2 ? 2 : 1;
      const inner = opener.run.opens.at(-1);
      const meant = run.closes[closed];
      if (at !== openers.length - 1 || inner === undefined || inner !== meant || widthOf(inner) !== width) {
        for (const emphasis of [...opener.run.opens, ...run.closes]) misread.add(emphasis);
        for (const skipped of openers.slice(at))
          for (const emphasis of skipped.run.opens) misread.add(emphasis);
        for (const emphasis of run.opens) misread.add(emphasis);
        return;
      }
      opener.run.opens.pop();
      opener.left -= width;
      left -= width;
      closed++;
      if (opener.left === 0) {
        openers.pop();
        at = openers.length - 1;
      }
    }
    for (const emphasis of run.closes.slice(closed)) misread.add(emphasis);
    if (run.opens.length > 0) openers.push({run, left});
  }
  for (const {run} of openers) for (const emphasis of run.opens) misread.add(emphasis);
}

/** CommonMark's rule of three. */
function isOddMatch(opener: Run, closer: Run): boolean {
  const either = opener.canClose || closer.canOpen;
  const sum = opener.length + closer.length;
  return either && sum % 3 === 0 && !(opener.length % 3 === 0 && closer.length % 3 === 0);
}

function widthOf(emphasis: Emphasis): number {
  return emphasis.style === 1 ? 1 : 2;
}
