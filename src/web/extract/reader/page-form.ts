// How the chosen main content is written: what is left out, joined or put elsewhere.

import {type DocumentForm, pictureSource, textOf} from '../tree/element-facts.ts';
import {ATTRIBUTE, ROLE, roleOf, TAG} from '../tree/tags.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {settleFormulas} from './formulas.ts';
import {headingLevelOf, type PageBlocks, PLACE} from './page-blocks.ts';

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

/** R2: a link that an editor has cut into pieces, with nothing but blanks between them, is one again. */
function joinLinks(tree: Tree, {links}: PageBlocks): void {
  const joined = new Set<number>();
  for (const link of links) {
    // Most links have none behind them, which is the first that can be told.
    if (linkBehind(tree, link) === NONE || joined.has(link) || !beginsWithText(tree, link)) continue;
    const target = tree.attribute(link, ATTRIBUTE.href);
    for (let piece = nextPiece(tree, link, target); piece !== NONE; piece = nextPiece(tree, link, target)) {
      joined.add(piece);
      const between = tree.nextSibling(link);
      if (between !== piece) move(tree, between, link);
      let child = tree.firstChild(piece);
      while (child !== NONE) {
        const next = tree.nextSibling(child);
        move(tree, child, link);
        child = next;
      }
      tree.detach(piece);
    }
  }
}

function nextPiece(tree: Tree, link: number, target: string | undefined): number {
  const next = linkBehind(tree, link);
  const isPiece = next !== NONE && tree.attribute(next, ATTRIBUTE.href) === target;
  return isPiece && beginsWithText(tree, next) ? next : NONE;
}

/** The link that follows with nothing but blanks between. */
function linkBehind(tree: Tree, link: number): number {
  let next = tree.nextSibling(link);
  if (tree.tag(next) === TAG.text) {
    const behind = tree.nextSibling(next);
    if (tree.tag(behind) !== TAG.a || tree.text(next).trim() !== '') return NONE;
    next = behind;
  }
  return tree.tag(next) === TAG.a ? next : NONE;
}

function move(tree: Tree, node: number, link: number): void {
  tree.detach(node);
  tree.append(link, node);
}

/** Links, frames and what loads later stand between a figure and its picture. */
const MOST_LEVELS = 6;

/** R2: each picture once; of the same one for a dark page the first, and of one that is nowhere yet nothing beside the one that is. */
function dropRepeatedPictures(tree: Tree, {leaves}: PageBlocks, removed: Uint8Array): void {
  const seen = new Set<string>();
  let last: {readonly alt: string; readonly source: string} | undefined;
  for (const leaf of leaves) {
    if (tree.tag(leaf) !== TAG.img) {
      last = undefined;
      continue;
    }
    if (removed[leaf] === 1) continue;
    const source = pictureSource(tree, leaf);
    const alt = tree.attribute(leaf, ATTRIBUTE.alt) ?? '';
    const isTwin =
      last !== undefined && alt === last.alt && (source === '' || ofNoTheme(source) === last.source);
    if (seen.has(source) || isTwin) removed[leaf] = 1;
    else if (source !== '') seen.add(source);
    last = {alt, source: ofNoTheme(source)};
  }
}

function ofNoTheme(source: string): string {
  return source.replace(/[._-](?:dark|light)(?![a-z])/gi, '');
}

/** R2: a caption that the alternative text of its picture says word for word. */
function dropCaptionsSaidTwice(tree: Tree, {leaves}: PageBlocks, removed: Uint8Array): void {
  const captions = new Map<number, Caption | undefined>();
  for (const leaf of leaves) {
    if (tree.tag(leaf) !== TAG.img || removed[leaf] === 1) continue;
    const alt = wordsOf(tree.attribute(leaf, ATTRIBUTE.alt) ?? '');
    const figure = alt === '' ? NONE : figureAround(tree, leaf);
    if (figure === NONE) continue;
    if (!captions.has(figure)) captions.set(figure, captionOf(tree, figure));
    const caption = captions.get(figure);
    if (caption?.words === alt) removed[caption.node] = 1;
  }
}

interface Caption {
  readonly node: number;
  readonly words: string;
}

function figureAround(tree: Tree, picture: number): number {
  let around = tree.parent(picture);
  for (let level = 0; level < MOST_LEVELS && around !== NONE; level++) {
    if (tree.tag(around) === TAG.figure) return around;
    around = tree.parent(around);
  }
  return NONE;
}

/** One that leads somewhere says more than its words. */
function captionOf(tree: Tree, figure: number): Caption | undefined {
  let child = tree.lastChild(figure);
  while (child !== NONE && tree.tag(child) !== TAG.figcaption) child = tree.previousSibling(child);
  if (child === NONE || hasLink(tree, child)) return undefined;
  return {node: child, words: wordsOf(textOf(tree, child))};
}

function hasLink(tree: Tree, element: number): boolean {
  for (let node = tree.firstChild(element); node !== NONE; node = tree.following(node, element)) {
    if (tree.tag(node) === TAG.a) return true;
  }
  return false;
}

function wordsOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
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
