/** Levenshtein's: how many characters have to be put in, left out or exchanged. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({length: b.length + 1}, (_, index) => index);
  for (let at = 0; at < a.length; at += 1) {
    const next = [at + 1];
    for (let to = 0; to < b.length; to += 1) {
      const exchanged = (row[to] ?? 0) + (a[at] === b[to] ? 0 : 1);
      next.push(Math.min(exchanged, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
