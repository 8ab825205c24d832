import {ATTRIBUTE} from './attribute.ts';
import {isBoilerplate} from './boilerplate.ts';
import {TAG} from './tag.ts';
import {DOCUMENT, NONE, type Tree} from './tree.ts';

export interface Survey {
  /** 1 for every boilerplate element; what is inside one is not marked and not to be entered. */
  readonly removed: Uint8Array;
  /** FR-WF-EXT-ROOT-01: the elements that may be the root, in the order in which they are tried. */
  readonly roots: readonly number[];
  /** D9: tables that hold a table or say that they are presentation. */
  readonly layoutTables: ReadonlySet<number>;
}

const CONTENT_CLASS = /(?:^|[ \t\n\f\r])content(?![^ \t\n\f\r])/i;
const LAYOUT_ROLE = /^\s*(?:presentation|none)\s*$/i;
const MAIN_ROLE = /^\s*main\s*$/i;

const ROOT_KINDS = 6;

/** One pass over a document that finds everything the conversion must know beforehand. */
export function surveyDocument(tree: Tree): Survey {
  const removed = new Uint8Array(tree.size);
  const firsts = new Int32Array(ROOT_KINDS);
  const layoutTables = new Set<number>();
  const openTables: number[] = [];

  let node = tree.firstChild(DOCUMENT);
  while (node !== NONE) {
    const tag = tree.tag(node);
    if (tag === TAG.text) {
      // Nothing to learn.
    } else if (isBoilerplate(tree, node)) {
      removed[node] = 1;
    } else {
      noteRoot(tree, node, tag, firsts);
      if (tag === TAG.table) {
        if (LAYOUT_ROLE.test(tree.attribute(node, ATTRIBUTE.role) ?? '')) layoutTables.add(node);
        const outer = openTables.at(-1);
        if (outer !== undefined) layoutTables.add(outer);
        openTables.push(node);
      }
      const child = tree.firstChild(node);
      if (child !== NONE) {
        node = child;
        continue;
      }
    }
    while (node !== NONE) {
      if (openTables.at(-1) === node) openTables.pop();
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

function noteRoot(tree: Tree, node: number, tag: number, firsts: Int32Array): void {
  if (tag === TAG.main) firsts[0] ||= node;
  else if (tag === TAG.article) firsts[1] ||= node;
  else if (tag === TAG.body) firsts[5] ||= node;
  if (!tree.hasAttributes(node)) return;
  if (firsts[2] === NONE && MAIN_ROLE.test(tree.attribute(node, ATTRIBUTE.role) ?? '')) firsts[2] = node;
  if (firsts[3] === NONE && tree.attribute(node, ATTRIBUTE.id)?.toLowerCase() === 'content') firsts[3] = node;
  if (firsts[4] === NONE && CONTENT_CLASS.test(tree.attribute(node, ATTRIBUTE.class) ?? '')) firsts[4] = node;
}
