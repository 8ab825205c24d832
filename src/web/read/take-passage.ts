import type {GridChunk} from './chunk-grid.ts';
import type {ReadablePage} from './readable-page.ts';
import type {Passage, SectionName} from './reading.ts';

export interface Taken {
  readonly passage: Passage;
  /** Where the next one starts; `to` where nothing is left. */
  readonly end: number;
}

/** From `from` towards `to`, as many whole chunks as `maxTokens` reaches: at least what is left of the first. */
export function takePassage(page: ReadablePage, from: number, to: number, maxTokens: number): Taken {
  const {chunks} = page;
  const first = page.chunkAt(from);
  const ends: number[] = [];
  let sum = 0;
  for (let index = first, start = from; start < to && index < chunks.length; index += 1) {
    const end = Math.min(to, (chunks[index] as GridChunk).end);
    sum += page.countTokens(page.shown(start, end));
    // Two pieces of a block may have more tokens together than one by one, so some come back below.
    if (ends.length > 0 && sum > maxTokens) break;
    ends.push(end);
    start = end;
  }
  for (;;) {
    const end = ends.pop() ?? to;
    const text = page.shown(from, end);
    const tokens = page.countTokens(text);
    if (tokens > maxTokens && ends.length > 0) continue;
    const passage: Passage = {
      text,
      tokens,
      start: page.codePointsBefore(from),
      end: page.codePointsBefore(end),
      chunk: first + 1,
      last_chunk: first + 1 + ends.length,
      section: sectionName(page, from),
    };
    return {passage, end};
  }
}

export function sectionName(page: ReadablePage, place: number): SectionName {
  const {number, heading} = page.sectionAt(place);
  return {number, heading};
}
