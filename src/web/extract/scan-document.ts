// One pass over a tree: what in it is furniture, and how the page is built.

import {type DocumentForm, isHidden} from './tree/element-facts.ts';
import {ATTRIBUTE, ROLE, roleOf, TAG} from './tree/tags.ts';
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

// biome-ignore format: a list
const BLOCKS: ReadonlySet<number> = new Set([
  ROLE.block, ROLE.heading, ROLE.list, ROLE.item, ROLE.preformatted, ROLE.quote, ROLE.rule, ROLE.term,
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

const TOKENS = 'nav|menu|sidebar|footer|header|advertisement|ad|social|related|comments';
const CLASS = new RegExp(`(?:^|[ \\t\\n\\f\\r])(?:${TOKENS})(?![^ \\t\\n\\f\\r])`, 'i');
const ID = new RegExp(`^(?:${TOKENS})$`, 'i');

/**
 * FR-WF-13 steps 1 to 3: whether an element is left out, with all that is in it. `isKept` is one whose name alone
 * would drop it.
 */
function isBoilerplate(tree: Tree, node: number, isKept = false): boolean {
  const tag = tree.tag(node);
  if (roleOf(tag) === ROLE.dropped && !isKept) return true;
  // A closed dialog is as invisible as any other hidden element.
  if (tag === TAG.dialog && tree.attribute(node, ATTRIBUTE.open) === undefined) return true;
  if (!tree.hasAttributes(node)) return false;
  return isHidden(tree, node) || isAriaHidden(tree, node) || hasToken(tree, node, tag);
}

function isAriaHidden(tree: Tree, node: number): boolean {
  return tree.attribute(node, ATTRIBUTE['aria-hidden'])?.trim().toLowerCase() === 'true';
}

// FR-WF-EXT-CLASS-01: whole tokens only. D2: html and body are exempt.
function hasToken(tree: Tree, node: number, tag: number): boolean {
  if (tag === TAG.html || tag === TAG.body) return false;
  const className = tree.attribute(node, ATTRIBUTE.class);
  if (className !== undefined && CLASS.test(className)) return true;
  const id = tree.attribute(node, ATTRIBUTE.id);
  return id !== undefined && ID.test(id);
}

/** A heading has few parts; one with more is no accordion, and looking costs the same for all. */
const MOST_NODES = 100;

/** D2: the `button` that is all of a heading, as in accordions; `NONE` where something else is beside it. */
function soleButton(tree: Tree, heading: number): number {
  let button = NONE;
  let looked = 0;
  let node = tree.firstChild(heading);
  while (node !== NONE) {
    looked += 1;
    if (looked > MOST_NODES) return NONE;
    const tag = tree.tag(node);
    const isBlank = tag !== TAG.text || tree.text(node).trim() === '';
    if (!isBlank || tag === TAG.img) return NONE;
    if (tag === TAG.button) {
      if (button !== NONE) return NONE;
      button = node;
    }
    node = tag === TAG.button ? tree.followingSkipped(node, heading) : tree.following(node, heading);
  }
  return button;
}
