// Element names of the parser as small integers, with their classes in the HTML standard.

import {foreignTagOf, TAG, tagOf} from '../tree/tags.ts';

// biome-ignore format: a list
/** Every element name that a rule of tree construction mentions. */
const NAMES = [
  'html', 'head', 'body', 'frameset', 'frame', 'base', 'basefont', 'bgsound', 'link', 'meta', 'title',
  'script', 'style', 'template', 'noscript', 'noframes', 'noembed', 'iframe', 'xmp', 'plaintext', 'textarea',
  'main', 'article', 'section', 'nav', 'aside', 'header', 'footer', 'hgroup', 'search', 'div', 'p', 'address',
  'center', 'details', 'summary', 'dialog', 'dir', 'dl', 'dd', 'dt', 'fieldset', 'figure', 'figcaption',
  'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'menu', 'li', 'blockquote', 'pre', 'listing', 'hr',
  'br', 'table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'a', 'b', 'big',
  'code', 'em', 'font', 'i', 'nobr', 's', 'small', 'strike', 'strong', 'tt', 'u', 'del', 'span', 'sub', 'sup',
  'var', 'ruby', 'rb', 'rtc', 'rt', 'rp', 'legend', 'canvas', 'datalist', 'audio', 'video', 'img', 'image',
  'area', 'embed', 'keygen', 'wbr', 'input', 'param', 'source', 'track', 'applet', 'marquee', 'object',
  'button', 'select', 'option', 'optgroup', 'svg', 'foreignobject', 'desc', 'math', 'mi', 'mo', 'mn', 'ms',
  'mtext', 'mglyph', 'malignmark', 'annotation', 'annotation-xml', 'mfrac', 'msqrt', 'mroot', 'msub', 'msup',
  'msubsup', 'munder', 'mover', 'munderover', 'mtable', 'mtr', 'mlabeledtr', 'mtd',
] as const;

export type ElementName = (typeof NAMES)[number];

export const ELEMENT_NAMES: readonly ElementName[] = NAMES;

/** Element names as small integers; names that no rule mentions get higher ones while a document is parsed. */
export const ELEMENT = Object.freeze(Object.fromEntries(NAMES.map((name, id) => [name, id]))) as Readonly<
  Record<ElementName, number>
>;

/** The namespaces, the low bits of an element key. */
export const HTML = 0;
export const SVG = 1;
export const MATHML = 2;

const NAMESPACE_BITS = 2;
const NAMESPACE_MASK = 3;

/** One more than the highest key of a named element. */
export const KEY_COUNT = NAMES.length << NAMESPACE_BITS;

/** The integer of a name in a namespace, the identity of an element to the rules. */
export function keyOf(name: number, namespace: number): number {
  return (name << NAMESPACE_BITS) | namespace;
}

export function namespaceOf(key: number): number {
  return key & NAMESPACE_MASK;
}

/** The key of an HTML element. */
export const KEY = Object.freeze(
  Object.fromEntries(NAMES.map((name, id) => [name, keyOf(id, HTML)])),
) as Readonly<Record<ElementName, number>>;

const TREE_TAGS = new Uint8Array(KEY_COUNT);
for (const [id, name] of NAMES.entries()) {
  TREE_TAGS[keyOf(id, HTML)] = tagOf(name);
  TREE_TAGS[keyOf(id, SVG)] = foreignTagOf(name);
  TREE_TAGS[keyOf(id, MATHML)] = foreignTagOf(name);
}

/** The tag (`TAG.…`) by which the tree knows an element. */
export function treeTagOf(key: number): number {
  if (key < KEY_COUNT) return TREE_TAGS[key] ?? TAG.other;
  return namespaceOf(key) === HTML ? TAG.other : TAG.foreign;
}

/** HTML 13.2.4.2: the classes of elements that the rules of tree construction ask for, as bits. */
export const SPECIAL = 1;
/** Special elements but `address`, `div` and `p`: they end the search for a list item to close. */
export const LIST_ITEM_BOUNDARY = 2;
export const SCOPE = 4;
export const LIST_ITEM_SCOPE = 8;
export const BUTTON_SCOPE = 16;
export const TABLE_SCOPE = 32;
/** What "generate implied end tags" closes. */
export const IMPLIED_END = 64;
/** What "generate all implied end tags thoroughly" closes. */
export const IMPLIED_END_THOROUGHLY = 128;
export const FORMATTING = 256;
export const HEADING = 512;
/** Where a node that may not stand in a table is foster parented. */
export const TABLE_STRUCTURE = 1024;
/** Selects an insertion mode when it is reset. */
export const SELECTS_MODE = 2048;
/** A start tag that ends foreign content. */
export const EXITS_FOREIGN = 4096;
/** HTML integration points whose attributes do not matter, and MathML text integration points. */
export const HTML_INTEGRATION = 8192;
export const MATHML_TEXT_INTEGRATION = 16_384;
/** `tbody`, `thead` and `tfoot`. */
export const TABLE_SECTION = 32_768;

