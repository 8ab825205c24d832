import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';
import {MAX_WHOLE_FILE_BYTES} from '../../max-whole-file-bytes.ts';
import {type ByteString, byteString, bytesOf} from '../../patch/byte-string.ts';
import {fileTooLarge} from '../../refusals.ts';
import {quotePath} from '../../workspace-path.ts';
import {findOccurrences} from './find-occurrences.ts';
import {isCrlf} from './is-crlf.ts';
import {nearMatch} from './near-match.ts';

/** With its BOM: what is not replaced has to come out as it went in. */
const TEXT = new TextDecoder('utf-8', {ignoreBOM: true});

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
export function replaceExact(
  path: string,
  content: Uint8Array,
  oldString: string,
  newString: string,
  replaceAll = false,
): Result<Replacement> {
  const unusable = whyUnusable(oldString, newString);
  if (unusable !== undefined) return fail('invalid_params', unusable.reason, unusable);
  const wanted = Buffer.from(oldString);
  const text = byteString(content);
  const found = findOccurrences(text, byteString(wanted));
  const start = found.first[0];
  if (start === undefined) {
    const {hint, nearest} = nearMatch(TEXT.decode(content), oldString);
    return fail('no_match', `old_string does not occur in ${quotePath(path)}. ${hint}`, {
      path,
      hint,
      nearest,
    });
  }
  if (found.count > 1 && replaceAll) {
    return replaceEach({
      path,
      content,
      text,
      oldString,
      inserted: inLineEndingsOf(content, newString),
      newString,
    });
  }
  if (found.count > 1) {
    const lines = lineNumbers(content, found.first);
    const more = found.count > found.first.length ? ' and more' : '';
    return fail(
      'ambiguous_match',
      `old_string occurs ${found.count} times in ${quotePath(path)}, on lines ${lines.join(', ')}${more}. Add surrounding lines until it is unique, or set replace_all.`,
      {path, count: found.count, lines},
    );
  }
  const [line = 1] = lineNumbers(content, [start]);
  const inserted = inLineEndingsOf(content, newString);
  const match: ReplacedMatch = {
    lines: [line, lastLine(line, oldString)],
    count: 1,
    ...(inserted === newString ? {} : {line_endings: 'crlf' as const}),
  };
  const parts = [content.subarray(0, start), Buffer.from(inserted), content.subarray(start + wanted.length)];
  return ok({content: Buffer.concat(parts), match});
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
function replaceEach({path, content, text, oldString, newString, inserted}: Repeated): Result<Replacement> {
  const pieces = text.split(byteString(Buffer.from(oldString)));
  const count = pieces.length - 1;
  const replacement = Buffer.from(inserted);
  // A short text in a large file may come to more than a string can hold.
  const size = content.length + count * (replacement.length - Buffer.byteLength(oldString));
  if (size > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, size);
  const last = content.length - (pieces.at(-1) ?? '').length - Buffer.byteLength(oldString);
  const [first = 1, again = first] = lineNumbers(content, [(pieces[0] ?? '').length, last]);
  const match: ReplacedMatch = {
    lines: [first, lastLine(again, oldString)],
    count,
    ...(inserted === newString ? {} : {line_endings: 'crlf' as const}),
  };
  return ok({content: bytesOf(pieces.join(byteString(replacement))), match});
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
  const broken = /\p{Surrogate}/u;
  if (broken.test(oldString)) return {field: 'old_string', reason: 'old_string is not well-formed Unicode.'};
  if (broken.test(newString)) return {field: 'new_string', reason: 'new_string is not well-formed Unicode.'};
  return undefined;
}

/** W6: a file that has CRLF throughout keeps it, though models write LF. Mixed files are left to the caller. */
function inLineEndingsOf(content: Uint8Array, inserted: string): string {
  if (!inserted.includes('\n') || inserted.includes('\r')) return inserted;
  return isCrlf(content) ? inserted.replaceAll('\n', '\r\n') : inserted;
}

/** The lines on which ascending `starts` lie, each line once. */
function lineNumbers(content: Uint8Array, starts: readonly number[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let at = 0;
  for (const start of starts) {
    for (; at < start; at += 1) if (content[at] === 0x0a) line += 1;
    lines.add(line);
  }
  return [...lines];
}

function lastLine(first: number, text: string): number {
  return first + countNewlines(text.replace(/\n$/, ''));
}

function countNewlines(text: string): number {
  return text.split('\n').length - 1;
}
