import {ATTRIBUTE} from '../tree/attribute.ts';
import type {DocumentForm} from '../tree/document-form.ts';
import {ROLE, roleOf} from '../tree/element-role.ts';
import {TAG} from '../tree/tag.ts';
import {textOf} from '../tree/text-of.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {beginsWithText} from './begins-with-text.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {headingLevelOf, PLACE} from './blocks/place.ts';
import {joinLinks} from './join-links.ts';
import {settleFormulas} from './settle-formulas.ts';
import {dropCaptionsSaidTwice, dropRepeatedPictures} from './settle-pictures.ts';

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const NOT_BLANK = /\S/;
const LETTER = /\p{L}/u;
const EDIT_CLASS = /(?:^|[\s_-])edit(?:section|link)?(?![a-z])/i;
/** Where the notes of MediaWiki, Markdown and Word lead back to. */
const BACK_TO_TEXT = /^#(?:cite_ref|fn-?ref|footnote-?ref|_ftnref|_ednref)/i;
const BACK_LINKS_CLASS = /(?:^|\s)mw-cite-backlink(?!\S)/;
const LINE_NUMBER_CLASS = /(?:^|\s)(?:line-?n(?:o|os|um|ums|umber|umbers)|linenodiv|gutter|ln)(?![\w-])/i;
const ADMONITION_CLASS = /(?:^|\s)(?:admonition|callout|markdown-alert)(?![\w-])/i;

/** R2: the form that a model reads well. Adds what is no text of the page to `removed`. */
export function formOf(tree: Tree, page: PageBlocks, removed: Uint8Array): DocumentForm {
  const roles = new Uint8Array(tree.size);
  const headings = new Map<number, string>();
  for (const link of page.fragmentLinks) settleFragmentLink(tree, link, headings, roles, removed);
  const instead = settleFormulas(tree, page, roles, removed);
  settleClasses(tree, page, roles, removed);
  dropRepeatedPictures(tree, page, removed);
  dropCaptionsSaidTwice(tree, page, removed);
  joinLinks(tree, page);
  dropRepeatedTargets(tree, page, roles, removed);
  return {roles, levels: headingLevels(page, removed), instead};
}

/** Signs that lead back to a note or to the heading itself go; of all other links within the page the text stays. */
function settleFragmentLink(
  tree: Tree,
  link: number,
  headings: Map<number, string>,
  roles: Uint8Array,
  removed: Uint8Array,
): void {
  if (BACK_TO_TEXT.test(tree.attribute(link, ATTRIBUTE.href) ?? '')) {
    const around = tree.parent(link);
    const isAll = BACK_LINKS_CLASS.test(tree.attribute(around, ATTRIBUTE.class)?.slice(0, 100) ?? '');
    removed[isAll ? around : link] = 1;
    return;
  }
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
  return tree.parent(node) === heading && (nextOf(tree, node) === NONE || previousOf(tree, node) === NONE);
}

/** The last thing beside a heading. */
function isBehindHeading(tree: Tree, node: number): boolean {
  const before = previousOf(tree, node);
  return before !== NONE && roleOf(tree.tag(before)) === ROLE.heading && nextOf(tree, node) === NONE;
}

function nextOf(tree: Tree, node: number): number {
  let after = tree.nextSibling(node);
  while (after !== NONE && isBlank(tree, after)) after = tree.nextSibling(after);
  return after;
}

function previousOf(tree: Tree, node: number): number {
  let before = tree.previousSibling(node);
  while (before !== NONE && isBlank(tree, before)) before = tree.previousSibling(before);
  return before;
}

function isBlank(tree: Tree, node: number): boolean {
  return tree.tag(node) === TAG.text && !NOT_BLANK.test(tree.text(node));
}

function settleClasses(tree: Tree, {elements}: PageBlocks, roles: Uint8Array, removed: Uint8Array): void {
  for (let element = 1; element < elements.node.length; element++) {
    const node = elements.node[element] ?? 0;
    if (removed[node] === 1) continue;
    const place = elements.place[element] ?? 0;
    const tag = elements.tag[element] ?? 0;
    const isCode = (place & PLACE.preformatted) !== 0;
    if (tag === TAG.button && isCode) removed[node] = 1;
    const role = roleOf(tag);
    if (role === ROLE.heading || tag === TAG.th) settleBold(tree, node, roles);
    const isInline = role === ROLE.inline;
    const isOfHeading = isInline && (headingLevelOf(place) > 0 || isBehindHeading(tree, node));
    if (!isCode && !isOfHeading && tag !== TAG.div && tag !== TAG.aside) continue;
    const names = tree.attribute(node, ATTRIBUTE.class);
    if (names === undefined) continue;
    if (isOfHeading && EDIT_CLASS.test(names)) removed[node] = 1;
    else if (isCode && tag !== TAG.pre && LINE_NUMBER_CLASS.test(names)) removed[node] = 1;
    else if (!isCode && ADMONITION_CLASS.test(names)) roles[node] = ROLE.quote + 1;
  }
}

/** What is wholly bold where everything is says no more by it. */
function settleBold(tree: Tree, around: number, roles: Uint8Array): void {
  let node = around;
  for (let step = 0; step < 4; step++) {
    node = tree.firstChild(node);
    while (node !== NONE && isBlank(tree, node)) node = tree.nextSibling(node);
    if (node === NONE || nextOf(tree, node) !== NONE) return;
    const role = roleOf(tree.tag(node));
    if (role === ROLE.strong) roles[node] = ROLE.inline + 1;
    else if (role !== ROLE.inline && role !== ROLE.link) return;
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
