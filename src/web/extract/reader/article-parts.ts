// Tells the text of an article from what else is kept of its page: comments, what stands before the headline, captions,
// and what follows the container of the text.

import {ATTRIBUTE} from '../tree/tags.ts';
import type {Tree} from '../tree/tree.ts';
import {SCALE} from './block-score.ts';
import {CLASS_CATEGORIES} from './class-evidence.ts';
import {type PageBlocks, PLACE} from './page-blocks.ts';

/** It has so much of the words that are kept. */
const SHARE = 0.6;
/** In an article so much of them is right in the container, and not in boxes of its own, as the posts of a thread are. */
const OWN_SHARE = 0.5;

interface TextContainer {
  /** Where its blocks end. */
  readonly endBlock: number;
  readonly isArticle: boolean;
}

/** The innermost element with several blocks and most of the words that are kept. */
export function textContainer({blocks, elements}: PageBlocks, kept: Uint8Array): TextContainer {
  const {parent, firstBlock, endBlock} = elements;
  const before = new Float64Array(kept.length + 1);
  for (let block = 0; block < kept.length; block++) {
    before[block + 1] = (before[block] ?? 0) + (kept[block] === 1 ? (blocks.words[block] ?? 0) : 0);
  }
  const wordsIn = (element: number): number =>
    (before[endBlock[element] ?? 0] ?? 0) - (before[firstBlock[element] ?? 0] ?? 0);
  const total = before[kept.length] ?? 0;
  let container = 0;
  for (let element = 1; element < parent.length; element++) {
    // A paragraph is none.
    const isOne = (endBlock[element] ?? 0) - (firstBlock[element] ?? 0) < 2;
    if (!isOne && parent[element] === container && wordsIn(element) >= SHARE * total) container = element;
  }
  let own = 0;
  const end = endBlock[container] ?? 0;
  for (let block = firstBlock[container] ?? 0; block < end; block++) {
    const element = blocks.element[block] ?? 0;
    const isOwn = element === container || parent[element] === container;
    if (kept[block] === 1 && isOwn) own += blocks.words[block] ?? 0;
  }
  return {endBlock: end, isArticle: total > 0 && own >= OWN_SHARE * total};
}

/** Below such a score a block behind the container goes, and a caption. */
const BEHIND = 1 * SCALE;
const CAPTION = 2 * SCALE;

/** Drops what is not the text of an article. Forums, shops and lists have no such container, and lose nothing. */
export function trimArticle(
  page: PageBlocks,
  scores: Float64Array,
  kept: Uint8Array,
  headline: readonly number[],
): void {
  dropBeforeHeadline(page, kept, headline);
  const {endBlock} = textContainer(page, kept);
  for (let block = 0; block < kept.length; block++) {
    const score = scores[block] ?? 0;
    const isBehind = block >= endBlock && score <= BEHIND;
    if (isBehind || (isCaption(page.blocks.place[block] ?? 0) && score <= CAPTION)) kept[block] = 0;
  }
}

export function isCaption(place: number): boolean {
  return (place & PLACE.caption) !== 0 && (place & PLACE.figure) !== 0;
}

/** Tickers and teasers; not where most of the text stands there. */
function dropBeforeHeadline({blocks}: PageBlocks, kept: Uint8Array, [first]: readonly number[]): void {
  if (first === undefined) return;
  let before = 0;
  let words = 0;
  for (let block = 0; block < kept.length; block++) {
    if (kept[block] === 0) continue;
    words += blocks.words[block] ?? 0;
    if (block < first) before += blocks.words[block] ?? 0;
  }
  if (before * 2 <= words) kept.fill(0, 0, first);
}

const CATEGORIES = CLASS_CATEGORIES.length;
const COMMENTS = CLASS_CATEGORIES.indexOf('comments');
const ARTICLE = CLASS_CATEGORIES.indexOf('article');
/** Names of what holds the posts of a forum. A blog puts the terms of a post into names of its own. */
const THREAD_CLASS = /forum|thread|topic|message|question|discussion/i;
const TERMS = /(?:^|\s)(?:category|tag)-\S+/g;
const LONGEST_CLASS = 400;
/** Fewer words before the comments are no article. */
const LEAST_WORDS = 50;

/** 1 for each kept block that is a comment on an article. The replies of a thread are what it is read for. */
export function commentsOf(tree: Tree, page: PageBlocks, kept: Uint8Array): Uint8Array {
  const {blocks, elements, classRows} = page;
  const comments = new Uint8Array(kept.length);
  const has = (block: number, category: number): boolean =>
    (classRows[(elements.classRow[blocks.element[block] ?? 0] ?? 0) * CATEGORIES + category] ?? 0) > 0;
  let first = -1;
  for (let block = 0; block < kept.length; block++) {
    if (kept[block] === 0 || !has(block, COMMENTS)) continue;
    comments[block] = 1;
    if (first < 0) first = block;
  }
  if (first < 0) return comments;
  const isThread = threadElements(tree, page);
  let words = 0;
  let inArticle = 0;
  let inThread = 0;
  for (let block = 0; block < first; block++) {
    if (kept[block] === 0) continue;
    const own = blocks.words[block] ?? 0;
    words += own;
    const isArticle = ((blocks.place[block] ?? 0) & (PLACE.article | PLACE.articleBody)) !== 0;
    if (isArticle || has(block, ARTICLE)) inArticle += own;
    if (isThread[blocks.element[block] ?? 0] === 1) inThread += own;
  }
  const isArticle = words >= LEAST_WORDS && inArticle * 2 >= words && inThread * 2 <= words;
  return isArticle ? comments : comments.fill(0);
}

/** 1 for each element that is named as a thread, or is in one. The names of `html` and `body` tell of the whole site. */
function threadElements(tree: Tree, {elements}: PageBlocks): Uint8Array {
  const {node, parent, depth} = elements;
  const isThread = new Uint8Array(node.length);
  for (let element = 1; element < node.length; element++) {
    if ((depth[element] ?? 0) <= 2) continue;
    const at = node[element] ?? 0;
    const names = `${tree.attribute(at, ATTRIBUTE.class)?.slice(0, LONGEST_CLASS) ?? ''} ${tree.attribute(at, ATTRIBUTE.id) ?? ''}`;
    const isNamed = names !== ' ' && THREAD_CLASS.test(names.replace(TERMS, ''));
    isThread[element] = isNamed || isThread[parent[element] ?? 0] === 1 ? 1 : 0;
  }
  return isThread;
}
