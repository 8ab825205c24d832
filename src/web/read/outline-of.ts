import type {ReadablePage} from './readable-page.ts';
import type {OutlineLine} from './reading.ts';
import {renderOutlineLine} from './render-outline-line.ts';

export interface FittedOutline {
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
