// Facts about one element: its text, whether it is hidden, the source of a picture.

/**
 * D2: whether a browser shows no text of an element, by the attributes of the element. Style sheets are not read.
 * Declarations are told apart as CSS Syntax does it. A value counts only where its property takes it.
 */

import {ATTRIBUTE, ROLE, roleOf, TAG} from './tags.ts';
import {NONE, type Tree} from './tree.ts';
import {collapseBlanks, visibleText} from './visible-text.ts';

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

/** How many columns and rows a cell takes. */
export interface CellSpan {
  readonly columns: number;
  readonly rows: number;
}

/** More than this are a way to say "all", or to fill memory. */
const MOST = 50;

/** R2: `undefined` for a cell that takes one of each. */
export function cellSpanOf(tree: Tree, cell: number): CellSpan | undefined {
  const columns = tree.attribute(cell, ATTRIBUTE.colspan);
  const rows = tree.attribute(cell, ATTRIBUTE.rowspan);
  if (columns === undefined && rows === undefined) return undefined;
  return {columns: numberOf(columns), rows: numberOf(rows)};
}

function numberOf(written: string | undefined): number {
  const number = Number.parseInt(written ?? '1', 10);
  return number >= 1 ? Math.min(number, MOST) : 1;
}

/** Where pages put the address of a picture that a script loads when a reader comes near. */
const LATER = [ATTRIBUTE['data-src'], ATTRIBUTE['data-lazy-src'], ATTRIBUTE['data-original']];

/** R2: the address of a picture, also where it is not loaded yet; '' where there is none. */
export function pictureSource(tree: Tree, picture: number): string {
  const source = tree.attribute(picture, ATTRIBUTE.src)?.trim() ?? '';
  // What holds the place is a picture of one dot or a blur.
  if (source !== '' && !/^data:/i.test(source)) return source;
  for (const name of LATER) {
    const later = tree.attribute(picture, name)?.trim() ?? '';
    if (later !== '' && !/^data:/i.test(later)) return later;
  }
  return firstOf(tree.attribute(picture, ATTRIBUTE.srcset) ?? '');
}

/** HTML 4.8.4.2.1: an address, then how wide or dense the picture is. */
function firstOf(srcset: string): string {
  const [first = ''] = srcset.trim().split(/\s/, 1);
  let end = first.length;
  while (end > 0 && first[end - 1] === ',') end--;
  return /^data:/i.test(first) ? '' : first.slice(0, end);
}

/** Styles without any of these hide nothing, and most have none. */
const MAY_HIDE = /none|hidden|collapse|transparent|opacity|font|#|\(|clip|-\d{3}|\\/i;
/** A descendant with one of these sets a size or colour of its own. */
const SETS_FONT_OR_COLOR = /font|color|\\/i;

