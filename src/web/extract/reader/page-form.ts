import {ATTRIBUTE} from '../tree/attribute.ts';
import type {DocumentForm} from '../tree/document-form.ts';
import {ROLE, roleOf} from '../tree/element-role.ts';
import {TAG} from '../tree/tag.ts';
import {textOf} from '../tree/text-of.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from './blocks/place.ts';
import {renderedBeside} from './blocks/tex-source.ts';

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const LETTER = /\p{L}/u;
const EDIT_CLASS = /(?:^|[\s_-])edit(?:section|link)?(?![a-z])/i;
const LINE_NUMBER_CLASS = /(?:^|\s)(?:line-?n(?:o|os|um|ums|umber|umbers)|linenodiv|gutter|ln)(?![\w-])/i;
const ADMONITION_CLASS = /(?:^|\s)(?:admonition|callout|markdown-alert)(?![\w-])/i;

/** R2: the form that a model reads well. Adds what is no text of the page to `removed`. */
export function formOf(tree: Tree, page: PageBlocks, removed: Uint8Array): DocumentForm {
  const roles = new Uint8Array(tree.size);
  const headings = new Map<number, string>();
  for (const link of page.fragmentLinks) settleFragmentLink(tree, link, headings, roles, removed);
  for (const source of page.formulas) {
    roles[source] = ROLE.code + 1;
    removed[source] = removed[tree.firstChild(source)] ?? 0;
    for (const node of renderedBeside(tree, source)) removed[node] = 1;
  }
  settleClasses(tree, page, roles, removed);
  dropRepeatedPictures(tree, page, removed);
  dropRepeatedTargets(tree, page, roles, removed);
  return {roles, levels: headingLevels(page, removed)};
}

/** Signs that lead back to a note or to the heading itself go; of all other links within the page the text stays. */
function settleFragmentLink(
  tree: Tree,
  link: number,
  headings: Map<number, string>,
  roles: Uint8Array,
  removed: Uint8Array,
): void {
  const text = textOf(tree, link);
  if (!LETTER_OR_DIGIT.test(text)) {
    removed[link] = 1;
    return;
  }
  // Markdown has no places to lead to: the text alone says as much.
  roles[link] = ROLE.inline + 1;
  const heading = headingAround(tree, link);
  if (heading === NONE) return;
  const whole = headings.get(heading) ?? textOf(tree, heading);
  headings.set(heading, whole);
  if (LETTER.test(text) && whole !== text && isAtEdge(tree, link, heading)) removed[link] = 1;
}

function headingAround(tree: Tree, node: number): number {
  let around = tree.parent(node);
  for (let step = 0; step < 4 && around !== NONE; step++) {
    const role = roleOf(tree.tag(around));
    if (role === ROLE.heading) return around;
    if (role !== ROLE.inline && role !== ROLE.strong && role !== ROLE.code) return NONE;
    around = tree.parent(around);
  }
  return NONE;
}

/** The last thing of the heading, or the first. */
function isAtEdge(tree: Tree, node: number, heading: number): boolean {
  const isBlank = (other: number): boolean => tree.tag(other) === TAG.text && tree.text(other).trim() === '';
  let after = tree.nextSibling(node);
  while (after !== NONE && isBlank(after)) after = tree.nextSibling(after);
  let before = tree.previousSibling(node);
  while (before !== NONE && isBlank(before)) before = tree.previousSibling(before);
  return tree.parent(node) === heading && (after === NONE || before === NONE);
}

function settleClasses(tree: Tree, {elements}: PageBlocks, roles: Uint8Array, removed: Uint8Array): void {
  for (let element = 1; element < elements.node.length; element++) {
    const node = elements.node[element] ?? 0;
    if (removed[node] === 1) continue;
    const place = elements.place[element] ?? 0;
    const tag = elements.tag[element] ?? 0;
    const isCode = (place & PLACE.preformatted) !== 0;
    if (tag === TAG.button && isCode) removed[node] = 1;
    const isHeading = headingLevelOf(place) > 0;
    if (!isCode && !isHeading && tag !== TAG.div && tag !== TAG.aside) continue;
    const names = tree.attribute(node, ATTRIBUTE.class);
    if (names === undefined) continue;
    if (isHeading && roleOf(tag) === ROLE.inline && EDIT_CLASS.test(names)) removed[node] = 1;
    else if (isCode && tag !== TAG.pre && LINE_NUMBER_CLASS.test(names)) removed[node] = 1;
    else if (!isCode && ADMONITION_CLASS.test(names)) roles[node] = ROLE.quote + 1;
  }
}

function dropRepeatedPictures(tree: Tree, {leaves}: PageBlocks, removed: Uint8Array): void {
  const seen = new Set<string>();
  for (const leaf of leaves) {
    if (tree.tag(leaf) !== TAG.img || removed[leaf] === 1) continue;
    const source = tree.attribute(leaf, ATTRIBUTE.src) ?? '';
    if (seen.has(source)) removed[leaf] = 1;
    else if (source !== '') seen.add(source);
  }
}

/** A target is written where a text first leads there. */
function dropRepeatedTargets(tree: Tree, page: PageBlocks, roles: Uint8Array, removed: Uint8Array): void {
  const {blocks, leaves, links, blockOfLink} = page;
  const seen = new Set<string>();
  for (const [at, link] of links.entries()) {
    const block = blockOfLink[at] ?? 0;
    // Code is written without its links.
    const isCode = ((blocks.place[block] ?? 0) & PLACE.preformatted) !== 0;
    if (isCode || removed[leaves[blocks.firstLeaf[block] ?? 0] ?? 0] === 1) continue;
    const target = tree.attribute(link, ATTRIBUTE.href) ?? '';
    if (seen.has(target)) roles[link] = ROLE.inline + 1;
    else if (beginsWithText(tree, link)) seen.add(target);
  }
}

/** Within few nodes; a picture alone may not be written. */
function beginsWithText(tree: Tree, link: number): boolean {
  let node = tree.firstChild(link);
  for (let step = 0; step < 8 && node !== NONE; step++) {
    if (tree.tag(node) === TAG.text && LETTER_OR_DIGIT.test(tree.text(node))) return true;
    node = tree.following(node, link);
  }
  return false;
}

/** A heading is one level below the nearest one before it that was above it. */
function headingLevels({elements}: PageBlocks, removed: Uint8Array): ReadonlyMap<number, number> {
  const levels = new Map<number, number>();
  const open: number[] = [];
  for (let element = 1; element < elements.node.length; element++) {
    const tag = elements.tag[element] ?? 0;
    const node = elements.node[element] ?? 0;
    if (roleOf(tag) !== ROLE.heading || removed[node] === 1) continue;
    const level = tag - TAG.h1 + 1;
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    levels.set(node, open.length);
  }
  return levels;
}