const CLASSES = new Uint16Array(KEY_COUNT);

/** The bits of the classes of an element. */
export function classesOf(key: number): number {
  return key < KEY_COUNT ? (CLASSES[key] ?? 0) : 0;
}

function classify(bits: number, namespace: number, ...groups: readonly (readonly ElementName[])[]): void {
  for (const name of groups.flat()) {
    const key = keyOf(ELEMENT[name], namespace);
    CLASSES[key] = (CLASSES[key] ?? 0) | bits;
  }
}

const ANY_SCOPE = SCOPE | LIST_ITEM_SCOPE | BUTTON_SCOPE;
const SPECIAL_BOUNDARY = SPECIAL | LIST_ITEM_BOUNDARY;
const TABLE_SECTIONS = ['tbody', 'thead', 'tfoot'] as const;
const SVG_POINTS = ['foreignobject', 'desc', 'title'] as const;
const MATHML_POINTS = ['mi', 'mo', 'mn', 'ms', 'mtext'] as const;

classify(SPECIAL, HTML, ['address', 'div', 'p']);
classify(
  SPECIAL_BOUNDARY,
  HTML,
  ['applet', 'area', 'article', 'aside', 'base', 'basefont', 'bgsound', 'blockquote', 'body', 'br'],
  ['button', 'caption', 'center', 'col', 'colgroup', 'dd', 'details', 'dir', 'dl', 'dt', 'embed'],
  ['fieldset', 'figcaption', 'figure', 'footer', 'form', 'frame', 'frameset', 'h1', 'h2', 'h3', 'h4'],
  ['h5', 'h6', 'head', 'header', 'hgroup', 'hr', 'html', 'iframe', 'img', 'input', 'li', 'link'],
  ['listing', 'main', 'marquee', 'menu', 'meta', 'nav', 'noembed', 'noframes', 'noscript', 'object'],
  ['ol', 'param', 'plaintext', 'pre', 'script', 'section', 'select', 'source', 'style', 'summary'],
  ['table', 'td', 'template', 'textarea', 'th', 'title', 'tr', 'track', 'ul', 'wbr', 'xmp'],
  TABLE_SECTIONS,
);
classify(ANY_SCOPE, HTML, [
  'applet',
  'caption',
  'html',
  'marquee',
  'object',
  'table',
  'td',
  'template',
  'th',
]);
classify(LIST_ITEM_SCOPE, HTML, ['ol', 'ul']);
classify(BUTTON_SCOPE, HTML, ['button']);
classify(TABLE_SCOPE, HTML, ['html', 'table']);
classify(IMPLIED_END | IMPLIED_END_THOROUGHLY, HTML, [
  'dd',
  'dt',
  'li',
  'optgroup',
  'option',
  'p',
  'rb',
  'rp',
  'rt',
  'rtc',
]);
classify(IMPLIED_END_THOROUGHLY, HTML, ['caption', 'colgroup', 'td', 'th', 'tr'], TABLE_SECTIONS);
classify(FORMATTING, HTML, [
  'a',
  'b',
  'big',
  'code',
  'em',
  'font',
  'i',
  'nobr',
  's',
  'small',
  'strike',
  'strong',
  'tt',
  'u',
]);
classify(HEADING, HTML, ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
classify(TABLE_SECTION, HTML, TABLE_SECTIONS);
classify(TABLE_STRUCTURE, HTML, ['table', 'tr'], TABLE_SECTIONS);
classify(
  SELECTS_MODE,
  HTML,
  ['tr', 'caption', 'colgroup', 'table', 'frameset', 'select', 'template', 'td', 'th'],
  ['head', 'body', 'html'],
  TABLE_SECTIONS,
);
classify(
  EXITS_FOREIGN,
  HTML,
  ['b', 'big', 'blockquote', 'body', 'br', 'center', 'code', 'dd', 'div', 'dl', 'dt', 'em', 'embed'],
  ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'head', 'hr', 'i', 'img', 'li', 'listing', 'menu', 'meta'],
  ['nobr', 'ol', 'p', 'pre', 'ruby', 's', 'small', 'span', 'strong', 'strike', 'sub', 'sup'],
  ['table', 'tt', 'u', 'ul', 'var'],
);
classify(SPECIAL_BOUNDARY | ANY_SCOPE | HTML_INTEGRATION, SVG, SVG_POINTS);
classify(SPECIAL_BOUNDARY | ANY_SCOPE | MATHML_TEXT_INTEGRATION, MATHML, MATHML_POINTS);
classify(SPECIAL_BOUNDARY | ANY_SCOPE, MATHML, ['annotation-xml']);
