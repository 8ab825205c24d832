import {ATTRIBUTE} from './tree/attribute.ts';
import {ROLE, roleOf} from './tree/element-role.ts';
import {hidesElement} from './tree/hides-element.ts';
import {TAG} from './tree/tag.ts';
import type {Tree} from './tree/tree.ts';

const TOKENS = 'nav|menu|sidebar|footer|header|advertisement|ad|social|related|comments';
const CLASS = new RegExp(`(?:^|[ \\t\\n\\f\\r])(?:${TOKENS})(?![^ \\t\\n\\f\\r])`, 'i');
const ID = new RegExp(`^(?:${TOKENS})$`, 'i');

/**
 * FR-WF-13 steps 1 to 3: whether an element is left out, with all that is in it. `isKept` is one whose name alone
 * would drop it.
 */
export function isBoilerplate(tree: Tree, node: number, isKept = false): boolean {
  const tag = tree.tag(node);
  if (roleOf(tag) === ROLE.dropped && !isKept) return true;
  // A closed dialog is as invisible as any other hidden element.
  if (tag === TAG.dialog && tree.attribute(node, ATTRIBUTE.open) === undefined) return true;
  return tree.hasAttributes(node) && (isHidden(tree, node) || hasToken(tree, node, tag));
}

function isHidden(tree: Tree, node: number): boolean {
  if (tree.attribute(node, ATTRIBUTE.hidden) !== undefined) return true;
  if (tree.attribute(node, ATTRIBUTE['aria-hidden'])?.trim().toLowerCase() === 'true') return true;
  const style = tree.attribute(node, ATTRIBUTE.style);
  return style !== undefined && hidesElement(style);
}

// FR-WF-EXT-CLASS-01: whole tokens only. D2: html and body are exempt.
function hasToken(tree: Tree, node: number, tag: number): boolean {
  if (tag === TAG.html || tag === TAG.body) return false;
  const className = tree.attribute(node, ATTRIBUTE.class);
  if (className !== undefined && CLASS.test(className)) return true;
  const id = tree.attribute(node, ATTRIBUTE.id);
  return id !== undefined && ID.test(id);
}
