import {type Block, startsItem} from './blocks.ts';
import {closesFence, type Fence, leavesItem, openingFence} from './fence.ts';
import {contentEnd, contentStart, isWhiteSpace} from './white-space.ts';

/** How good it is to cut behind an atom; the lowest wins. */
const TOP_ITEM = 0;
const NESTED_ITEM = 1;
const DEEP_ITEM = 2;
const SENTENCE = 3;
const WORD = 4;

/**
 * A stretch of a block that is kept together. `[from, next)` tile the block, and their counts add up;
 * `[start, end)` is the same without the white space that vanishes when a piece starts or ends here.
 */
export interface Atom {
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly next: number;
  readonly rank: number;
  /** E4: a line of code is never cut. */
  readonly whole: boolean;
}

/** Whether a stretch of a block is within the limit. */
export type Fits = (start: number, end: number) => boolean;

/** Takes an oversized block apart, no further than it takes for every atom to fit, if it can. */
export function atomsOf(block: Block, fits: Fits): Atom[] {
  const {text} = block;
  const atoms: Atom[] = [];
  if (block.kind === 'code') addLines(atoms, text, 0, text.length, SENTENCE);
  else if (block.kind === 'list') addItems(atoms, text, fits);
  else addSentences(atoms, text, 0, text.length, WORD, fits);
  return atoms;
}

/** FR-WF-CHK-LIST-02: whole items, and where an item is too large, what it consists of. */
function addItems(atoms: Atom[], text: string, fits: Fits): void {
  let itemStart = 0;
  let fence: Fence | undefined;
  for (const [start, end] of linesOf(text, 0, text.length)) {
    const line = text.slice(start, end);
    if (fence && !leavesItem(line, fence)) {
      if (closesFence(line, fence)) fence = undefined;
      continue;
    }
    fence = openingFence(line, true);
    if (start === itemStart || !startsItem(line, true)) continue;
    addItem(atoms, text, itemStart, start, rankBefore(line), fits);
    itemStart = start;
  }
  addItem(atoms, text, itemStart, text.length, TOP_ITEM, fits);
}

/** A cut before an item of the outermost level leaves the items around it complete. */
function rankBefore(line: string): number {
  const indent = contentStart(line, 0, line.length);
  return indent < 2 ? TOP_ITEM : indent < 4 ? NESTED_ITEM : DEEP_ITEM;
}

function addItem(atoms: Atom[], text: string, start: number, next: number, rank: number, fits: Fits): void {
  const item = {from: start, start, end: contentEnd(text, start, next), next, rank, whole: false};
  if (fits(start, item.end)) {
    atoms.push(item);
    return;
  }
  let partStart = start;
  let fence: Fence | undefined;
  for (const [lineStart, lineEnd] of linesOf(text, start, next)) {
    const line = text.slice(lineStart, lineEnd);
    const after = Math.min(lineEnd + 1, next);
    if (fence) {
      const left = leavesItem(line, fence);
      if (!left && !closesFence(line, fence)) continue;
      const partEnd = left ? lineStart : afterBlanks(text, after, next);
      addCode(atoms, text, partStart, partEnd, partEnd < next ? SENTENCE : rank, fits);
      partStart = partEnd;
      fence = undefined;
      continue;
    }
    fence = openingFence(line, true);
    if (!fence) continue;
    addSentences(atoms, text, partStart, lineStart, SENTENCE, fits, partStart === start);
    partStart = lineStart;
  }
  if (fence) addCode(atoms, text, partStart, next, rank, fits);
  else addSentences(atoms, text, partStart, next, rank, fits, partStart === start);
}

/** The start of the first line from `from` on that is not blank: no cut adds up before a blank line. */
function afterBlanks(text: string, from: number, to: number): number {
  const content = contentStart(text, from, to);
  return content === to ? to : text.lastIndexOf('\n', content) + 1;
}

function addCode(atoms: Atom[], text: string, start: number, next: number, rank: number, fits: Fits): void {
  const end = contentEnd(text, start, next);
  if (!fits(start, end)) addLines(atoms, text, start, next, rank);
  else atoms.push({from: start, start, end, next, rank, whole: true});
}

/** FR-WF-CHK-CODE-01: lines, each with the blank lines that follow it. `to` is as for `linesOf`. */
function addLines(atoms: Atom[], text: string, from: number, to: number, lastRank: number): void {
  for (let start = from; start < to; ) {
    const newline = text.indexOf('\n', start);
    const lineEnd = newline < 0 ? to : newline;
    const next = afterBlanks(text, Math.min(lineEnd + 1, to), to);
    const rank = next < to ? SENTENCE : lastRank;
    atoms.push({from: start, start, end: contentEnd(text, start, lineEnd), next, rank, whole: true});
    start = next;
  }
}

/**
 * FR-WF-15b: sentences, and where a sentence is too large, its words. The last atom ranks as `lastRank`. E5: at
 * the start of an item, its marker and its first word are one.
 */
function addSentences(
  atoms: Atom[],
  text: string,
  from: number,
  to: number,
  lastRank: number,
  fits: Fits,
  startsItem = false,
): void {
  let isMarker = startsItem;
  let words: Atom[] = [];
  // The first word keeps its indentation: it starts a line.
  let start = from;
  let share = from;
  let at = contentStart(text, from, to);
  while (at < to) {
    while (at < to && !isWhiteSpace(text.charCodeAt(at))) at++;
    const end = at;
    at = contentStart(text, at, to);
    if (isMarker && at < to) {
      isMarker = false;
      continue;
    }
    const next = at === to ? to : cutBetween(text, end, at);
    const rank = at === to ? lastRank : endsSentence(text.charCodeAt(end - 1)) ? SENTENCE : WORD;
    words.push({from: share, start, end, next, rank, whole: false});
    if (rank !== WORD || at === to) {
      addSentence(atoms, words, fits);
      words = [];
    }
    start = at;
    share = next;
  }
}

function addSentence(atoms: Atom[], words: readonly Atom[], fits: Fits): void {
  const first = words[0];
  const last = words.at(-1);
  if (!first || !last) return;
  const sentence = {...last, from: first.from, start: first.start};
  if (fits(first.start, last.end)) atoms.push(sentence);
  else for (const word of words) atoms.push(word);
}

/** Where, in the white space between two words, the counts of both sides add up. */
function cutBetween(text: string, from: number, to: number): number {
  return text.charCodeAt(from) === 0x0a ? text.lastIndexOf('\n', to - 1) + 1 : from;
}

function endsSentence(unit: number): boolean {
  return unit === 0x2e || unit === 0x21 || unit === 0x3f;
}

/** `to` is the start of a line or the end of the text. */
function* linesOf(text: string, from: number, to: number): Generator<readonly [number, number]> {
  for (let start = from; start < to; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? to : newline;
    yield [start, end];
    start = end + 1;
  }
}
