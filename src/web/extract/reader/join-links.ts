import {ATTRIBUTE} from '../tree/attribute.ts';
import {TAG} from '../tree/tag.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {beginsWithText} from './begins-with-text.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';

/** R2: a link that an editor has cut into pieces, with nothing but blanks between them, is one again. */
export function joinLinks(tree: Tree, {links}: PageBlocks): void {
  const joined = new Set<number>();
  for (const link of links) {
    if (joined.has(link) || !beginsWithText(tree, link)) continue;
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
  let next = tree.nextSibling(link);
  if (next !== NONE && tree.tag(next) === TAG.text && tree.text(next).trim() === '')
    next = tree.nextSibling(next);
  const isPiece =
    next !== NONE && tree.tag(next) === TAG.a && tree.attribute(next, ATTRIBUTE.href) === target;
  return isPiece && beginsWithText(tree, next) ? next : NONE;
}

function move(tree: Tree, node: number, link: number): void {
  tree.detach(node);
  tree.append(link, node);
}
