import {contentEnd} from '../chunk/white-space.ts';
import {chunkGrid, type GridChunk} from './chunk-grid.ts';
import {markSyntax} from './markdown/mark-syntax.ts';
import {type Segment, segmentsOf} from './markdown/segments-of.ts';
import {linkCuts, shownText} from './markdown/shown-text.ts';
import {type PageSection, sectionsOf} from './sections-of.ts';

export type Links = 'drop' | 'keep';

/** A document with what reading needs to know of it, each worked out when it is asked for. Lines end in LF. */
export class ReadablePage {
  readonly markdown: string;
  readonly segments: readonly Segment[];
  readonly sections: readonly PageSection[];
  readonly marks: Uint8Array;
  readonly countTokens: (text: string) => number;
  readonly #cuts: readonly number[];
  #chunks: readonly GridChunk[] | undefined;
  #sums: Float64Array | undefined;

  constructor(markdown: string, links: Links, countTokens: (text: string) => number) {
    this.markdown = markdown;
    this.countTokens = countTokens;
    this.segments = segmentsOf(markdown);
    this.sections = sectionsOf(markdown, this.segments);
    this.marks = markSyntax(markdown, this.segments);
    this.#cuts = links === 'drop' ? linkCuts(this.marks) : [];
  }

  get chunks(): readonly GridChunk[] {
    this.#chunks ??= chunkGrid(this.markdown, this.segments, this.countTokens);
    return this.#chunks;
  }

  /** What a reader gets of `[from, to)`. */
  shown(from: number, to: number): string {
    return shownText(this.markdown, from, to, this.#cuts);
  }

  /** Exact tokens of what is shown of some segments, without the white space at the end. */
  tokensOfSegments(first: number, behind: number): number {
    const sums = this.#tokenSums();
    for (let last = behind - 1; last >= first; last -= 1) {
      const {start, end} = this.segments[last] as Segment;
      const shown = this.shown(start, end);
      const length = contentEnd(shown, 0, shown.length);
      // Tokens never reach from one block into the next, so those in front add up.
      if (length > 0) return this.#between(sums, first, last) + this.countTokens(shown.slice(0, length));
    }
    return 0;
  }

  get totalTokens(): number {
    return this.tokensOfSegments(0, this.segments.length);
  }

  /** The number (from 0) of the chunk that `place` lies in. */
  chunkAt(place: number): number {
    const {chunks} = this;
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((chunks[middle] as GridChunk).end <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The innermost section that `place` lies in. */
  sectionAt(place: number): PageSection {
    const {sections} = this;
    let low = 0;
    let high = sections.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((sections[middle] as PageSection).start <= place) low = middle;
      else high = middle - 1;
    }
    return sections[low] as PageSection;
  }

  /** Ruling R1: positions are code points. */
  codePointsBefore(place: number): number {
    let count = place;
    for (let at = 1; at < place; at += 1) {
      if (
        (this.markdown.charCodeAt(at) & 0xfc00) === 0xdc00 &&
        (this.markdown.charCodeAt(at - 1) & 0xfc00) === 0xd800
      ) {
        count -= 1;
      }
    }
    return count;
  }

  /** Tokens of what is shown of all segments in front of each. */
  #tokenSums(): Float64Array {
    if (this.#sums) return this.#sums;
    const sums = new Float64Array(this.segments.length + 1);
    for (const [index, {start, end}] of this.segments.entries()) {
      sums[index + 1] = (sums[index] as number) + this.countTokens(this.shown(start, end));
    }
    this.#sums = sums;
    return sums;
  }

  #between(sums: Float64Array, first: number, behind: number): number {
    return (sums[behind] as number) - (sums[first] as number);
  }
}
