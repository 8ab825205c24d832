import {collapseBlanks} from '../inline/collapse-blanks.ts';
import {ROLE, roleOf} from './element-role.ts';
import {TAG} from './tag.ts';
import {NONE, type Tree} from './tree.ts';
import {visibleText} from './visible-text.ts';

/** The text inside an element as one line. */
export function textOf(tree: Tree, element: number): string {
  const parts: string[] = [];
  let node = tree.firstChild(element);
  while (node !== NONE) {
    const tag = tree.tag(node);
    if (tag === TAG.text) parts.push(tree.text(node));
    else if (tag === TAG.br) parts.push(' ');
    const isDropped = roleOf(tag) === ROLE.dropped;
    node = isDropped ? tree.followingSkipped(node, element) : tree.following(node, element);
  }
  return collapseBlanks(visibleText(parts.join(''))).trim();
}
