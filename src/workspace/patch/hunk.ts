// Parses hunks, and mends wrong line counts.
import {LINES_A_TURN, type Turns} from '../open-file.ts';
import type {ByteString, Hunk, HunkLine} from './patch.ts';
import {withoutBlanksAround} from './text-lines.ts';

export type ParsedHunk =
  | {readonly hunk: Hunk; readonly next: number; readonly recounted: boolean}
  | {readonly problem: string; readonly at: number; readonly next: number};

const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
/** `@@`, `@@ … @@` or `@@ def f():`, as models write it; with the beginning of a number it is a broken one. */
const BARE_HEADER = /^@@(?!\s*[-+]\d)(?:\s.*)?$/;
const HEADER_PAIR_NAME = /^(?:---|\+\+\+) (?:"?[abciow12]\/|\/dev\/null)/;

/**
 * Reads the hunk whose `@@` line is `lines[at]`. `next` is where the reader goes on. In the format of git each
 * section begins with a line of its own (`isGit`), so what looks like the names of the next file is content there.
 */
export function* parseHunk(
  lines: readonly ByteString[],
  at: number,
  {isGit, asMeant}: HunkForm,
): Turns<ParsedHunk> {
  const hasNoLineNumber = BARE_HEADER.test(lines[at] ?? '');
  const header = HEADER.exec(lines[at] ?? '');
  if (header === null && !hasNoLineNumber) {
    const problem = 'the hunk header is not of the form "@@ -START,COUNT +START,COUNT @@" or "@@"';
    return {problem, at, next: yield* endOfBody(lines, at + 1, asMeant)};
  }
  const [, oldStart = '0', oldCount = '1', , newCount = '1'] = header ?? [];
  const counts = {old: Number(oldCount), new: Number(newCount), isGit};
  const counted = header === null ? undefined : yield* takeCounted(lines, at + 1, counts);
  const end = counted ?? (yield* recount(lines, at + 1, asMeant));
  if (typeof end !== 'number') return end;
  const body = yield* readBody(lines, at + 1, end);
  if ('problem' in body) return {...body, next: end};
  if (body.every(line => line.kind === ' ')) {
    return {
      problem: 'the hunk has no "-" and no "+" line, so it changes nothing; leave it out',
      at,
      next: end,
    };
  }
  if (header === null) {
    return {
      hunk: {line: at + 1, oldStart: undefined, hasNoLineNumber, ...namedBy(lines[at] ?? ''), lines: body},
      next: end,
      recounted: false,
    };
  }
  // "-5,3" before nothing but additions: before line 5 or behind it?
  const placed = Number(oldCount) === 0 || body.some(line => line.kind !== '+');
  const hunk = {line: at + 1, oldStart: placed ? Number(oldStart) : undefined, lines: body};
  return {hunk, next: end, recounted: counted === undefined};
}

/**
 * What a header without line numbers says of the place: the lines above it, `@@ class A @@ def f():`. Numbers that it
 * has all the same are believed where they tell one place from another.
 */
export function namedBy(header: ByteString): Partial<Pick<Hunk, 'anchors' | 'oldStart'>> {
  const parts = header
    .split(/(?:^|\s)@@(?=\s|$)/)
    .map(withoutBlanksAround)
    .filter(part => !/^(?:|\.{3}|\xe2\x80\xa6)$/.test(part));
  const [, start] = /^-(\d{1,9})(?:,\d+)? \+\d/.exec(parts[0] ?? '') ?? [];
  const anchors = parts.filter(part => !/^[-+]\d/.test(part));
  return {
    ...(start === undefined ? {} : {oldStart: Number(start)}),
    // What git writes behind its numbers is a hint for people.
    ...(anchors.length > 0 && start === undefined ? {anchors} : {}),
  };
}

/** Where the body ends by the counts of its header; undefined where they do not fit what is there. */
function* takeCounted(
  lines: readonly ByteString[],
  start: number,
  counts: {readonly old: number; readonly new: number; readonly isGit: boolean},
): Turns<number | undefined> {
  let oldLeft = counts.old;
  let newLeft = counts.new;
  let at = start;
  for (; oldLeft > 0 || newLeft > 0; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const kind = lineKind(lines[at]);
    if (kind === undefined) return undefined;
    if (kind === '\\') continue;
    // W7: counts that are one too large do not reach into the next file.
    if (!counts.isGit && isCertainHeader(lines, at)) return undefined;
    if (kind !== '+') oldLeft -= 1;
    if (kind !== '-') newLeft -= 1;
    if (oldLeft < 0 || newLeft < 0) return undefined;
  }
  if (lineKind(lines[at]) === '\\') at += 1;
  const following = skipBlank(lines, at);
  const fits =
    lineKind(lines[following]) === undefined ||
    isHeaderPair(lines, following) ||
    isSignature(lines, following);
  return fits ? at : undefined;
}

export interface HunkForm {
  readonly isGit: boolean;
  /** What is no hunk line by the format is a line of context that lost its blank. */
  readonly asMeant: boolean;
}

/** W22: the hunk of a section without "@@", which has no line numbers either. */
export function* parseHeaderlessHunk(lines: readonly ByteString[], at: number): Turns<ParsedHunk> {
  const end = yield* recount(lines, at, true);
  if (typeof end !== 'number') return end;
  const body = yield* readBody(lines, at, end);
  if ('problem' in body) return {...body, next: end};
  if (body.every(line => line.kind === ' '))
    return {problem: 'the section has no "-" and no "+" line, so it changes nothing', at, next: end};
  const hunk = {line: at + 1, oldStart: undefined, hasNoLineNumber: true, lines: body};
  return {hunk, next: end, recounted: false};
}

/**
 * W7: with wrong counts the body reaches up to the next header or the end of the text. Blank lines at
 * its end are left out: as context they would change nothing.
 */
function* recount(
  lines: readonly ByteString[],
  start: number,
  asMeant: boolean,
): Turns<number | {problem: string; at: number; next: number}> {
  const stop = yield* endOfBody(lines, start, asMeant);
  if (stop < lines.length && !isStructure(lines, stop)) {
    const text = 'a hunk line begins with " ", "-" or "+" (a context line with a blank), this one does not';
    return {problem: `${text}; also, the line counts of the hunk header are wrong`, at: stop, next: stop};
  }
  for (let at = start; at < stop; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const pair = isHeaderPair(lines, at) && HUNK_BEGIN.test(lines[at + 2] ?? '');
    const half = HEADER_PAIR_NAME.test(lines[at] ?? '') && lines[at + 1]?.startsWith('@@ -');
    if (!pair && !half) continue;
    const problem =
      'the line counts of the hunk header are wrong, and this may be content or the header of another file';
    return {problem: `${problem}; correct the counts, or write the header with a/ and b/`, at, next: stop};
  }
  let end = stop;
  while (end > start && lines[end - 1] === '') end -= 1;
  return end;
}

/** The first line that cannot be part of a body, whatever the counts. */
function* endOfBody(lines: readonly ByteString[], start: number, asMeant: boolean): Turns<number> {
  let at = start;
  while (
    (lineKind(lines[at]) !== undefined || (asMeant && at < lines.length && !isStructure(lines, at))) &&
    !isCertainHeader(lines, at) &&
    !isSignature(lines, at) &&
    !(asMeant && isEqualPair(lines, at))
  ) {
    if (at % LINES_A_TURN === 0) yield;
    at += 1;
  }
  return at;
}

/** `--- x`, `+++ x`: without a/ and b/ both are the same. */
function isEqualPair(lines: readonly ByteString[], at: number): boolean {
  return isHeaderPair(lines, at) && lines[at]?.slice(4) === lines[at + 1]?.slice(4);
}

function lineKind(line: ByteString | undefined): ' ' | '-' | '+' | '\\' | undefined {
  if (line === undefined) return undefined;
  // An empty context line often loses its blank on the way.
  if (line === '') return ' ';
  const first = line[0];
  if (first === '\\') return line[1] === ' ' ? '\\' : undefined;
  return first === ' ' || first === '-' || first === '+' ? first : undefined;
}

/** `--- x`, `+++ y`: the header of a section, or the removal of `-- x` and the addition of `++ y`. */
function isHeaderPair(lines: readonly ByteString[], at: number): boolean {
  return lines[at]?.startsWith('--- ') === true && lines[at + 1]?.startsWith('+++ ') === true;
}

/** With line numbers or without. */
const HUNK_BEGIN = /^@@(?: -|\s|$)/;

function isCertainHeader(lines: readonly ByteString[], at: number): boolean {
  if (!isHeaderPair(lines, at) || !HUNK_BEGIN.test(lines[at + 2] ?? '')) return false;
  return HEADER_PAIR_NAME.test(lines[at] ?? '') && HEADER_PAIR_NAME.test(lines[at + 1] ?? '');
}

/** What ends a mail of `git format-patch`: `-- ` and the version of git. */
export function isSignature(lines: readonly ByteString[], at: number): boolean {
  return lines[at] === '-- ' && /^\d+\.\d[\w.() -]{0,40}$/.test(lines[at + 1] ?? '');
}

function isStructure(lines: readonly ByteString[], at: number): boolean {
  return (
    isCertainHeader(lines, at) ||
    isSignature(lines, at) ||
    isEqualPair(lines, at) ||
    /^(?:@@(?:\s|$)|diff |Index: |```|~~~)/.test(lines[at] ?? '')
  );
}

function skipBlank(lines: readonly ByteString[], start: number): number {
  let at = start;
  while (lines[at] === '') at += 1;
  return at;
}

function* readBody(
  lines: readonly ByteString[],
  start: number,
  end: number,
): Turns<readonly HunkLine[] | {problem: string; at: number}> {
  const body: HunkLine[] = [];
  let oldEnded = false;
  let newEnded = false;
  for (let at = start; at < end; at += 1) {
    if (at % LINES_A_TURN === 0) yield;
    const line = lines[at] ?? '';
    const known = lineKind(line);
    const kind = known ?? ' ';
    if (kind === '\\') {
      const last = body.at(-1);
      if (last === undefined || !last.text.endsWith('\n')) {
        return {problem: '"\\ No newline at end of file" must follow the line it is about', at};
      }
      if (last.kind !== '+') oldEnded = true;
      if (last.kind !== '-') newEnded = true;
      body[body.length - 1] = {kind: last.kind, text: last.text.slice(0, -1)};
      continue;
    }
    if ((oldEnded && kind !== '+') || (newEnded && kind !== '-')) {
      return {problem: 'a line follows the one that "\\ No newline at end of file" calls the last', at};
    }
    body.push({kind, text: `${known === undefined ? line : line.slice(1)}\n`});
  }
  return body;
}
