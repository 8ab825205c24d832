import {ATTRIBUTE} from '../../tree/attribute.ts';
import {TAG} from '../../tree/tag.ts';
import {NONE, type Tree} from '../../tree/tree.ts';

const TEX_ENCODING = /^\s*(?:application\/x-tex|text\/x-tex|tex|latex)\s*$/i;
const TEX_SCRIPT = /^\s*math\/tex/i;
/** What MathJax 2 writes before the script that it made it of. */
const RENDERED = /(?:^|\s)(?:MathJax|MJXc|mjx)/;

/** Whether an element is the source of a formula: an annotation of MathML (KaTeX has one), or a script of MathJax 2. */
export function isTexSource(tree: Tree, node: number, tag: number): boolean {
  if (tag === TAG.annotation) return TEX_ENCODING.test(tree.attribute(node, ATTRIBUTE.encoding) ?? '');
  return tag === TAG.script && TEX_SCRIPT.test(tree.attribute(node, ATTRIBUTE.type) ?? '');
}

/** The elements that show the same formula. */
export function renderedBeside(tree: Tree, source: number): readonly number[] {
  const rendered: number[] = [];
  if (tree.tag(source) === TAG.annotation) {
    for (let other = tree.previousSibling(source); other !== NONE; other = tree.previousSibling(other)) {
      // What stands before another source is that one's.
      if (tree.tag(other) === TAG.annotation) break;
      if (tree.tag(other) !== TAG.text) rendered.push(other);
    }
    return rendered;
  }
  for (let other = tree.previousSibling(source); other !== NONE; other = tree.previousSibling(other)) {
    const isRendered = RENDERED.test(tree.attribute(other, ATTRIBUTE.class) ?? '');
    const isBlank = tree.tag(other) === TAG.text && tree.text(other).trim() === '';
    if (!isRendered && !isBlank) break;
    if (isRendered) rendered.push(other);
  }
  return rendered;
}
