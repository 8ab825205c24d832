import {ATTRIBUTE, type AttributeName, TAG} from '../../src/web/extract/tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from '../../src/web/extract/tree/tree.ts';

const TAG_NAMES = new Map<number, string>(Object.entries(TAG).map(([name, tag]) => [tag, name]));
const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTE) as AttributeName[];

/** All that a tree says, a line for each node: depth, then the text, or the tag and the attributes. */
export function describeTree(tree: Tree): string {
  const lines: string[] = [];
  const depths = new Map([[DOCUMENT, 0]]);
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.following(node, DOCUMENT)) {
    const depth = (depths.get(tree.parent(node)) ?? 0) + 1;
    depths.set(node, depth);
    lines.push(`${depth} ${describeNode(tree, node)}`);
    const next = tree.nextSibling(node);
    const isLinked =
      next === NONE ? tree.lastChild(tree.parent(node)) === node : tree.previousSibling(next) === node;
    if (!isLinked) lines.push('not linked both ways');
  }
  return lines.join('\n');
}

function describeNode(tree: Tree, node: number): string {
  if (tree.tag(node) === TAG.text) return JSON.stringify(tree.text(node));
  const attributes = ATTRIBUTE_NAMES.map(name => [name, tree.attribute(node, ATTRIBUTE[name])] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return `<${TAG_NAMES.get(tree.tag(node)) ?? '?'}${attributes.join('')}>`;
}
