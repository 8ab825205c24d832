import {isUtf8} from 'node:buffer';

const CONTEXT = 3;
const NO_NEWLINE = '\n\\ No newline at end of file\n';

/**
 * The difference of two texts as one hunk, from the first line that differs to the last: right and
 * linear, not minimal. Undefined stands for a file that is not there. Empty for equal or non-text.
 */
export function unifiedDiff(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): string {
  const old = lines(before);
  const now = lines(after);
  if (old === undefined || now === undefined) return '';
  const shortest = Math.min(old.length, now.length);
  let same = 0;
  while (same < shortest && old[same] === now[same]) same += 1;
  let sameEnd = 0;
  while (sameEnd < shortest - same && old.at(-1 - sameEnd) === now.at(-1 - sameEnd)) sameEnd += 1;
  if (same === old.length && same === now.length) {
    return '';
  }
  const from = Math.max(0, same - CONTEXT);
  const tail = Math.min(CONTEXT, sameEnd);
  const oldEnd = old.length - sameEnd;
  const nowEnd = now.length - sameEnd;
  const parts = [
    `--- ${before === undefined ? '/dev/null' : name('a', path)}\n`,
    `+++ ${after === undefined ? '/dev/null' : name('b', path)}\n`,
    `@@ -${span(from, oldEnd + tail)} +${span(from, nowEnd + tail)} @@\n`,
  ];
  for (const line of old.slice(from, same)) parts.push(printed(' ', line));
  for (const line of old.slice(same, oldEnd)) parts.push(printed('-', line));
  for (const line of now.slice(same, nowEnd)) parts.push(printed('+', line));
  for (const line of old.slice(oldEnd, oldEnd + tail)) parts.push(printed(' ', line));
  return parts.join('');
}

/** With their line ends, which belong to what is compared. */
function lines(bytes: Uint8Array | undefined): readonly string[] | undefined {
  if (bytes === undefined || bytes.length === 0) return [];
  if (!isUtf8(bytes)) return undefined;
  return new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes).split(/(?<=\n)/);
}

/** As git does: quoted where a plain name could be taken for something else, such as a second line. */
function name(side: string, path: string): string {
  return /[\x00-\x1f"\\\x7f]/.test(path) ? JSON.stringify(`${side}/${path}`) : `${side}/${path}`;
}

function span(from: number, to: number): string {
  // GNU diff: an empty range names the line before it.
  return to === from ? `${from},0` : `${from + 1},${to - from}`;
}

function printed(sign: string, line: string): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}${NO_NEWLINE}`;
}
