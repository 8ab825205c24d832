import {TAG, TAG_COUNT, type TagName} from './tag.ts';

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
      'head',
      'title',
      'base',
      'datalist',
      'noframes',
      'noembed',
      'audio',
      'video',
      'annotation',
      'annotation-xml',
    ],
  ],
  block: [
    ...[
      'html',
      'body',
      'main',
      'article',
      'section',
      'div',
      'p',
      'address',
      'center',
      'details',
      'summary',
      'dialog',
    ],
    ...[
      'dd',
      'dl',
      'fieldset',
      'legend',
      'figure',
      'figcaption',
      'form',
      'hgroup',
      'search',
      'optgroup',
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

export type ElementRole = keyof typeof GROUPS;

const GROUP_NAMES = Object.keys(GROUPS) as ElementRole[];

/** Behaviours as small integers. */
export const ROLE = Object.freeze(Object.fromEntries(GROUP_NAMES.map((name, id) => [name, id]))) as Readonly<
  Record<ElementRole, number>
>;

/** A bit for each role of what stands within a line. */
const INLINE_ROLES = [
  ROLE.inline,
  ROLE.emphasis,
  ROLE.strong,
  ROLE.struck,
  ROLE.code,
  ROLE.link,
  ROLE.image,
  ROLE.lineBreak,
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
