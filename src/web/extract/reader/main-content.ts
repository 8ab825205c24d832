// Reader mode: finds the main content of a page.

import {documentTitle} from '../about.ts';
import type {DocumentScan} from '../scan-document.ts';
import {ROLE, roleOf, TAG} from '../tree/tags.ts';
import {DOCUMENT, type Tree} from '../tree/tree.ts';
import {commentsOf} from './article-parts.ts';
import {BlockFeatures} from './block-features.ts';
import {fittedTrees, scoreOf, type Trees} from './block-score.ts';
import {chooseBlocks} from './choose-blocks.ts';
import {layoutTablesOf} from './layout-tables.ts';
import {headingLevelOf, type PageBlocks, PLACE} from './page-blocks.ts';
import {formOf} from './page-form.ts';
import {readBlocks} from './read-blocks.ts';
import {headlineOf} from './title-blocks.ts';

/** R2: what of a document is its main content, as the conversion takes it. */
export function scanMainContent(tree: Tree, trees: Trees = fittedTrees()): DocumentScan {
  const page = readBlocks(tree);
  const scores = scoreBlocks(page, trees);
  const title = documentTitle(tree);
  const {kept} = chooseBlocks(page, scores, {
    headlineOf: withHidden => headlineOf(tree, page, title, withHidden),
    commentsOf: kept => commentsOf(tree, page, kept),
  });
  const removed = removedNodes(tree, page, kept);
  const form = formOf(tree, page, removed);
  return {removed, roots: [DOCUMENT], layoutTables: layoutTablesOf(tree, page), form};
}

function scoreBlocks(page: PageBlocks, trees: Trees): Float64Array {
  const count = page.blocks.units.length;
  const scores = new Float64Array(count);
  const features = new BlockFeatures(page);
  for (let block = 0; block < count; block++) {
    const row = features.fill(block);
    if ((page.blocks.units[block] ?? 0) > 0) scores[block] = scoreOf(row, trees);
  }
  return scores;
}

/**
 * 1 for what is not kept. An element without anything that is kept goes as a whole, but a cell leaves its place, and a rule
 * divides two texts.
 */
function removedNodes(tree: Tree, page: PageBlocks, kept: Uint8Array): Uint8Array {
  const {blocks, elements, leaves, dropped} = page;
  const removed = new Uint8Array(tree.size);
  for (const node of dropped) removed[node] = 1;
  const keptBefore = new Int32Array(kept.length + 1);
  for (let block = 0; block < kept.length; block++) {
    keptBefore[block + 1] = (keptBefore[block] ?? 0) + (kept[block] ?? 0);
    if (kept[block] === 1) continue;
    const end = blocks.firstLeaf[block + 1] ?? leaves.length;
    for (let leaf = blocks.firstLeaf[block] ?? 0; leaf < end; leaf++) removed[leaves[leaf] ?? 0] = 1;
  }
  const rules = keptRules(page, kept);
  for (let element = 1; element < elements.node.length; element++) {
    const first = keptBefore[elements.firstBlock[element] ?? 0] ?? 0;
    if ((keptBefore[elements.endBlock[element] ?? 0] ?? 0) > first) continue;
    const tag = elements.tag[element] ?? TAG.none;
    if (tag === TAG.hr && rules.has(element)) continue;
    if (roleOf(tag) !== ROLE.cell) removed[elements.node[element] ?? 0] = 1;
  }
  return removed;
}

/** The rules (`hr`) between two texts that are both kept, one for each pair; beside a heading they say nothing. */
function keptRules({blocks, elements}: PageBlocks, kept: Uint8Array): ReadonlySet<number> {
  const rules = new Set<number>();
  const isText = (block: number): boolean =>
    kept[block] === 1 && headingLevelOf(blocks.place[block] ?? 0) === 0;
  let waiting = -1;
  let before = -1;
  let block = 0;
  const readUpTo = (end: number): void => {
    for (; block < end; block++) {
      if ((blocks.units[block] ?? 0) === 0 || ((blocks.place[block] ?? 0) & PLACE.hidden) !== 0) continue;
      if (waiting >= 0 && isText(block)) rules.add(waiting);
      waiting = -1;
      before = block;
    }
  };
  for (let element = 1; element < elements.node.length; element++) {
    if (elements.tag[element] !== TAG.hr || ((elements.place[element] ?? 0) & PLACE.hidden) !== 0) continue;
    readUpTo(elements.firstBlock[element] ?? 0);
    if (before >= 0 && isText(before)) waiting = element;
  }
  readUpTo(kept.length);
  return rules;
}
