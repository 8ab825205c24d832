import {ATTRIBUTE} from './tree/attribute.ts';
import {TAG} from './tree/tag.ts';
import {NONE, type Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';

/** D3: whether text, or an image with an alternative text, is left in `root`. */
export function hasContent(tree: Tree, root: number, removed: Uint8Array): boolean {
  let node = tree.firstChild(root);
  while (node !== NONE) {
    const isRemoved = removed[node] === 1;
    if (!isRemoved) {
      const tag = tree.tag(node);
      const text =
        tag === TAG.text ? tree.text(node) : tag === TAG.img ? tree.attribute(node, ATTRIBUTE.alt) : '';
      if (text && visibleText(text).trim() !== '') return true;
    }
    node = isRemoved ? tree.followingSkipped(node, root) : tree.following(node, root);
  }
  return false;
}
