// Element and attribute names as small integers, and what each element means for the Markdown.

// biome-ignore format: a list
/** Every element name that a rule of the extraction mentions; all others are `other`. */
const TAG_NAMES = [
  'none', 'text', 'document', 'other', 'foreign', 'html', 'head', 'title', 'base', 'body', 'main', 'article',
  'section', 'div', 'p', 'address', 'center', 'details', 'summary', 'dialog', 'dd', 'dl', 'dt', 'fieldset',
  'legend', 'figure', 'figcaption', 'form', 'hgroup', 'search', 'optgroup', 'option', 'h1', 'h2', 'h3', 'h4',
  'h5', 'h6', 'ul', 'ol', 'menu', 'dir', 'li', 'blockquote', 'pre', 'listing', 'xmp', 'plaintext', 'hr', 'br',
  'table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'em', 'i', 'strong',
  'b', 'del', 's', 'strike', 'code', 'a', 'img', 'script', 'style', 'noscript', 'nav', 'footer', 'header',
  'aside', 'template', 'iframe', 'object', 'embed', 'canvas', 'svg', 'input', 'select', 'button', 'textarea',
  'datalist', 'audio', 'video', 'noframes', 'noembed', 'annotation', 'annotation-xml', 'sup', 'math', 'mfrac',
  'msqrt', 'mroot', 'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover', 'mtext', 'mtable', 'mtr',
  'mlabeledtr', 'mtd',
] as const;

export type TagName = (typeof TAG_NAMES)[number];

const TAG_IDS = new Map<string, number>(TAG_NAMES.map((name, id) => [name, id]));

/** Element names as small integers. */
export const TAG = Object.freeze(Object.fromEntries(TAG_IDS)) as Readonly<Record<TagName, number>>;

export const TAG_COUNT = TAG_NAMES.length;

/** The integer of an HTML element name in lower case. */
export function tagOf(name: string): number {
  const id = TAG_IDS.get(name) ?? TAG.other;
  // The names before it are no elements': `<text>` is not a text. The last ones are those of formulas.
  return id < TAG.html || id >= TAG.math ? TAG.other : id;
}

/** The integer of the name of an element of SVG or MathML. Its `title` or `a` is not the HTML element of that name (D4). */
export function foreignTagOf(name: string): number {
  const id = TAG_IDS.get(name) ?? TAG.foreign;
  return id === TAG.svg || (id >= TAG.annotation && id !== TAG.sup) ? id : TAG.foreign;
}

// biome-ignore format: a list
const ATTRIBUTE_NAMES = [
  'class', 'id', 'href', 'src', 'alt', 'lang', 'hidden', 'popover', 'aria-hidden', 'role', 'style', 'start',
  'open', 'encoding', 'rel', 'itemprop', 'type', 'colspan', 'rowspan', 'alttext', 'linethickness', 'srcset',
  'data-src', 'data-lazy-src', 'data-original', 'data-lang', 'data-language',
] as const;

export type AttributeName = (typeof ATTRIBUTE_NAMES)[number];

const ATTRIBUTE_IDS = new Map<string, number>(ATTRIBUTE_NAMES.map((name, index) => [name, index]));

/** The attributes that the tree keeps, as small integers. */
export const ATTRIBUTE = Object.freeze(Object.fromEntries(ATTRIBUTE_IDS)) as Readonly<
  Record<AttributeName, number>
>;

/** The integer of an attribute name, or `undefined` where nothing reads that attribute. */
export function attributeOf(name: string): number | undefined {
  return ATTRIBUTE_IDS.get(name);
}

// biome-ignore format: a list
/** What an element means for the Markdown (FR-WF-13, FR-WF-13a, ruling D5). Elements in no group are inline text. */
const GROUPS = {
  inline: [],
  dropped: [
    // FR-WF-13 step 1
    ...['script', 'style', 'noscript', 'nav', 'footer', 'header', 'aside'],
    // D2
    ...['template', 'iframe', 'object', 'embed', 'canvas', 'svg', 'input', 'select', 'button', 'textarea'],
    // What no browser shows: head matter, raw text, fallbacks of media, annotations of formulas.
    ...[
      'head', 'title', 'base', 'datalist', 'noframes', 'noembed', 'audio', 'video', 'annotation',
      'annotation-xml',
    ],
  ],
  block: [
    ...[
      'html', 'body', 'main', 'article', 'section', 'div', 'p', 'address', 'center', 'details', 'summary',
      'dialog',
    ],
    ...[
      'dd', 'dl', 'fieldset', 'legend', 'figure', 'figcaption', 'form', 'hgroup', 'search', 'optgroup',
      'option',
    ],
    ...['thead', 'tbody', 'tfoot', 'colgroup', 'col'],
  ],
  heading: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  list: ['ul', 'ol', 'menu', 'dir'],
  item: ['li'],
  preformatted: ['pre', 'listing', 'xmp', 'plaintext'],
  quote: ['blockquote'],
  rule: ['hr'],
  lineBreak: ['br'],
  table: ['table'],
  caption: ['caption'],
  row: ['tr'],
  cell: ['td', 'th'],
  term: ['dt'],
  emphasis: ['em', 'i'],
  strong: ['strong', 'b'],
  struck: ['del', 's', 'strike'],
  code: ['code'],
  link: ['a'],
  image: ['img'],
} as const satisfies Record<string, readonly TagName[]>;

type ElementRole = keyof typeof GROUPS;

const GROUP_NAMES = Object.keys(GROUPS) as ElementRole[];

/** Behaviours as small integers. */
export const ROLE = Object.freeze(Object.fromEntries(GROUP_NAMES.map((name, id) => [name, id]))) as Readonly<
  Record<ElementRole, number>
>;

// biome-ignore format: a list
/** A bit for each role of what stands within a line. */
const INLINE_ROLES = [
  ROLE.inline, ROLE.emphasis, ROLE.strong, ROLE.struck, ROLE.code, ROLE.link, ROLE.image, ROLE.lineBreak,
].reduce((bits, role) => bits | (1 << role), 0);

const BY_TAG = new Uint8Array(TAG_COUNT);
for (const [name, tags] of Object.entries<readonly TagName[]>(GROUPS)) {
  for (const tag of tags) BY_TAG[TAG[tag]] = ROLE[name as ElementRole];
}

export function roleOf(tag: number): number {
  return BY_TAG[tag] ?? ROLE.inline;
}

/** Whether what has this role stands within a line. */
export function isInlineRole(role: number): boolean {
  return ((INLINE_ROLES >> role) & 1) === 1;
}
