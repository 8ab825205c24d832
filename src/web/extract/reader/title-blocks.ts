// Finds the blocks that say the title of the page.

import {TAG} from '../tree/tags.ts';
import type {Tree} from '../tree/tree.ts';
import {headingElement, headingLevelOf, type PageBlocks, PLACE} from './page-blocks.ts';

const WORD = /[\p{L}\p{N}]+/gu;
const AROUND_PAGE = PLACE.navigation | PLACE.footer | PLACE.hidden | PLACE.dialog;

interface Heading {
  readonly element: number;
  readonly blocks: number[];
  readonly level: number;
}

/**
 * The heading that is the page's title: of those with half their words in `<title>` the one that agrees with it best, where a
 * link counts half, as names of sites are links. An `h1` comes before all others; without any, a lower heading is taken that
 * is half the title. Where none agrees it is the first `h1` that is no link. Its blocks, as a break may divide it.
 */
export function titleBlocks(
  tree: Tree,
  page: PageBlocks,
  title: string | undefined,
  withHidden = false,
): readonly number[] {
  const headings = headingsOf(page, withHidden ? AROUND_PAGE & ~PLACE.hidden : AROUND_PAGE);
  const top = headings.filter(({level}) => level === 1);
  const wanted = new Set(wordsOf(title ?? ''));
  let named: Heading | undefined;
  let best = 0;
  for (const heading of top.length > 0 ? top : headings) {
    const words = heading.blocks.flatMap(block => wordsOf(textOfBlock(tree, page, block)));
    const agreement = agreementOf(words, wanted, isLink(page, heading), heading.level);
    // Of two that agree alike the higher one is it: the other is in a list of links, or beside buttons.
    const isBetter = agreement > best || (agreement === best && heading.level < (named?.level ?? 0));
    if (!isBetter) continue;
    best = agreement;
    named = heading;
  }
  named ??= top.length === 1 ? top[0] : top.find(heading => !isLink(page, heading));
  return named?.blocks ?? [];
}

/** What the page is headed by. */
export interface Headline {
  readonly blocks: readonly number[];
  /** The title of the page says nearly all of it. */
  readonly isInTitle: boolean;
}

/** The title says so many of its words. */
const SAID = 0.75;

export function headlineOf(
  tree: Tree,
  page: PageBlocks,
  title: string | undefined,
  withHidden: boolean,
): Headline {
  const blocks = titleBlocks(tree, page, title, withHidden);
  // A fragment of a page has no title that could stand above it.
  if (tree.elements(TAG.title).length === 0) return {blocks, isInTitle: false};
  const words = blocks.flatMap(block => wordsOf(textOfBlock(tree, page, block)));
  const said = new Set(wordsOf(title ?? ''));
  return {blocks, isInTitle: words.filter(word => said.has(word)).length >= SAID * words.length};
}

/** The words in common as a share of all; 0 where they are too few to say anything. */
function agreementOf(
  words: readonly string[],
  wanted: ReadonlySet<string>,
  isLinked: boolean,
  level: number,
): number {
  const number = words.filter(word => wanted.has(word)).length;
  if (number * 2 < words.length) return 0;
  const distinct = new Set(words);
  let common = 0;
  for (const word of distinct) if (wanted.has(word)) common++;
  const isHalf = common * 2 >= wanted.size;
  if (!isHalf && (isLinked || level > 1)) return 0;
  if (level > 1 && number < words.length) return 0;
  return (isLinked ? 0.5 : 1) * (common / (distinct.size + wanted.size - common));
}

function headingsOf({blocks, elements}: PageBlocks, outside: number): readonly Heading[] {
  const found: Heading[] = [];
  for (let block = 0; block < blocks.units.length; block++) {
    const place = blocks.place[block] ?? 0;
    const level = headingLevelOf(place);
    if (level === 0 || (place & outside) !== 0 || (blocks.units[block] ?? 0) === 0) continue;
    const element = headingElement(elements, blocks.element[block] ?? 0);
    const last = found.at(-1);
    if (last?.element === element) last.blocks.push(block);
    else found.push({element, blocks: [block], level});
  }
  return found;
}

function isLink({blocks}: PageBlocks, heading: Heading): boolean {
  return heading.blocks.every(block => (blocks.linkUnits[block] ?? 0) === (blocks.units[block] ?? 0));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

function textOfBlock(tree: Tree, {blocks, leaves}: PageBlocks, block: number): string {
  const end = blocks.firstLeaf[block + 1] ?? leaves.length;
  return leaves
    .slice(blocks.firstLeaf[block] ?? 0, end)
    .map(leaf => tree.text(leaf))
    .join('');
}
