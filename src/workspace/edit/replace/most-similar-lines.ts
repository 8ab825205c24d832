import {bare} from './spelling.ts';

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
  const sought = wanted.map(bare);
  const start = byEqualLines(lines, sought) ?? byLikeness(lines, sought);
  if (start === undefined) return undefined;
  // One of the lines wanted is there, so something of the place is in the file.
  return [Math.max(0, start) + 1, Math.min(lines.length, start + wanted.length)];
}

/** Each equal line votes for where the first line would be. */
function byEqualLines(lines: readonly string[], sought: readonly string[]): number | undefined {
  const places = new Map<string, number[]>(sought.filter(line => line.length > 3).map(line => [line, []]));
  for (const [at, line] of lines.entries()) {
    const found = places.get(bare(line));
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
    const line = bare(raw.slice(0, COMPARED));
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
