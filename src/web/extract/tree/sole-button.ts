import {TAG} from './tag.ts';
import {NONE, type Tree} from './tree.ts';

/** A heading has few parts; one with more is no accordion, and looking costs the same for all. */
const MOST_NODES = 100;

/** D2: the `button` that is all of a heading, as in accordions; `NONE` where something else is beside it. */
export function soleButton(tree: Tree, heading: number): number {
  let button = NONE;
  let looked = 0;
  let node = tree.firstChild(heading);
  while (node !== NONE) {
    looked += 1;
    if (looked > MOST_NODES) return NONE;
    const tag = tree.tag(node);
    const isBlank = tag !== TAG.text || tree.text(node).trim() === '';
    if (!isBlank || tag === TAG.img) return NONE;
    if (tag === TAG.button) {
      if (button !== NONE) return NONE;
      button = node;
    }
    node = tag === TAG.button ? tree.followingSkipped(node, heading) : tree.following(node, heading);
  }
  return button;
}
