const NAMES = [
  ...[
    'class',
    'id',
    'href',
    'src',
    'alt',
    'lang',
    'hidden',
    'aria-hidden',
    'role',
    'style',
    'start',
    'open',
    'encoding',
  ],
  ...['rel', 'itemprop', 'type', 'colspan', 'rowspan', 'alttext', 'linethickness', 'srcset'],
  ...['data-src', 'data-lazy-src', 'data-original', 'data-lang', 'data-language'],
] as const;

export type AttributeName = (typeof NAMES)[number];

const IDS = new Map<string, number>(NAMES.map((name, index) => [name, index]));

/** The attributes that the tree keeps, as small integers. */
export const ATTRIBUTE = Object.freeze(Object.fromEntries(IDS)) as Readonly<Record<AttributeName, number>>;

/** The integer of an attribute name, or `undefined` where nothing reads that attribute. */
export function attributeOf(name: string): number | undefined {
  return IDS.get(name);
}
