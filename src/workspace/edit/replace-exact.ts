import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import {quotePath} from '../workspace-path.ts';
import {findOccurrences} from './find-occurrences.ts';
import {nearMatch} from './near-match.ts';

export interface Replacement {
  readonly text: string;
  readonly match: ReplacedMatch;
}

/** How `old_string` matched. */
export interface ReplacedMatch {
  /** The first and the last line of what was replaced, as they were numbered before. */
  readonly lines: readonly [number, number];
  readonly count: 1;
  /** The file has CRLF throughout, so the line feeds of `new_string` became CRLF too. */
  readonly line_endings?: 'crlf';
}

/** W6, ADR 08: replaces the one place where `oldString` occurs; exactly, or not at all. */
export function replaceExact(
  path: string,
  text: string,
  oldString: string,
  newString: string,
): Result<Replacement> {
  const unusable = whyUnusable(oldString, newString);
  if (unusable !== undefined) return fail('invalid_params', unusable.reason, unusable);
  const found = findOccurrences(text, oldString);
  const start = found.first[0];
  if (start === undefined) {
    const {hint, nearest} = nearMatch(text, oldString);
    return fail('no_match', `old_string does not occur in ${quotePath(path)}. ${hint}`, {
      path,
      hint,
      nearest,
    });
  }
  if (found.count > 1) {
    const lines = lineNumbers(text, found.first);
    const more = found.count > found.first.length ? ' and more' : '';
    return fail(
      'ambiguous_match',
      `old_string occurs ${found.count} times in ${quotePath(path)}, on lines ${lines.join(', ')}${more}. Add surrounding lines until it is unique.`,
      {path, count: found.count, lines},
    );
  }
  const [line = 1] = lineNumbers(text, [start]);
  const inserted = inLineEndingsOf(text, newString);
  const match: ReplacedMatch = {
    lines: [line, line + countNewlines(oldString.replace(/\n$/, ''))],
    count: 1,
    ...(inserted === newString ? {} : {line_endings: 'crlf' as const}),
  };
  return ok({text: text.slice(0, start) + inserted + text.slice(start + oldString.length), match});
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
      reason: 'old_string and new_string are equal. Give the text as it shall be.',
    };
  }
  // Half a surrogate pair could match within a character, and cannot be written.
  const broken = /\p{Surrogate}/u;
  if (broken.test(oldString)) return {field: 'old_string', reason: 'old_string is not well-formed Unicode.'};
  if (broken.test(newString)) return {field: 'new_string', reason: 'new_string is not well-formed Unicode.'};
  return undefined;
}

/** W6: a file that has CRLF throughout keeps it, though models write LF. Mixed files are left to the caller. */
function inLineEndingsOf(text: string, inserted: string): string {
  if (!inserted.includes('\n') || inserted.includes('\r')) return inserted;
  const newlines = countNewlines(text);
  if (newlines === 0 || countNewlines(text, '\r\n') !== newlines) return inserted;
  return inserted.replaceAll('\n', '\r\n');
}

/** The lines on which ascending `starts` lie, each line once. */
function lineNumbers(text: string, starts: readonly number[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let at = 0;
  for (const start of starts) {
    for (let next = text.indexOf('\n', at); next !== -1 && next < start; next = text.indexOf('\n', at)) {
      line += 1;
      at = next + 1;
    }
    lines.add(line);
  }
  return [...lines];
}

function countNewlines(text: string, newline = '\n'): number {
  let count = 0;
  for (let at = text.indexOf(newline); at !== -1; at = text.indexOf(newline, at + newline.length)) count += 1;
  return count;
}
