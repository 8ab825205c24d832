import {CLASS_CATEGORIES, type ClassCategory} from '../blocks/class-evidence.ts';
import {PLACE_NAMES} from '../blocks/place.ts';

export const CONTAINERS = 5;
export const CONTAINER_NAMES = ['share', 'links', 'prose', 'blocks', 'wordsPerBlock', 'headings', 'fields'];
const SECTION_NAMES = ['blocks', 'share', 'prose', 'links', 'pictures', 'place', 'titleWords'];
export const NEIGHBOURS = [-2, -1, 1, 2];

/** Categories of which it says something how much of the page stands before. */
export const BEFORE_CATEGORIES: readonly ClassCategory[] = [
  'comments',
  'related',
  'article',
  'footer',
  'sidebar',
];
/** Categories whose elements stand within each other: of these the outermost one speaks too. */
export const OUTER_CATEGORIES: readonly ClassCategory[] = [
  ...([
    'content',
    'list',
    'article',
    'hidden',
    'dialog',
    'navigation',
    'widget',
    'header',
    'footer',
    'pagination',
  ] as const),
  ...([
    'comments',
    'tabs',
    'product',
    'review',
    'description',
    'button',
    'sidebar',
    'title',
    'tags',
    'caption',
    'related',
  ] as const),
];

/** The features of a block, in the order in which they stand in a row. */
export const FEATURES: readonly string[] = [
  ...['words', 'linkShare', 'links', 'stopRate', 'commaRate', 'digitShare', 'upperShare', 'boldShare'],
  ...[
    'endsWithStop',
    'pictures',
    'level',
    'depth',
    'unitsPerWord',
    'firstKind',
    'copies',
    'isCopy',
    'anchors',
    'dividerRate',
    'lastKind',
    'tag',
  ],
  ...PLACE_NAMES,
  ...NEIGHBOURS.flatMap(step => ['Words', 'Links', 'Level'].map(name => `at${step}${name}`)),
  ...['proseBefore', 'proseAfter', 'prosePassed', 'unitsPassed', 'headingDistance', 'headingLevel'],
  ...['longBefore', 'longAfter', 'fieldsNear', ...SECTION_NAMES.map(name => `section${name}`)],
  ...['titleDistance', 'windowProse', 'windowLinks'],
  ...Array.from({length: CONTAINERS}, (_, at) => CONTAINER_NAMES.map(name => `around${at}${name}`)).flat(),
  ...CONTAINER_NAMES.map(name => `underHalf${name}`),
  ...[
    'inBest',
    'bestDistance',
    'bestShare',
    'bestGap',
    'listShare',
    'listLinks',
    'listWords',
    'inWide',
    'wideShare',
  ],
  ...['alike', 'alikeWords', 'alikeLinks', 'alikeHeadings', 'alikeShare', 'alikePictures', 'alikePlace'],
  ...['pathBlocks', 'pathShare', 'pathWords', 'pathLinks', 'pathProse'],
  ...['pageProse', 'pageLinks', 'pageStops', 'articleShare', 'mainShare'],
  ...CLASS_CATEGORIES.map(name => `class${name}`),
  ...OUTER_CATEGORIES.map(name => `outer${name}`),
  ...BEFORE_CATEGORIES.map(name => `before${name}`),
];
