import {SYNTAX} from './syntax.ts';

/** Starts and ends of what is left out of `markdown` when link targets are dropped, in turns. */
export function linkCuts(marks: Uint8Array): readonly number[] {
  const cuts: number[] = [];
  for (let at = marks.indexOf(SYNTAX.link); at >= 0; at = marks.indexOf(SYNTAX.link, at)) {
    cuts.push(at);
    while (marks[at] === SYNTAX.link) at += 1;
    cuts.push(at);
  }
  return cuts;
}

/** `[from, to)` of a document without the `cuts`: a part of the document with nothing added. */
export function shownText(markdown: string, from: number, to: number, cuts: readonly number[]): string {
  let index = firstCut(cuts, from);
  if (index >= cuts.length) return markdown.slice(from, to);
  const parts: string[] = [];
  let at = from;
  for (; index < cuts.length && (cuts[index] as number) < to; index += 2) {
    parts.push(markdown.slice(at, Math.max(at, cuts[index] as number)));
    at = Math.min(to, cuts[index + 1] as number);
  }
  parts.push(markdown.slice(at, to));
  return parts.join('');
}

/** The index of the first cut that ends behind `from`. */
function firstCut(cuts: readonly number[], from: number): number {
  let low = 0;
  let high = cuts.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[2 * middle + 1] as number) <= from) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}
