// Formulas as TeX: taken from the page, or written from MathML.

import type {InsteadOfNode} from '../tree/element-facts.ts';
import {ATTRIBUTE, ROLE, TAG} from '../tree/tags.ts';
import {NONE, type Tree} from '../tree/tree.ts';
import {collapseBlanks, visibleText} from '../tree/visible-text.ts';
import type {PageBlocks} from './page-blocks.ts';

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

/** Deeper than formulas that people write; what is further in is its text. */
const MOST_LEVELS = 48;
/** Signs that only TeX and speech need, and those that TeX writes otherwise. */
const SIGNS: Readonly<Record<string, string>> = {
  '\u2061': '',
  '\u2062': '',
  '\u2063': ',',
  '\u2064': '+',
  '−': '-',
  '\u00a0': ' ',
};
// biome-ignore format: a list
const ACCENTS: Readonly<Record<string, string>> = {
  '¯': '\\overline', '‾': '\\overline', _: '\\underline', '^': '\\hat', ˆ: '\\hat', '~': '\\tilde',
  '˜': '\\tilde', '→': '\\vec', '⃗': '\\vec', '.': '\\dot', '˙': '\\dot', '¨': '\\ddot',
};
const TAKES_LIMITS = /^(?:[∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀]|\\(?:lim|max|min|sup|inf))$/u;
const FUNCTIONS =
  /^(?:arc(?:cos|sin|tan)|cosh?|cot|csc|deg|det|dim|exp|gcd|inf|ker|lim|ln|log|max|min|sec|sinh?|sup|tanh?)$/;
const IS_TEX = /[\\^_{}]/;

/** R2: a formula of MathML as TeX: what it says of itself, or what its elements mean. '' where it shows nothing. */
export function texOf(tree: Tree, math: number): string {
  const written = tree.attribute(math, ATTRIBUTE.alttext)?.trim() ?? '';
  const tex = IS_TEX.test(written) ? written : contentOf(tree, math, 0);
  return collapseBlanks(visibleText(tex)).trim();
}

function contentOf(tree: Tree, element: number, level: number): string {
  let tex = '';
  for (let child = tree.firstChild(element); child !== NONE; child = tree.nextSibling(child)) {
    tex = joined(tex, nodeTex(tree, child, level));
  }
  return tex;
}

function nodeTex(tree: Tree, node: number, level: number): string {
  const tag = tree.tag(node);
  if (tag === TAG.text) return tokenOf(tree.text(node));
  if (tag === TAG.annotation || tag === TAG['annotation-xml']) return '';
  if (tag === TAG.mtext || level >= MOST_LEVELS) return textTex(tree, node);
  switch (tag) {
    case TAG.msqrt:
      return `\\sqrt{${contentOf(tree, node, level + 1)}}`;
    case TAG.mtable:
      return `\\begin{matrix} ${rowsOf(tree, node, level)} \\end{matrix}`;
    case TAG.mfrac: {
      const [above = '', below = ''] = partsOf(tree, node, level);
      // Binomials are fractions without a line.
      const hasLine = !/^\s*0(?:\.0*)?(?![.\d])/.test(tree.attribute(node, ATTRIBUTE.linethickness) ?? '');
      return hasLine ? `\\frac{${above}}{${below}}` : `{${above} \\atop ${below}}`;
    }
    case TAG.mroot:
    case TAG.msub:
    case TAG.msup:
    case TAG.msubsup:
    case TAG.munder:
    case TAG.mover:
    case TAG.munderover:
      return layoutTex(tag, partsOf(tree, node, level));
    default:
      return contentOf(tree, node, level + 1);
  }
}

/** The elements inside, each for itself. */
function partsOf(tree: Tree, node: number, level: number): readonly string[] {
  const parts: string[] = [];
  for (let child = tree.firstChild(node); child !== NONE; child = tree.nextSibling(child)) {
    if (tree.tag(child) !== TAG.text) parts.push(nodeTex(tree, child, level + 1));
  }
  return parts;
}

function layoutTex(tag: number, [base = '', second = '', third = '']: readonly string[]): string {
  switch (tag) {
    case TAG.mroot:
      return `\\sqrt[${second}]{${base}}`;
    case TAG.msub:
      return `${baseOf(base)}_${groupOf(second)}`;
    case TAG.msup:
      return `${baseOf(base)}^${groupOf(second)}`;
    case TAG.msubsup:
      return `${baseOf(base)}_${groupOf(second)}^${groupOf(third)}`;
    case TAG.munder:
      if (TAKES_LIMITS.test(base)) return `${base}_${groupOf(second)}`;
      return second === '_' ? `\\underline{${base}}` : `\\underset{${second}}{${base}}`;
    case TAG.mover:
      if (TAKES_LIMITS.test(base)) return `${base}^${groupOf(second)}`;
      return Object.hasOwn(ACCENTS, second) ? `${ACCENTS[second]}{${base}}` : `\\overset{${second}}{${base}}`;
    default:
      if (TAKES_LIMITS.test(base)) return `${base}_${groupOf(second)}^${groupOf(third)}`;
      return `\\underset{${second}}{\\overset{${third}}{${base}}}`;
  }
}

function rowsOf(tree: Tree, table: number, level: number): string {
  const rows: string[] = [];
  for (let row = tree.firstChild(table); row !== NONE; row = tree.nextSibling(row)) {
    if (tree.tag(row) === TAG.mtr || tree.tag(row) === TAG.mlabeledtr) {
      rows.push(partsOf(tree, row, level + 1).join(' & '));
    }
  }
  return rows.join(' \\\\ ');
}

function tokenOf(text: string): string {
  const token = text.trim();
  if (FUNCTIONS.test(token)) return `\\${token}`;
  let tex = '';
  for (const sign of token) tex += SIGNS[sign] ?? (/[#$%&{}]/.test(sign) ? `\\${sign}` : sign);
  return /^\p{L}{2,}$/u.test(tex) ? `\\mathrm{${tex}}` : tex;
}

/** With the blanks around it, which say where words end. */
function textTex(tree: Tree, element: number): string {
  let text = '';
  for (let node = tree.firstChild(element); node !== NONE; node = tree.following(node, element)) {
    if (tree.tag(node) === TAG.text) text += tree.text(node);
  }
  const line = collapseBlanks(text.replaceAll('\u00a0', ' '));
  return line.trim() === '' ? '' : `\\text{${line.replace(/[#$%&{}]/g, '\\$&')}}`;
}

/** A command ends where no letter follows. */
function joined(before: string, after: string): string {
  return /\\[A-Za-z]+$/.test(before.slice(-20)) && /^[A-Za-z\p{L}]/u.test(after)
    ? `${before} ${after}`
    : before + after;
}

function isOneToken(tex: string): boolean {
  return [...tex.slice(0, 3)].length === 1 && tex.length < 3;
}

function groupOf(tex: string): string {
  return isOneToken(tex) ? tex : `{${tex}}`;
}

/** What an index or a power belongs to; several signs are one thing only in braces. */
function baseOf(tex: string): string {
  return isOneToken(tex) || /^(?:\\[A-Za-z]+|[\d.]+)$/.test(tex) ? tex : `{${tex}}`;
}

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
function renderedBeside(tree: Tree, source: number): readonly number[] {
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
