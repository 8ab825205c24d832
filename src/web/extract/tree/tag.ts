/** Every element name that a rule of the extraction mentions; all others are `other`. */
const NAMES = [
  ...['none', 'text', 'document', 'other', 'foreign'],
  ...['html', 'head', 'title', 'base', 'body', 'main', 'article', 'section', 'div', 'p', 'address', 'center'],
  ...['details', 'summary', 'dialog', 'dd', 'dl', 'dt', 'fieldset', 'legend', 'figure', 'figcaption', 'form'],
  ...[
    'hgroup',
    'search',
    'optgroup',
    'option',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'ul',
    'ol',
    'menu',
    'dir',
    'li',
  ],
  ...['blockquote', 'pre', 'listing', 'xmp', 'plaintext', 'hr', 'br', 'table', 'caption', 'colgroup', 'col'],
  ...[
    'thead',
    'tbody',
    'tfoot',
    'tr',
    'td',
    'th',
    'em',
    'i',
    'strong',
    'b',
    'del',
    's',
    'strike',
    'code',
    'a',
    'img',
  ],
  ...[
    'script',
    'style',
    'noscript',
    'nav',
    'footer',
    'header',
    'aside',
    'template',
    'iframe',
    'object',
    'embed',
  ],
  ...[
    'canvas',
    'svg',
    'input',
    'select',
    'button',
    'textarea',
    'datalist',
    'audio',
    'video',
    'noframes',
    'noembed',
  ],
  ...['annotation', 'annotation-xml', 'sup'],
  ...['math', 'mfrac', 'msqrt', 'mroot', 'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover'],
  ...['mtext', 'mtable', 'mtr', 'mlabeledtr', 'mtd'],
] as const;

export type TagName = (typeof NAMES)[number];

const IDS = new Map<string, number>(NAMES.map((name, id) => [name, id]));

/** Element names as small integers. */
export const TAG = Object.freeze(Object.fromEntries(IDS)) as Readonly<Record<TagName, number>>;

export const TAG_COUNT = NAMES.length;

/** The integer of an HTML element name in lower case. */
export function tagOf(name: string): number {
  const id = IDS.get(name) ?? TAG.other;
  // The names before it are no elements': `<text>` is not a text. The last ones are those of formulas.
  return id < TAG.html || id >= TAG.math ? TAG.other : id;
}

/** The integer of the name of an element of SVG or MathML. Its `title` or `a` is not the HTML element of that name (D4). */
export function foreignTagOf(name: string): number {
  const id = IDS.get(name) ?? TAG.foreign;
  return id === TAG.svg || (id >= TAG.annotation && id !== TAG.sup) ? id : TAG.foreign;
}
