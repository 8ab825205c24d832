// Parses a page for reader mode.

import {parseHtml} from '../parse/parse-fully.ts';
import {ATTRIBUTE, ROLE, roleOf, TAG} from '../tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';

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
export function readingTree(html: string): Tree {
  const tree = withoutScripts(html);
  const isStreamed = tree.elements(TAG.template).length > 0 && STREAMED.some(mark => html.includes(mark));
  if (isStreamed) placeStreamedSegments(tree);
  return tree;
}

function withoutScripts(html: string): Tree {
  const tree = parseHtml(html);
  // Most pages have a picture that counts visits there, and no text.
  const most = tree.elements(TAG.noscript).reduce((sum, noscript) => sum + sourceUnits(tree, noscript), 0);
  if (most < LEAST_UNITS) return tree;
  const inside = unitsWithoutScripts(tree);
  const isMore = inside >= LEAST_UNITS && inside > unitsShown(tree, inside);
  return isMore ? parseHtml(html.replace(NOSCRIPT, '')) : tree;
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

const SEGMENT = /^S:([0-9a-f]{1,8})$/;
const PLACE = /^[BP]:([0-9a-f]{1,8})$/;
/** A place deeper than this stays empty, so that segments within segments do not make a tree of any depth. */
const DEEPEST = 256;

/**
 * React sends what is ready late as hidden segments at the end, and a script moves each to the `template` that keeps its
 * place. They are moved here. A segment without such a place is as hidden as it says.
 */
function placeStreamedSegments(tree: Tree): void {
  const segments = new Map<string, number>();
  const places = new Map<string, number>();
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.following(node, DOCUMENT)) {
    const tag = tree.tag(node);
    if (tag !== TAG.template && tag !== TAG.div) continue;
    const id = tree.attribute(node, ATTRIBUTE.id) ?? '';
    const [, name] = (tag === TAG.template ? PLACE : SEGMENT).exec(id) ?? [];
    if (name === undefined) continue;
    if (tag === TAG.template) places.set(name, node);
    else if (tree.attribute(node, ATTRIBUTE.hidden) !== undefined) segments.set(name, node);
  }
  // A segment is moved after the one that holds its place; two that hold each other's place stay where they are.
  const isSegment = new Set(segments.values());
  const held = new Map<number, string[]>();
  for (const [name, place] of places) {
    let around = tree.parent(place);
    while (around !== NONE && !isSegment.has(around)) around = tree.parent(around);
    const names = held.get(around) ?? [];
    names.push(name);
    held.set(around, names);
  }
  const ready = held.get(NONE) ?? [];
  for (const name of ready) {
    const segment = segments.get(name);
    const place = places.get(name);
    if (segment === undefined || place === undefined || depthOf(tree, place) > DEEPEST) continue;
    for (let child = tree.firstChild(segment); child !== NONE; child = tree.firstChild(segment)) {
      tree.detach(child);
      tree.insertBefore(child, place);
    }
    for (const inside of held.get(segment) ?? []) ready.push(inside);
  }
}

function depthOf(tree: Tree, node: number): number {
  let depth = 0;
  for (let around = node; around !== NONE && depth <= DEEPEST; around = tree.parent(around)) depth++;
  return depth;
}
