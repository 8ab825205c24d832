import {foreignTagOf, TAG, tagOf} from '../tree/tag.ts';

/** Every element name that a rule of tree construction mentions. */
const NAMES = [
  ...['html', 'head', 'body', 'frameset', 'frame', 'base', 'basefont', 'bgsound', 'link', 'meta', 'title'],
  ...[
    'script',
    'style',
    'template',
    'noscript',
    'noframes',
    'noembed',
    'iframe',
    'xmp',
    'plaintext',
    'textarea',
  ],
  ...[
    'main',
    'article',
    'section',
    'nav',
    'aside',
    'header',
    'footer',
    'hgroup',
    'search',
    'div',
    'p',
    'address',
  ],
  ...[
    'center',
    'details',
    'summary',
    'dialog',
    'dir',
    'dl',
    'dd',
    'dt',
    'fieldset',
    'figure',
    'figcaption',
    'form',
  ],
  ...[
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'ul',
    'ol',
    'menu',
    'li',
    'blockquote',
    'pre',
    'listing',
    'hr',
    'br',
  ],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th'],
  ...['a', 'b', 'big', 'code', 'em', 'font', 'i', 'nobr', 's', 'small', 'strike', 'strong', 'tt', 'u', 'del'],
  ...[
    'span',
    'sub',
    'sup',
    'var',
    'ruby',
    'rb',
    'rtc',
    'rt',
    'rp',
    'legend',
    'canvas',
    'datalist',
    'audio',
    'video',
  ],
  ...['img', 'image', 'area', 'embed', 'keygen', 'wbr', 'input', 'param', 'source', 'track'],
  ...['applet', 'marquee', 'object', 'button', 'select', 'option', 'optgroup'],
  ...['svg', 'foreignobject', 'desc', 'math', 'mi', 'mo', 'mn', 'ms', 'mtext', 'mglyph', 'malignmark'],
  ...['annotation', 'annotation-xml'],
  ...['mfrac', 'msqrt', 'mroot', 'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover'],
  ...['mtable', 'mtr', 'mlabeledtr', 'mtd'],
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

export function nameOf(key: number): number {
  return key >> NAMESPACE_BITS;
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
