import {ROLE, roleOf} from '../tree/element-role.ts';
import {parseHtml} from '../tree/parse-html.ts';
import {SourceText} from '../tree/source-text.ts';
import {TAG} from '../tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';
import {placeStreamedSegments} from './streamed-segments.ts';

/** Less text than this is a notice that scripts are off. */
const LEAST_UNITS = 250;
const STREAMED = ['<template id="B:', '<template id="P:'];
const NOSCRIPT = /<\/?noscript(?=[\s/>])[^>]*>/gi;
const BLANKS = /\s+/g;
const TAGS_AND_BLANKS = /<[^>]*>|\s+/g;

/**
 * The tree to read a document from. A page that says more to a reader without scripts than to one with them (forums
 * give their threads so) is parsed as the former sees it.
 */
export function readingTree(html: string | SourceText): Tree {
  const {units} = SourceText.of(html);
  const tree = withoutScripts(html);
  const isStreamed = tree.elements(TAG.template).length > 0 && STREAMED.some(mark => units.includes(mark));
  if (isStreamed) placeStreamedSegments(tree);
  return tree;
}

function withoutScripts(html: string | SourceText): Tree {
  const tree = parseHtml(html);
  // Most pages have a picture that counts visits there, and no text.
  const most = tree.elements(TAG.noscript).reduce((sum, noscript) => sum + sourceUnits(tree, noscript), 0);
  if (most < LEAST_UNITS) return tree;
  const inside = unitsWithoutScripts(tree);
  const isMore = inside >= LEAST_UNITS && inside > unitsShown(tree, inside);
  return isMore ? parseHtml(html.toString().replace(NOSCRIPT, '')) : tree;
}

/** UTF-16 units of text inside `noscript` that are not blank. */
function unitsWithoutScripts(tree: Tree): number {
  let units = 0;
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; ) {
    const tag = tree.tag(node);
    if (tag === TAG.noscript) units += sourceUnits(tree, node);
    node = isSkipped(tag) ? tree.followingSkipped(node, DOCUMENT) : tree.following(node, DOCUMENT);
  }
  return units;
}

/** The same outside; no more than `enough` are counted. */
function unitsShown(tree: Tree, enough: number): number {
  let units = 0;
  for (let node = tree.firstChild(DOCUMENT); node !== NONE && units < enough; ) {
    const tag = tree.tag(node);
    if (tag === TAG.text) units += tree.text(node).replace(BLANKS, '').length;
    node = isSkipped(tag) ? tree.followingSkipped(node, DOCUMENT) : tree.following(node, DOCUMENT);
  }
  return units;
}

function isSkipped(tag: number): boolean {
  return roleOf(tag) === ROLE.dropped && !READ.has(tag);
}

const READ: ReadonlySet<number> = new Set([TAG.nav, TAG.footer, TAG.header, TAG.aside, TAG.button]);

/** With the scripting flag on, what is inside is source. */
function sourceUnits(tree: Tree, noscript: number): number {
  const child = tree.firstChild(noscript);
  if (child === NONE || tree.tag(child) !== TAG.text) return 0;
  return tree.text(child).replace(TAGS_AND_BLANKS, '').length;
}