const GLOBAL = /^(?:initial|inherit|unset|revert|revert-layer)$/;
const NUMBER = '[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?';
const LENGTH = new RegExp(`^${NUMBER}(?:%|[a-z]+)?$|^(?:calc|min|max|clamp)\\(.*\\)$`);
const ZERO = '[+-]?(?:0+(?:\\.0*)?|\\.0+)(?:e[+-]?\\d+)?(?:%|[a-z]+)?';
const FONT_SIZE = new RegExp(
  `^\\+?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?(?:%|[a-z]+)$|^${ZERO}$|^(?:xx?-small|small|medium|large|x{1,3}-large|smaller|larger|math)$|^(?:calc|min|max|clamp)\\(.*\\)$`,
);
const OUTSIDE = '(?:block|inline)';
const INSIDE = '(?:flow|flow-root|table|flex|grid|ruby|math)';
const DISPLAY = new RegExp(
  `^(?:none|contents|${OUTSIDE}|${INSIDE}|${OUTSIDE} ${INSIDE}|${INSIDE} ${OUTSIDE}|inline-(?:block|flex|grid|table)|table-(?:row|cell|column|caption|row-group|header-group|footer-group|column-group)|ruby-text|-webkit-(?:inline-)?(?:box|flex)|(?=.*list-item)(?:(?:list-item|block|inline|flow|flow-root) ?){1,3})$`,
);
const COLOR =
  /^(?:#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})|[a-z-]+\(.*\)|transparent|currentcolor|black|silver|gr[ae]y|white|maroon|red|purple|fuchsia|green|lime|olive|yellow|navy|blue|teal|aqua|orange)$/;
const ANY = /./s;

/** What values a property takes, as far as it has a part in hiding. */
const TAKES: ReadonlyMap<string, RegExp> = new Map([
  ['display', DISPLAY],
  ['visibility', /^(?:visible|hidden|collapse)$/],
  ['content-visibility', /^(?:visible|auto|hidden)$/],
  ['opacity', new RegExp(`^${NUMBER}%?$|^(?:calc|min|max|clamp)\\(.*\\)$`)],
  ['font-size', FONT_SIZE],
  ['color', COLOR],
  ['position', /^(?:static|relative|absolute|fixed|sticky|-webkit-sticky)$/],
  ...['left', 'top', 'right', 'bottom', 'text-indent'].map(
    name => [name, new RegExp(`${LENGTH.source}|^auto$`)] as const,
  ),
  ['clip', /^(?:auto|rect\(.*\))$/],
  ['clip-path', /^(?:none|[a-z-]+\(.*\).*|[a-z-]+-box)$/],
  ...['background', 'background-clip', '-webkit-background-clip', 'text-shadow'].map(
    name => [name, ANY] as const,
  ),
  ['-webkit-text-fill-color', COLOR],
]);

const IS_ZERO = new RegExp(`^${ZERO}$`);
const NOT_ABOVE_ZERO = new RegExp(`^(?:${ZERO}|-.*)$`);
const FONT_OF_ZERO = new RegExp(`^(?:[a-z-]+ |[1-9]\\d* )*${ZERO}(?: ?/ ?\\S+)? \\S`);
const NO_ALPHA = '\\s*(?:0+(?:\\.0*)?|\\.0+)%?\\s*\\)';
const SEE_THROUGH = new RegExp(
  `^(?:transparent|#[\\da-f]{3}0|#[\\da-f]{6}00|(?:rgb|hsl)a?\\((?:[^,]*,){3}${NO_ALPHA}|[a-z]+\\([^/]*/${NO_ALPHA})$`,
);
/** Further out than any window is wide. */
const FAR_OUT = /^-(?:\d{4,}(?:\.\d*)?px|\d{3,}(?:\.\d*)?(?:r?em|ch|ex|v[wh]|%))$/;
const CLIPS_ALL = /^rect\((?:\s*,?\s*(?:0|1)(?:px)?\s*,?){4}\)$/;
const CLIP_PATH_ALL =
  /^(?:inset\(\s*(?:50|[5-9]\d|\d{3,})(?:\.\d*)?%\s*\)|(?:circle|ellipse)\(\s*0[a-z%]*(?:\s.*)?\))$/;

const LONGEST_CUSTOM = 100;

/** Whether the element, with all that is in it, is left out as hidden. `aria-hidden` is the callers' to judge. */
export function isHidden(tree: Tree, node: number): boolean {
  if (!tree.hasAttributes(node)) return false;
  if (tree.attribute(node, ATTRIBUTE.hidden) !== undefined) return true;
  if (tree.attribute(node, ATTRIBUTE.popover) !== undefined) return true;
  const style = tree.attribute(node, ATTRIBUTE.style);
  if (style === undefined || !MAY_HIDE.test(style)) return false;
  const computed = declaredIn(style);
  if (hidesElement(computed)) return true;
  // A picture has no text. Size and colour are inherited, so what is inside may set its own.
  return hidesText(computed) && tree.tag(node) !== TAG.img && !setsFontInside(tree, node);
}

type Declared = ReadonlyMap<string, string>;

function hidesElement(declared: Declared): boolean {
  const value = (property: string): string => declared.get(property) ?? '';
  if (value('display') === 'none' || /^(?:hidden|collapse)$/.test(value('visibility'))) return true;
  if (value('content-visibility') === 'hidden' || NOT_ABOVE_ZERO.test(value('opacity'))) return true;
  if (FAR_OUT.test(value('text-indent')) || CLIP_PATH_ALL.test(value('clip-path'))) return true;
  if (!/^(?:absolute|fixed)$/.test(value('position'))) return false;
  return (
    CLIPS_ALL.test(value('clip')) ||
    ['left', 'top', 'right', 'bottom'].some(side => FAR_OUT.test(value(side)))
  );
}

function hidesText(declared: Declared): boolean {
  const value = (property: string): string => declared.get(property) ?? '';
  if (IS_ZERO.test(value('font-size'))) return true;
  // Letters that a gradient shows through, or a shadow stands behind, are seen.
  const isFilled = /text/.test(
    `${value('background')} ${value('background-clip')} ${value('-webkit-background-clip')}`,
  );
  const fill = declared.get('-webkit-text-fill-color') ?? value('color');
  return SEE_THROUGH.test(fill) && !isFilled && !declared.has('text-shadow');
}

/** Ends at the first element that sets one, so nested elements that hide are looked through once. */
function setsFontInside(tree: Tree, root: number): boolean {
  let node = tree.firstChild(root);
  while (node !== NONE) {
    const style = tree.hasAttributes(node) ? tree.attribute(node, ATTRIBUTE.style) : undefined;
    if (style !== undefined && SETS_FONT_OR_COLOR.test(style)) return true;
    node = tree.following(node, root);
  }
  return false;
}

/** What an inline style sets of the properties above: the last valid declaration of the strongest rank. */
function declaredIn(style: string): Declared {
  const found = new Map<string, string>();
  const important = new Set<string>();
  for (const [name, written] of declarationsOf(style)) {
    const strong = /^(.*?) ?! ?important$/.exec(written);
    const property = name === 'font' ? 'font-size' : name;
    if (important.has(property) && !strong) continue;
    const value = takenValue(name, strong?.[1] ?? written, found);
    if (value === undefined) continue;
    found.set(property, value);
    if (strong) important.add(property);
  }
  return found;
}

/** The value of a declaration that a browser takes, or `undefined` where it drops the declaration. */
function takenValue(property: string, written: string, found: Declared): string | undefined {
  // Longer ones are no keyword, and repeating them would take memory.
  if (property.startsWith('--')) return written.length <= LONGEST_CUSTOM ? written : 'unset';
  const value = written
    .replace(
      /var\(\s*(--[^\s,()]+)\s*(?:,([^()]*))?\)/g,
      (_, name, other) => found.get(name) ?? other ?? 'unset',
    )
    .trim();
  // No further shorthand has a part.
  if (property === 'font') return FONT_OF_ZERO.test(value) ? '0' : / \S/.test(value) ? 'medium' : undefined;
  return GLOBAL.test(value) || TAKES.get(property)?.test(value) ? value : undefined;
}

const NAME = /(?:[-\w\x80-\uffff]|\\[\da-fA-F]{1,6}[ \t\n\f]?|\\[^\n])+/y;
/** Comments, strings (which a line feed ends), and addresses without quotation marks are skipped whole. */
const SKIPPED = /\/\*.*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*(?:"|(?=\n)|$)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|$)/sy;
const ADDRESS = /\(\s*(?![\s"'])(?:[^)\\]|\\.)*(?:\)|$)/sy;
const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/** CSS Syntax: the declarations of a style attribute: names in lower case, values without comments and with single blanks. */
function* declarationsOf(css: string): Generator<readonly [name: string, value: string]> {
  const open: string[] = [];
  let name: string | undefined;
  let text = '';
  const finish = (): readonly [string, string][] => {
    const done: [string, string][] = name === undefined ? [] : [[name, text.replace(/\s+/g, ' ').trim()]];
    name = undefined;
    text = '';
    return done;
  };
  for (let at = 0; at < css.length; ) {
    const skipped = matchAt(SKIPPED, css, at);
    const word = skipped === '' ? matchAt(NAME, css, at) : '';
    if (skipped !== '') {
      text += skipped.startsWith('/*') ? ' ' : skipped;
      at += skipped.length;
    } else if (word !== '') {
      const plain = unescaped(word);
      text += plain;
      at += word.length;
      const address = plain === 'url' ? matchAt(ADDRESS, css, at) : '';
      text += address;
      at += address.length;
    } else {
      const unit = css.charAt(at);
      at += 1;
      const closer = CLOSERS.get(unit);
      if (closer !== undefined) open.push(closer);
      else if (unit === open.at(-1)) open.pop();
      const isOutside = open.length === 0;
      if (isOutside && unit === ';') yield* finish();
      else if (isOutside && unit === ':' && name === undefined) {
        name = text.trim();
        text = '';
      } else text += unit;
    }
  }
  yield* finish();
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** CSS escapes hide a name from a reader of the source, not from the browser. Lower case. */
function unescaped(name: string): string {
  if (!name.includes('\\')) return name.toLowerCase();
  const plain = name.replace(/\\([0-9a-f]{1,6}[ \t\n\f]?|[^0-9a-f\n])/gi, (_, sequence: string) => {
    const code = Number.parseInt(sequence, 16);
    return Number.isNaN(code) || code > 0x10_ffff ? sequence : String.fromCodePoint(code);
  });
  return /^[-\w\x80-\uffff]*$/.test(plain) ? plain.toLowerCase() : name;
}

/** TeX, or plain text. */
export interface InsteadOfNode {
  readonly kind: 'formula' | 'text';
  readonly text: string;
}

/** R2: how the content of a document is written otherwise than its elements say. */
export interface DocumentForm {
  /** For each node 0, or one more than the role (`ROLE.…`) that it has instead of its element's. */
  readonly roles: Uint8Array;
  /** The levels of headings, from 1. */
  readonly levels: ReadonlyMap<number, number>;
  /** What stands instead of nodes that are `inline` here. What is inside them is removed. */
  readonly instead: ReadonlyMap<number, InsteadOfNode>;
}

export function roleIn(form: DocumentForm | undefined, node: number, tag: number): number {
  const given = form?.roles[node] ?? 0;
  return given === 0 ? roleOf(tag) : given - 1;
}
