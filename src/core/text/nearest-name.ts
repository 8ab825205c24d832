// Finds the known name that was perhaps meant.

/** How many characters have to be put in, left out, exchanged, or swapped with their neighbour. */
export function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({length: b.length + 1}, (_, index) => index);
  for (let at = 0; at < a.length; at += 1) {
    const next = [at + 1];
    for (let to = 0; to < b.length; to += 1) {
      const exchanged = (row[to] ?? 0) + (a[at] === b[to] ? 0 : 1);
      const isSwapped = at > 0 && to > 0 && a[at] === b[to - 1] && a[at - 1] === b[to];
      const swapped = isSwapped ? (before[to - 1] ?? 0) + 1 : exchanged;
      next.push(Math.min(exchanged, swapped, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The name that is at most a third of its letters away from what was written; the first of equals. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > 64) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plain(written), plain(name));
    if (distance < least && distance * 3 <= name.length) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}
