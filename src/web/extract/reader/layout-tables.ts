// Tells tables that lay out a page from tables of data.

import {ATTRIBUTE, ROLE, roleOf, TAG} from '../tree/tags.ts';
import type {Tree} from '../tree/tree.ts';
import {headingLevelOf, type PageBlocks} from './page-blocks.ts';

const LAYOUT_ROLE = /^\s*(?:presentation|none)\s*$/i;
/** More blocks a cell than this, at the mean, are no figures and no terms. */
const MOST_BLOCKS = 4;

interface OpenTable {
  readonly element: number;
  cells: number;
  cellsInRow: number;
  width: number;
  rows: number;
}

/**
 * D9, and beyond it tables of one row or with headings inside: they place what they hold, and it is written as it would
 * be without them.
 */
export function layoutTablesOf(tree: Tree, {blocks, elements}: PageBlocks): ReadonlySet<number> {
  const layout = new Set<number>();
  const open: OpenTable[] = [];
  const isHeading = (block: number): boolean => headingLevelOf(blocks.place[block] ?? 0) > 0;
  const headings = new Int32Array(blocks.units.length + 1);
  for (let block = 0; block < blocks.units.length; block++) {
    headings[block + 1] = (headings[block] ?? 0) + (isHeading(block) ? 1 : 0);
  }
  const close = ({element, cells, width, rows}: OpenTable): void => {
    const first = elements.firstBlock[element] ?? 0;
    const end = elements.endBlock[element] ?? 0;
    const isPlain = width > 1 && rows > 1 && end - first <= cells * MOST_BLOCKS;
    const holdsHeading = (headings[end] ?? 0) > (headings[first] ?? 0);
    if (!isPlain || holdsHeading) layout.add(elements.node[element] ?? 0);
  };
  for (let element = 1; element < elements.node.length; element++) {
    const tag = elements.tag[element] ?? 0;
    const role = roleOf(tag);
    if (role !== ROLE.table && role !== ROLE.row && role !== ROLE.cell) continue;
    const depth = elements.depth[element] ?? 0;
    // A table that stands deeper than one before it need not be inside: its text is behind the end of that one.
    const start = tag === TAG.table ? (elements.firstBlock[element] ?? 0) : -1;
    for (let last = open.at(-1); last; last = open.at(-1)) {
      const isInside = (elements.depth[last.element] ?? 0) < depth;
      if (isInside && start < (elements.endBlock[last.element] ?? 0)) break;
      open.pop();
      close(last);
    }
    const table = open.at(-1);
    if (tag === TAG.table) {
      const node = elements.node[element] ?? 0;
      if (LAYOUT_ROLE.test(tree.attribute(node, ATTRIBUTE.role) ?? '')) layout.add(node);
      if (table) layout.add(elements.node[table.element] ?? 0);
      open.push({element, cells: 0, cellsInRow: 0, width: 0, rows: 0});
    } else if (table && role === ROLE.row) {
      table.rows++;
      table.cellsInRow = 0;
    } else if (table) {
      table.cells++;
      table.cellsInRow++;
      table.width = Math.max(table.width, table.cellsInRow);
    }
  }
  for (const table of open) close(table);
  return layout;
}
