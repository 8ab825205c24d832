import {isBoilerplate} from './boilerplate.ts';
import {ATTRIBUTE} from './tree/attribute.ts';
import type {DocumentForm} from './tree/document-form.ts';
import {ROLE, roleOf} from './tree/element-role.ts';
import {soleButton} from './tree/sole-button.ts';
import {TAG} from './tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from './tree/tree.ts';

export interface DocumentScan {
  /** 1 for every boilerplate element; what is inside one is not marked and not to be entered. */
  readonly removed: Uint8Array;
  /** FR-WF-EXT-ROOT-01: the elements that may be the root, in the order in which they are tried. */
  readonly roots: readonly number[];
  /** D9: tables that hold a table, say that they are presentation, or have one column of blocks. */
  readonly layoutTables: ReadonlySet<number>;
  /** R2: of the reader's mode. */
  readonly form?: DocumentForm;
}

const CONTENT_CLASS = /(?:^|[ \t\n\f\r])content(?![^ \t\n\f\r])/i;
const LAYOUT_ROLE = /^\s*(?:presentation|none)\s*$/i;
const MAIN_ROLE = /^\s*main\s*$/i;

const ROOT_KINDS = 6;

/** A table whose end has not been reached. */
interface OpenTable {
  readonly node: number;
  cellsInRow: number;
  width: number;
  holdsBlocks: boolean;
}

const BLOCKS: ReadonlySet<number> = new Set([
  ROLE.block,
  ROLE.heading,
  ROLE.list,
  ROLE.item,
  ROLE.preformatted,
  ROLE.quote,
  ROLE.rule,
  ROLE.term,
]);
/** Blocks that are parts of the table itself. */
const TABLE_PARTS: ReadonlySet<number> = new Set([TAG.thead, TAG.tbody, TAG.tfoot, TAG.colgroup, TAG.col]);

/** One pass over a document that finds everything the conversion must know beforehand. */
export function scanDocument(tree: Tree): DocumentScan {
  const removed = new Uint8Array(tree.size);
  const firsts = new Int32Array(ROOT_KINDS);
  const layoutTables = new Set<number>();
  const openTables: OpenTable[] = [];
  let keptButton = NONE;

  let node = tree.firstChild(DOCUMENT);
  while (node !== NONE) {
    const tag = tree.tag(node);
    if (tag === TAG.text) {
      // Nothing to learn.
    } else if (isBoilerplate(tree, node, node === keptButton)) {
      removed[node] = 1;
    } else {
      noteRoot(tree, node, tag, firsts);
      const role = roleOf(tag);
      if (role === ROLE.heading) keptButton = soleButton(tree, node);
      const outer = openTables.at(-1);
      if (outer !== undefined) noteTablePart(outer, tag, role);
      if (tag === TAG.table) {
        if (LAYOUT_ROLE.test(tree.attribute(node, ATTRIBUTE.role) ?? '')) layoutTables.add(node);
        if (outer !== undefined) layoutTables.add(outer.node);
        openTables.push({node, cellsInRow: 0, width: 0, holdsBlocks: false});
      }
      const child = tree.firstChild(node);
      if (child !== NONE) {
        node = child;
        continue;
      }
    }
    while (node !== NONE) {
      const table = openTables.at(-1);
      if (table?.node === node) {
        openTables.pop();
        if (table.width === 1 && table.holdsBlocks) layoutTables.add(node);
      }
      const next = tree.nextSibling(node);
      if (next !== NONE) {
        node = next;
        break;
      }
      node = tree.parent(node);
    }
  }
  return {removed, roots: Array.from(firsts).filter(first => first !== NONE), layoutTables};
}

function noteTablePart(table: OpenTable, tag: number, role: number): void {
  if (role === ROLE.row) {
    table.cellsInRow = 0;
  } else if (role === ROLE.cell) {
    table.cellsInRow += 1;
    table.width = Math.max(table.width, table.cellsInRow);
  } else if (table.width > 0 && BLOCKS.has(role) && !TABLE_PARTS.has(tag)) {
    // Before the first cell it is the caption's.
    table.holdsBlocks = true;
  }
}

function noteRoot(tree: Tree, node: number, tag: number, firsts: Int32Array): void {
  if (tag === TAG.main) firsts[0] ||= node;
  else if (tag === TAG.article) firsts[1] ||= node;
  else if (tag === TAG.body) firsts[5] ||= node;
  if (!tree.hasAttributes(node)) return;
  if (firsts[2] === NONE && MAIN_ROLE.test(tree.attribute(node, ATTRIBUTE.role) ?? '')) firsts[2] = node;
  if (firsts[3] === NONE && tree.attribute(node, ATTRIBUTE.id)?.toLowerCase() === 'content') firsts[3] = node;
  if (firsts[4] === NONE && CONTENT_CLASS.test(tree.attribute(node, ATTRIBUTE.class) ?? '')) firsts[4] = node;
}
