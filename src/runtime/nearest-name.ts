/** The name that is at most a third of its letters away from what was written; the first of equals. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > 64) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(written.toLowerCase().replaceAll('-', '_'), name);
    if (distance < least && distance * 3 <= name.length) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

/** Levenshtein, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({length: to.length + 1}, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
