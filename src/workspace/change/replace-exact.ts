// Replaces exact text in the bytes of a file.
import {fail, ok, type Result} from '../../core/result.ts';
import {BYTES_A_TURN, LINES_A_TURN, type Turns} from '../open-file.ts';
import {type ByteString, byteString, bytesOf, TextBuilder} from '../patch/patch.ts';
import {fileTooLarge, MAX_WHOLE_FILE_BYTES} from '../refusals.ts';
import {quotePath} from '../workspace-path.ts';
import {findNext, findOccurrences, isCrlf, withCrlf} from './find-occurrences.ts';
import {nearMatch} from './nearest-text.ts';

export interface Replacement {
  readonly content: Uint8Array;
  readonly match: ReplacedMatch;
}

/** How `old_string` matched. */
export interface ReplacedMatch {
  /** The first and the last line of what was replaced, as they were numbered before. */
  readonly lines: readonly [number, number];
  readonly count: number;
  /** The file has CRLF throughout, so the line feeds of `new_string` became CRLF too. */
  readonly line_endings?: 'crlf';
}

/**
 * W6, ADR 08: replaces the one place where `oldString` occurs; exactly, or not at all. Only where the caller asks
 * for `replaceAll` it may occur more often. The file is looked at as bytes, which for UTF-8 comes to the same
 * and costs a large file no decoding.
 */
export function* replaceExact(
  path: string,
  content: Uint8Array,
  oldString: string,
  newString: string,
  {replaceAll = false, nearLine}: ReplaceOptions = {},
): Turns<Result<Replacement>> {
  const unusable = whyUnusable(oldString, newString);
  if (unusable !== undefined) return fail('invalid_params', unusable.reason, unusable);
  const text = byteString(content);
  const keep = nearLine === undefined ? NAMED : COMPARED;
  let wanted = Buffer.from(oldString);
  let found = yield* findOccurrences(text, byteString(wanted), keep);
  // W6: models write LF for a file with CRLF.
  const isCarried = found.count === 0 && /^[^\r]*\n[^\r]*$/.test(oldString) && text.includes('\r\n');
  if (isCarried) {
    wanted = Buffer.from(yield* withCrlf(oldString));
    found = yield* findOccurrences(text, byteString(wanted), keep);
  }
  if (found.count === 0) {
    const {hint, nearest} = nearMatch(content, oldString);
    return fail('no_match', `old_string does not occur in ${quotePath(path)}. ${hint}`, {
      path,
      hint,
      nearest,
    });
  }
  if (found.count > 1 && replaceAll) {
    const inserted = yield* inserting();
    return yield* replaceEach({path, content, text, oldString: wanted.toString(), inserted, newString});
  }
  const chosen = nearLine === undefined ? undefined : yield* nearest(content, found.first, nearLine);
  const start = found.count === 1 ? found.first[0] : chosen;
  if (start === undefined) {
    const lines = yield* lineNumbers(content, found.first.slice(0, NAMED));
    const more = found.count > NAMED ? ' and more' : '';
    return fail(
      'ambiguous_match',
      `old_string occurs ${found.count} times in ${quotePath(path)}, on lines ${lines.join(', ')}${more}. Add surrounding lines until it is unique, or set line or replace_all.`,
      {path, count: found.count, lines},
    );
  }
  const [line = 1] = yield* lineNumbers(content, [start]);
  const inserted = yield* inserting();
  const match: ReplacedMatch = {
    lines: [line, yield* lastLine(line, oldString)],
    count: 1,
    ...(inserted === newString ? {} : {line_endings: 'crlf' as const}),
  };
  const parts = [content.subarray(0, start), Buffer.from(inserted), content.subarray(start + wanted.length)];
  return ok({content: Buffer.concat(parts), match});

  function* inserting(): Turns<string> {
    if (isCarried && !newString.includes('\r')) return yield* withCrlf(newString);
    return yield* inLineEndingsOf(content, newString);
  }
}

/** The place whose line is nearest; undefined where two are as near. */
function* nearest(
  content: Uint8Array,
  starts: readonly number[],
  nearLine: number,
): Turns<number | undefined> {
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  let line = 1;
  let counted = 0;
  for (const start of starts) {
    for (; counted < start; counted += 1) {
      if (counted % BYTES_A_TURN === BYTES_A_TURN - 1) yield;
      if (content[counted] === 0x0a) line += 1;
    }
    const distance = Math.abs(line - nearLine);
    if (distance === least) best = undefined;
    if (distance >= least) continue;
    best = start;
    least = distance;
  }
  return best;
}

