import {collapseBlanks} from '../../inline/collapse-blanks.ts';
import {ATTRIBUTE} from '../../tree/attribute.ts';
import {TAG} from '../../tree/tag.ts';
import {NONE, type Tree} from '../../tree/tree.ts';
import {visibleText} from '../../tree/visible-text.ts';

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
const ACCENTS: Readonly<Record<string, string>> = {
  '¯': '\\overline',
  '‾': '\\overline',
  _: '\\underline',
  '^': '\\hat',
  ˆ: '\\hat',
  '~': '\\tilde',
  '˜': '\\tilde',
  '→': '\\vec',
  '⃗': '\\vec',
  '.': '\\dot',
  '˙': '\\dot',
  '¨': '\\ddot',
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
