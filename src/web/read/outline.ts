// The headings of a document: as lines that fit a limit, and as a tree with token counts.

import {withLineFeeds} from '../chunk/blocks.ts';
import {segmentsOf} from './markdown-syntax.ts';
import {type ReadablePage, sectionsOf} from './readable-page.ts';
import {type OutlineLine, renderOutlineLine} from './reading.ts';

interface FittedOutline {
  readonly lines: readonly OutlineLine[];
  readonly leftOut: number;
  /** Of the lines as text. */
  readonly tokens: number;
}

const DEEPEST = 6;

/** The sections of a page as far as `maxTokens` reaches: the deepest levels go first, then the last lines. */
export function outlineOf(page: ReadablePage, maxTokens: number): FittedOutline {
  const {sections} = page;
  const there = sections.filter(({number, first, behind}) => number > 0 || behind > first);
  const known = new Map<number, OutlineLine & {readonly own: number}>();
  const lineOf = (number: number): OutlineLine & {readonly own: number} => {
    const made = known.get(number);
    if (made) return made;
    const {level, heading, first, behind} = sections[number] as (typeof sections)[number];
    const line = {number, heading, level, tokens: page.tokensOfSegments(first, behind)};
    const priced = {...line, own: page.countTokens(`${renderOutlineLine(line)}\n`)};
    known.set(number, priced);
    return priced;
  };
  const levels = new Set(there.map(({level}) => level));
  for (let level = DEEPEST; ; level -= 1) {
    if (level > 1 && !levels.has(level)) continue;
    const shown = there.filter(section => section.level <= level);
    const lines: OutlineLine[] = [];
    let tokens = 0;
    for (const {number} of shown) {
      const {own, ...line} = lineOf(number);
      if (tokens + own > maxTokens) break;
      tokens += own;
      lines.push(line);
    }
    const isTop = [...levels].every(other => other >= level || other === 0);
    if (lines.length === shown.length || isTop) {
      return {lines, leftOut: there.length - lines.length, tokens};
    }
  }
}

export interface OutlineSection {
  /** As in `heading` of a chunk, inline markup included; '' for what stands before the first heading. */
  readonly heading: string;
  /** 1 to 6; 0 for what stands before the first heading. */
  readonly level: number;
  /** cl100k tokens of the heading and the text up to the next heading of any level. */
  readonly tokens: number;
  /** The same, with the sections below this one. */
  readonly tokens_with_subsections: number;
  readonly sections: readonly OutlineSection[];
}

export interface Outline {
  /** cl100k tokens of the whole document. */
  readonly total_tokens: number;
  readonly sections: readonly OutlineSection[];
}

/**
 * The headings of a document as a tree. Every number is an exact count of its own piece of text. Tokens can reach
 * over the place where two pieces meet, so the parts need not add up to the whole.
 */
export function outlineMarkdown(text: string, countTokens: (text: string) => number): Outline {
  const markdown = withLineFeeds(text);
  const segments = segmentsOf(markdown);
  const count = (from: number, to: number): number => countTokens(markdown.slice(from, to).trim());
  const top: OutlineSection[] = [];
  const below: OutlineSection[][] = [];
  const sections = sectionsOf(markdown, segments);
  for (const {number, level, first, start, end, parent} of sections) {
    const next = sections[number + 1]?.start ?? markdown.length;
    const tokens = count(start, next);
    const own: OutlineSection[] = [];
    below.push(own);
    if (number === 0 && tokens === 0) continue;
    (parent === undefined ? top : below[parent])?.push({
      heading: number === 0 ? '' : (segments[first]?.block.heading ?? ''),
      level,
      tokens,
      tokens_with_subsections: end === next ? tokens : count(start, end),
      sections: own,
    });
  }
  return {total_tokens: count(0, markdown.length), sections: top};
}
