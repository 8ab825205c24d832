// Finds the part in which two texts differ, and which lines became which.
import {BYTES_A_TURN, type Turns} from '../open-file.ts';
import {diffLines, type LineEdit} from './diff-lines.ts';
import {type ByteString, bytesOf, splitLines} from './patch.ts';

/** The part of two texts outside of which they are equal, in whole lines, with some equal lines around it. */
export interface ChangedWindow {
  readonly oldText: ByteString;
  readonly newText: ByteString;
  /** Lines of both texts before it. */
  readonly linesBefore: number;
  /** Equal lines at its beginning and at its end. */
  readonly equalFirst: number;
  readonly equalLast: number;
}

const BLOCK = 65_536;

/**
 * Cuts off what is equal at the beginning and at the end, but for `context` lines: the place of a small change in
 * a large file is found at the speed of a comparison of memory, and only what is left is looked at line by line.
 */
export function* changedWindow(before: ByteString, after: ByteString, context: number): Turns<ChangedWindow> {
  const head = lineStart(before, yield* equalStart(before, after));
  const tail = wholeLinesAtEnd(before, yield* equalEnd(before, after, head));
  let start = head;
  let equalFirst = 0;
  for (; start > 0 && equalFirst < context; equalFirst += 1) start = lineStart(before, start - 1);
  let end = tail;
  let equalLast = 0;
  for (; end > 0 && equalLast < context; equalLast += 1) {
    const newline = before.indexOf('\n', before.length - end);
    end = newline === -1 ? 0 : before.length - newline - 1;
  }
  return {
    oldText: before.slice(start, before.length - end),
    newText: after.slice(start, after.length - end),
    linesBefore: yield* countLines(before.slice(0, start)),
    equalFirst,
    equalLast,
  };
}

/** Lines of a text; the last one counts with or without its newline. */
export function* countLines(text: ByteString): Turns<number> {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  // A pass over bytes: a search from newline to newline costs much where lines are short.
  for (let at = 0; at < text.length; at += BLOCK) {
    if (at > 0 && at % BYTES_A_TURN === 0) yield;
    const bytes = bytesOf(text.slice(at, at + BLOCK));
    for (let index = 0; index < bytes.length; index += 1) if (bytes[index] === 0x0a) count += 1;
  }
  return count;
}

/** Where the line that holds position `at` begins. */
function lineStart(text: ByteString, at: number): number {
  // A search from -1 would look at the first character.
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** How many bytes are equal at the beginning. */
function* equalStart(before: ByteString, after: ByteString): Turns<number> {
  const longest = Math.min(before.length, after.length);
  let at = 0;
  while (at + BLOCK <= longest && before.slice(at, at + BLOCK) === after.slice(at, at + BLOCK)) {
    at += BLOCK;
    if (at % BYTES_A_TURN === 0) yield;
  }
  while (at < longest && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
  return at;
}

/** How many are equal at the end, behind the first `from`. */
function* equalEnd(before: ByteString, after: ByteString, from: number): Turns<number> {
  const longest = Math.min(before.length, after.length) - from;
  const same = (length: number): boolean =>
    before.slice(before.length - length, before.length - length + BLOCK) ===
    after.slice(after.length - length, after.length - length + BLOCK);
  let length = 0;
  while (length + BLOCK <= longest && same(length + BLOCK)) {
    length += BLOCK;
    if (length % BYTES_A_TURN === 0) yield;
  }
  while (
    length < longest &&
    before.charCodeAt(before.length - length - 1) === after.charCodeAt(after.length - length - 1)
  ) {
    length += 1;
  }
  return length;
}

/** Of so many bytes at the end of a text, those behind the first newline among them. */
function wholeLinesAtEnd(text: ByteString, length: number): number {
  const newline = text.indexOf('\n', text.length - length);
  return length === 0 || newline === -1 ? 0 : text.length - newline - 1;
}

/** review R12: above it lines that stayed are not searched for between the first and the last that differ. */
const MAX_SEARCHED_LINES = 40_000;

/** Which lines of a content become which of another, in order. */
export function* lineEdits(before: ByteString, after: ByteString): Turns<readonly LineEdit[]> {
  if (before === after) return [];
  const {oldText, newText, linesBefore} = yield* changedWindow(before, after, 0);
  const oldCount = yield* countLines(oldText);
  const newCount = yield* countLines(newText);
  if (oldCount + newCount > MAX_SEARCHED_LINES) {
    return [{oldStart: linesBefore, oldCount, newStart: linesBefore, newCount}];
  }
  return diffLines(splitLines(oldText), splitLines(newText)).map(edit => ({
    ...edit,
    oldStart: edit.oldStart + linesBefore,
    newStart: edit.newStart + linesBefore,
  }));
}
