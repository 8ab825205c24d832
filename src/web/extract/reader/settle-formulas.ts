import {ATTRIBUTE} from '../tree/attribute.ts';
import type {InsteadOfNode} from '../tree/document-form.ts';
import {ROLE} from '../tree/element-role.ts';
import {TAG} from '../tree/tag.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {texOf} from './blocks/mathml-tex.ts';
import type {PageBlocks} from './blocks/page-blocks.ts';
import {renderedBeside} from './blocks/tex-source.ts';

/** The alternative texts of MediaWiki's and WordPress' pictures of formulas are TeX. */
const FORMULA_PICTURE = /(?:^|\s)(?:mwe-math-fallback-image-\w+|latex)(?!\S)/;
const STYLED = /^\{\\(?:displaystyle|textstyle|scriptstyle) (.*)\}$/s;
const POWER = /^[+\-−–]?\d{1,3}$/;
/** After a longer word a raised number leads to a note. */
const TAKES_POWER = /(?:[\d)\]]|(?<!\p{L})\p{L}{1,3})$/u;

/** R2: formulas as TeX, from their source where the page has it, and powers that can be told from numbers. */
export function settleFormulas(
  tree: Tree,
  page: PageBlocks,
  roles: Uint8Array,
  removed: Uint8Array,
): ReadonlyMap<number, InsteadOfNode> {
  const instead = new Map<number, InsteadOfNode>();
  const write = (node: number, tex: string): void => {
    roles[node] = ROLE.inline + 1;
    removed[node] = 0;
    instead.set(node, {kind: 'formula', text: tex});
    for (let child = tree.firstChild(node); child !== NONE; child = tree.nextSibling(child))
      removed[child] = 1;
  };
  const withSource = new Set<number>();
  for (const source of page.formulas) {
    const child = tree.firstChild(source);
    withSource.add(formulaAround(tree, source));
    if (removed[child] === 1) removed[source] = 1;
    else write(source, tree.text(child));
    for (const node of renderedBeside(tree, source)) removed[node] = 1;
  }
  for (const formula of page.mathml) {
    if (withSource.has(formula) || !isTextKept(tree, formula, removed)) continue;
    const tex = texOf(tree, formula);
    if (tex !== '') write(formula, tex);
  }
  for (const leaf of page.leaves) {
    if (tree.tag(leaf) !== TAG.img || removed[leaf] === 1) continue;
    if (!FORMULA_PICTURE.test(tree.attribute(leaf, ATTRIBUTE.class) ?? '')) continue;
    const alt = tree.attribute(leaf, ATTRIBUTE.alt)?.trim() ?? '';
    if (alt !== '') write(leaf, STYLED.exec(alt)?.[1] ?? alt);
  }
  for (const raised of page.raised) {
    const child = tree.firstChild(raised);
    const before = tree.previousSibling(raised);
    if (!isText(tree, child) || !isText(tree, before) || removed[child] === 1) continue;
    const power = tree.text(child).trim();
    if (tree.nextSibling(child) !== NONE || !POWER.test(power)) continue;
    if (!TAKES_POWER.test(tree.text(before).slice(-8))) continue;
    instead.set(raised, {kind: 'text', text: `^${power}`});
    removed[child] = 1;
  }
  return instead;
}

function isText(tree: Tree, node: number): boolean {
  return node !== NONE && tree.tag(node) === TAG.text;
}

function formulaAround(tree: Tree, source: number): number {
  let around = tree.parent(source);
  while (around !== NONE && tree.tag(around) !== TAG.math) around = tree.parent(around);
  return around;
}

function isTextKept(tree: Tree, formula: number, removed: Uint8Array): boolean {
  for (let node = tree.firstChild(formula); node !== NONE; node = tree.following(node, formula)) {
    if (tree.tag(node) === TAG.text && tree.text(node).trim() !== '') return removed[node] !== 1;
  }
  return false;
}
