import {ATTRIBUTE} from '../tree/attribute.ts';
import {TAG} from '../tree/tag.ts';
import {DOCUMENT, NONE, type Tree} from '../tree/tree.ts';

const SEGMENT = /^S:([0-9a-f]{1,8})$/;
const PLACE = /^[BP]:([0-9a-f]{1,8})$/;
/** A place deeper than this stays empty, so that segments within segments do not make a tree of any depth. */
const DEEPEST = 256;

/**
 * React sends what is ready late as hidden segments at the end, and a script moves each to the `template` that keeps its
 * place. They are moved here. A segment without such a place is as hidden as it says.
 */
export function placeStreamedSegments(tree: Tree): void {
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
