import {AtomCounts} from './atom-counts.ts';
import {type Atom, atomsOf} from './atoms.ts';
import type {Block} from './blocks.ts';
import type {Limit} from './limit.ts';
import {longestPrefix} from './longest-prefix.ts';
import {TokenCounter} from './token-counter.ts';
import {contentEnd, contentStart} from './white-space.ts';

export interface Piece {
  readonly text: string;
  /** Where that starts in the block. */
  readonly start: number;
  readonly tokens: number;
}

/** UTF-8 spends three bytes on a unit at most, and a token spells a byte at least. */
const MOST_TOKENS_PER_UNIT = 3;
/** Prose has 3 to 5 units a token. A stretch above this is cut by search, not counted whole first. */
const DENSE = 8;

/**
 * FR-WF-15b, rulings E3 and E4: packs an oversized block into pieces up to the limit, each cut at the
 * best boundary within reach. Joined, the pieces give the block back but for white space at the cuts.
 */
export function splitBlock(
  block: Block,
  limit: Limit,
  counter: TokenCounter = new TokenCounter(limit, undefined),
): Piece[] {
  const {text} = block;
  const {maxTokens, countTokens} = limit;
  const firstSlot = counter.nextSlot;
  const atoms = atomsOf(block, (from, to) => {
    // Counted only where the length does not tell.
    if ((to - from) * MOST_TOKENS_PER_UNIT <= maxTokens) return true;
    return counter.count(block.start + from, text.slice(from, to)).tokens <= maxTokens;
  });
  counter.expectAgain(firstSlot);
  const counts = new AtomCounts(block, atoms, limit, counter);
  const pieces: Piece[] = [];
  let index = 0;
  let start = 0;
  let likely = 4 * maxTokens;
  for (let first = atoms[0]; first; first = atoms[index]) {
    let last = index;
    let end = first.end;
    let tokens: number;
    const dense = !first.whole && end - start > DENSE * maxTokens;
    const prefix = dense ? longestPrefix(text, start, end, likely, limit) : undefined;
    const cut = prefix && prefix.end < end ? undefined : bestCut(counts, index, start, maxTokens);
    const word = cut || first.whole ? start : contentStart(text, start, end);
    if (word > start) {
      // A word that has to be cut loses its indentation first: no piece is mere white space.
      start = word;
      continue;
    }
    if (cut) {
      ({last, end, tokens} = cut);
    } else if (first.whole) {
      // E4: an oversized line of code stays in one piece.
      tokens = countTokens(text.slice(start, end));
    } else {
      ({end, tokens} = prefix ?? longestPrefix(text, start, end, likely, limit));
      likely = end - start;
      // A marker and what it belongs to are one atom, with blanks between them.
      const shown = contentEnd(text, start, end);
      if (shown < end) tokens = countTokens(text.slice(start, shown));
      end = shown;
    }
    pieces.push({text: text.slice(start, end), start, tokens});
    if (end < first.end) {
      start = end;
    } else {
      index = last + 1;
      start = atoms[index]?.start ?? text.length;
    }
  }
  return pieces;
}

interface Cut {
  /** Index of the last atom of the piece. */
  readonly last: number;
  readonly end: number;
  readonly tokens: number;
}

/**
 * The last of the best cuts for a piece from `start`, which lies in the first atom; none if not even
 * that atom fits. An atom is looked at again only behind a better cut, so five times at most.
 */
function bestCut(counts: AtomCounts, first: number, start: number, maxTokens: number): Cut | undefined {
  const {atoms} = counts;
  let best: Cut | undefined;
  let bestRank = Number.POSITIVE_INFINITY;
  let before = 0;
  let from = start;
  for (let last = first; last < atoms.length; last++) {
    const {end, next, rank} = atoms[last] as Atom;
    const own = counts.toEnd(last, from);
    const tokens = before + own;
    if (tokens > maxTokens) break;
    // The end of the block is the best cut of all.
    if (rank <= bestRank || last === atoms.length - 1) {
      best = {last, end, tokens};
      bestRank = rank;
    }
    before += own + counts.behind(last, from);
    from = next;
  }
  return best;
}
