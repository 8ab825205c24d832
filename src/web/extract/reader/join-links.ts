import {ATTRIBUTE} from '../tree/attribute.ts';
import {TAG} from '../tree/tag.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {beginsWithText} from './begins-with-text.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';

/** R2: a link that an editor has cut into pieces, with nothing but blanks between them, is one again. */
export function joinLinks(tree: Tree, {links}: PageBlocks): void {
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
