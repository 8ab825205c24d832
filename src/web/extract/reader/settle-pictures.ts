import {ATTRIBUTE} from '../tree/attribute.ts';
import {pictureSource} from '../tree/picture-source.ts';
import {TAG} from '../tree/tag.ts';
import {textOf} from '../tree/text-of.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';

/** Links, frames and what loads later stand between a figure and its picture. */
const MOST_LEVELS = 6;

/** R2: each picture once; of the same one for a dark page the first, and of one that is nowhere yet nothing beside the one that is. */
export function dropRepeatedPictures(tree: Tree, {leaves}: PageBlocks, removed: Uint8Array): void {
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
export function dropCaptionsSaidTwice(tree: Tree, {leaves}: PageBlocks, removed: Uint8Array): void {
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
