import type {Tree} from '../tree/tree.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from './blocks/place.ts';

const WORD = /[\p{L}\p{N}]+/gu;
const AROUND_PAGE = PLACE.navigation | PLACE.footer | PLACE.hidden | PLACE.dialog;

/**
 * The `h1` that is the page's title: the one that has half its words in `<title>`, else the only one there is.
 * Its blocks, as a break may divide it.
 */
export function titleBlocks(tree: Tree, page: PageBlocks, title: string | undefined): readonly number[] {
  const {blocks} = page;
  const found: {readonly element: number; readonly blocks: number[]}[] = [];
  for (let block = 0; block < blocks.units.length; block++) {
    const place = blocks.place[block] ?? 0;
    if (headingLevelOf(place) !== 1 || (place & AROUND_PAGE) !== 0 || (blocks.units[block] ?? 0) === 0)
      continue;
    const element = blocks.element[block] ?? 0;
    const last = found.at(-1);
    if (last?.element === element) last.blocks.push(block);
    else found.push({element, blocks: [block]});
  }
  const wanted = new Set(wordsOf(title ?? ''));
  const named = found.find(heading => {
    const words = heading.blocks.flatMap(block => wordsOf(textOfBlock(tree, page, block)));
    return words.length > 0 && words.filter(word => wanted.has(word)).length * 2 >= words.length;
  });
  return named?.blocks ?? (found.length === 1 ? (found[0]?.blocks ?? []) : []);
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
