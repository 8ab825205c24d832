import {TAG} from '../tree/tag.ts';
import {NONE, type Tree} from '../tree/tree.ts';

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Within few nodes; a picture alone may not be written. */
export function beginsWithText(tree: Tree, link: number): boolean {
  let node = tree.firstChild(link);
  for (let step = 0; step < 8 && node !== NONE; step++) {
    if (tree.tag(node) === TAG.text && LETTER_OR_DIGIT.test(tree.text(node))) return true;
    node = tree.following(node, link);
  }
  return false;
}