/** So many places are named. */
const NAMED = 20;
/** So many are compared with a line. */
const COMPARED = 100_000;

interface ReplaceOptions {
  /** Each place, however many there are. */
  readonly replaceAll?: boolean | undefined;
  /** Of several places the one that begins nearest to this line, from 1. */
  readonly nearLine?: number | undefined;
}

interface Repeated {
  readonly path: string;
  readonly content: Uint8Array;
  /** The same as bytes. */
  readonly text: ByteString;
  readonly oldString: string;
  readonly newString: string;
  readonly inserted: string;
}

/** From the beginning on, each place that does not overlap the one before it. */
function* replaceEach({
  path,
  content,
  text,
  oldString,
  newString,
  inserted,
}: Repeated): Turns<Result<Replacement>> {
  const wanted = byteString(Buffer.from(oldString));
  const replacement = byteString(Buffer.from(inserted));
  const replaced = new TextBuilder();
  let count = 0;
  let size = content.length;
  let start = -1;
  let last = -1;
  let copied = 0;
  for (;;) {
    const at = yield* findNext(text, wanted, copied);
    if (at === -1) break;
    if (start === -1) start = at;
    last = at;
    count += 1;
    if (count % LINES_A_TURN === 0) yield;
    // A short text in a large file may come to more than a string can hold; how much is said all the same.
    size += replacement.length - wanted.length;
    if (size <= MAX_WHOLE_FILE_BYTES) {
      replaced.push(text.slice(copied, at));
      replaced.push(replacement);
    }
    copied = at + wanted.length;
  }
  if (size > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, size);
  replaced.push(text.slice(copied));
  const [first = 1, again = first] = yield* lineNumbers(content, [start, last]);
  const match: ReplacedMatch = {
    lines: [first, yield* lastLine(again, oldString)],
    count,
    ...(inserted === newString ? {} : {line_endings: 'crlf' as const}),
  };
  return ok({content: bytesOf(replaced.finish()), match});
}

function whyUnusable(oldString: string, newString: string): {field: string; reason: string} | undefined {
  if (oldString === '') {
    return {
      field: 'old_string',
      reason: 'old_string is empty. Give the text to replace; write_file makes new files.',
    };
  }
  if (oldString === newString) {
    return {
      field: 'new_string',
      reason: 'old_string and new_string are equal. Write what the text should become into new_string.',
    };
  }
  // Half a surrogate pair could match within a character, and cannot be written.
  if (!oldString.isWellFormed())
    return {field: 'old_string', reason: 'old_string is not well-formed Unicode.'};
  if (!newString.isWellFormed())
    return {field: 'new_string', reason: 'new_string is not well-formed Unicode.'};
  return undefined;
}

/** W6: a file that has CRLF throughout keeps it, though models write LF. Mixed files are left to the caller. */
function* inLineEndingsOf(content: Uint8Array, inserted: string): Turns<string> {
  if (!inserted.includes('\n') || inserted.includes('\r')) return inserted;
  return (yield* isCrlf(content)) ? yield* withCrlf(inserted) : inserted;
}

/** The lines on which ascending `starts` lie, each line once. */
function* lineNumbers(content: Uint8Array, starts: readonly number[]): Turns<number[]> {
  const lines = new Set<number>();
  let line = 1;
  let at = 0;
  for (const start of starts) {
    while (at < start) {
      const end = Math.min(start, at + BYTES_A_TURN);
      for (; at < end; at += 1) if (content[at] === 0x0a) line += 1;
      if (at < start) yield;
    }
    lines.add(line);
  }
  return [...lines];
}

function* lastLine(first: number, text: string): Turns<number> {
  const end = text.endsWith('\n') ? text.length - 1 : text.length;
  let line = first;
  for (let from = 0; from < end; from += BYTES_A_TURN) {
    if (from > 0) yield;
    const until = Math.min(end, from + BYTES_A_TURN);
    for (let at = from; at < until; at += 1) if (text.charCodeAt(at) === 0x0a) line += 1;
  }
  return line;
}
