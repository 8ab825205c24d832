// The blocks of a page and the elements around them, in columns.

import {TAG, TAG_COUNT, type TagName} from '../tree/tags.ts';

/** Block: a run of text and pictures that no block element interrupts. */
export interface Blocks {
  /** Of each block the range of `leaves`. */
  readonly firstLeaf: number[];
  /** The innermost element around its start. */
  readonly element: number[];
  readonly place: number[];
  /** UTF-16 units that are not blank; `linkUnits` and `boldUnits` are those inside links and bold text. */
  readonly units: number[];
  readonly linkUnits: number[];
  readonly boldUnits: number[];
  readonly words: number[];
  readonly links: number[];
  /** Links to a place on the page itself. */
  readonly anchors: number[];
  /** Form fields since the block before. */
  readonly fields: number[];
  readonly pictures: number[];
  readonly stops: number[];
  readonly commas: number[];
  /** Signs such as `|` and `»`. */
  readonly dividers: number[];
  readonly digits: number[];
  readonly uppers: number[];
  readonly hash: number[];
  readonly firstUnit: number[];
  readonly lastUnit: number[];
  /** 1 where the text ends a sentence. */
  readonly endsWithStop: number[];
}

/**
 * Elements in tree order; 0 is the document. Inline elements are left out where they say nothing of their text.
 * The blocks inside element `e` are `firstBlock[e]` up to `endBlock[e]`.
 */
interface Elements {
  readonly node: number[];
  readonly tag: number[];
  readonly parent: number[];
  readonly depth: number[];
  readonly place: number[];
  /** Of the tag and class, the same where only digits differ; `path` is that of all elements down to this. */
  readonly own: number[];
  readonly path: number[];
  /** Where its class categories are in `classRows`, or those of the nearest element that has any. */
  readonly classRow: number[];
  readonly firstBlock: number[];
  readonly endBlock: number[];
}

/** A document as the choice of the main content sees it: parallel arrays, and an index for each thing. */
export interface PageBlocks {
  readonly blocks: Blocks;
  readonly elements: Elements;
  /** Text nodes and pictures in tree order; further blocks begin where `blocks.firstLeaf` says. */
  readonly leaves: number[];
  /** Nodes that no text of a page is in: scripts, form fields, hidden words in a line. */
  readonly dropped: readonly number[];
  /** Links in tree order, and of each the block that it is in or begins. */
  readonly links: number[];
  readonly blockOfLink: number[];
  /** Links to a place on the page itself. */
  readonly fragmentLinks: number[];
  /** Elements whose text is the TeX source of a formula. */
  readonly formulas: number[];
  /** Formulas of MathML that are shown and are in no other. */
  readonly mathml: number[];
  /** `sup` elements. */
  readonly raised: number[];
  /** Rows of `CLASS_CATEGORIES.length` elements: the innermost one around that has the category, 0 for none. */
  readonly classRows: Int32Array;
}

export function emptyPage(): PageBlocks & {readonly dropped: number[]; classRows: Int32Array} {
  return {
    blocks: {
      firstLeaf: [],
      element: [],
      place: [],
      units: [],
      linkUnits: [],
      boldUnits: [],
      words: [],
      links: [],
      anchors: [],
      fields: [],
      pictures: [],
      stops: [],
      commas: [],
      dividers: [],
      digits: [],
      uppers: [],
      hash: [],
      firstUnit: [],
      lastUnit: [],
      endsWithStop: [],
    },
    elements: {
      node: [],
      tag: [],
      parent: [],
      depth: [],
      place: [],
      own: [],
      path: [],
      classRow: [],
      firstBlock: [],
      endBlock: [],
    },
    leaves: [],
    dropped: [],
    links: [],
    blockOfLink: [],
    fragmentLinks: [],
    formulas: [],
    mathml: [],
    raised: [],
    classRows: new Int32Array(0),
  };
}

/** What a block stands in, as bits that an element hands down. */
const NAMES = [
  ...['hidden', 'ariaHidden', 'navigation', 'header', 'footer', 'aside', 'main', 'article', 'form', 'dialog'],
  ...['table', 'list', 'quote', 'figure', 'caption', 'preformatted', 'button', 'details', 'terms', 'link'],
  ...['section', 'paragraph', 'item', 'cell', 'articleBody'],
] as const;

type PlaceName = (typeof NAMES)[number];

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
// biome-ignore format: a list
const TAGS: Readonly<Partial<Record<PlaceName, readonly TagName[]>>> = {
  navigation: ['nav', 'menu'], header: ['header'], footer: ['footer', 'tfoot'], aside: ['aside'],
  main: ['main'], article: ['article'], section: ['section'], form: ['form', 'fieldset', 'search'],
  dialog: ['dialog'], table: ['table'], list: ['ul', 'ol', 'dir'], quote: ['blockquote'], figure: ['figure'],
  caption: ['figcaption', 'caption'], preformatted: ['pre', 'listing', 'xmp', 'plaintext'],
  button: ['button'], details: ['details'], terms: ['dl'], paragraph: ['p'], item: ['li'], cell: ['td', 'th'],
};
for (const [name, tags] of Object.entries(TAGS)) {
  for (const tag of tags ?? []) BY_TAG[TAG[tag]] = (BY_TAG[TAG[tag]] ?? 0) | PLACE[name as PlaceName];
}
for (let level = 1; level <= 6; level++) BY_TAG[TAG.h1 + level - 1] = level << HEADING_SHIFT;

// biome-ignore format: a list
const BY_ROLE = new Map<string, number>([
  ['navigation', PLACE.navigation], ['menu', PLACE.navigation], ['menubar', PLACE.navigation],
  ['banner', PLACE.header], ['contentinfo', PLACE.footer], ['complementary', PLACE.aside],
  ['main', PLACE.main], ['article', PLACE.article], ['dialog', PLACE.dialog], ['alertdialog', PLACE.dialog],
  ['search', PLACE.form], ['form', PLACE.form], ['button', PLACE.button],
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

/** The outermost heading around an element that is one or is inside one. */
export function headingElement({parent, place}: PageBlocks['elements'], start: number): number {
  let element = start;
  for (
    let above = parent[element] ?? -1;
    above > 0 && headingLevelOf(place[above] ?? 0) > 0;
    above = parent[above] ?? -1
  ) {
    element = above;
  }
  return element;
}
