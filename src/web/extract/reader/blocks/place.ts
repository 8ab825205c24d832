import {TAG, TAG_COUNT, type TagName} from '../../tree/tag.ts';

/** What a block stands in, as bits that an element hands down. */
const NAMES = [
  ...['hidden', 'ariaHidden', 'navigation', 'header', 'footer', 'aside', 'main', 'article', 'form', 'dialog'],
  ...['table', 'list', 'quote', 'figure', 'caption', 'preformatted', 'button', 'details', 'terms', 'link'],
  ...['section', 'paragraph', 'item', 'cell', 'articleBody'],
] as const;

export type PlaceName = (typeof NAMES)[number];

export const PLACE_NAMES: readonly PlaceName[] = NAMES;

export const PLACE = Object.freeze(
  Object.fromEntries(NAMES.map((name, bit) => [name, 1 << bit])),
) as Readonly<Record<PlaceName, number>>;

/** The level of the heading around, 0 for none. */
const HEADING_SHIFT = NAMES.length;

export function headingLevelOf(place: number): number {
  return place >>> HEADING_SHIFT;
}

const BY_TAG = new Int32Array(TAG_COUNT);
const TAGS: Readonly<Partial<Record<PlaceName, readonly TagName[]>>> = {
  navigation: ['nav', 'menu'],
  header: ['header'],
  footer: ['footer', 'tfoot'],
  aside: ['aside'],
  main: ['main'],
  article: ['article'],
  section: ['section'],
  form: ['form', 'fieldset', 'search'],
  dialog: ['dialog'],
  table: ['table'],
  list: ['ul', 'ol', 'dir'],
  quote: ['blockquote'],
  figure: ['figure'],
  caption: ['figcaption', 'caption'],
  preformatted: ['pre', 'listing', 'xmp', 'plaintext'],
  button: ['button'],
  details: ['details'],
  terms: ['dl'],
  paragraph: ['p'],
  item: ['li'],
  cell: ['td', 'th'],
};
for (const [name, tags] of Object.entries(TAGS)) {
  for (const tag of tags ?? []) BY_TAG[TAG[tag]] = (BY_TAG[TAG[tag]] ?? 0) | PLACE[name as PlaceName];
}
for (let level = 1; level <= 6; level++) BY_TAG[TAG.h1 + level - 1] = level << HEADING_SHIFT;

const BY_ROLE = new Map<string, number>([
  ['navigation', PLACE.navigation],
  ['menu', PLACE.navigation],
  ['menubar', PLACE.navigation],
  ['banner', PLACE.header],
  ['contentinfo', PLACE.footer],
  ['complementary', PLACE.aside],
  ['main', PLACE.main],
  ['article', PLACE.article],
  ['dialog', PLACE.dialog],
  ['alertdialog', PLACE.dialog],
  ['search', PLACE.form],
  ['form', PLACE.form],
  ['button', PLACE.button],
]);

/** The bits that an element adds. */
export function placeOf(tag: number, role: string | undefined): number {
  const byTag = BY_TAG[tag] ?? 0;
  return role === undefined ? byTag : byTag | (BY_ROLE.get(role.trim().toLowerCase()) ?? 0);
}

/** What an element hands down that stands in `around` and adds `own`; of headings within each other the outer one counts. */
export function placeInside(around: number, own: number): number {
  return around | (headingLevelOf(around) === 0 ? own : own & ((1 << HEADING_SHIFT) - 1));
}
