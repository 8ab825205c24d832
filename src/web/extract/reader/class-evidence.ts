// What the class names and ids of an element tell of its content.

export type ClassCategory = keyof typeof CLASS_WORDS;

/**
 * What words in `class`, `id` and `itemprop` say about an element. They are names that stylesheets and schema.org
 * share all over the world, not words of a page's language.
 */
const CLASS_WORDS = {
  navigation:
    'nav navbar navigation menu submenu megamenu dropdown breadcrumb breadcrumbs crumbs topbar navi',
  header: 'header masthead banner head topnav siteheader',
  footer: 'footer colophon foot bottom sitefooter',
  sidebar: 'sidebar aside rail sidenav sidebars secondary complementary offcanvas drawer',
  comments: 'comment comments reply replies disqus respond commentlist discussion',
  share: 'share sharing social shares addthis sharedaddy follow facebook twitter linkedin whatsapp pinterest',
  related:
    'related recommended recommendations recommendation recirc more popular trending similar suggested latest recent upsell crosssell teaser teasers promos also',
  advertisement:
    'ad ads adv advert advertisement sponsor sponsored promo promotion adsense dfp outbrain taboola',
  dialog:
    'modal popup overlay lightbox dialog cookie cookies consent gdpr privacy onetrust notice alert snackbar toast',
  newsletter:
    'newsletter subscribe subscription signup optin mailchimp register registration login signin paywall',
  byline: 'byline author authors meta date dateline time timestamp published posted updated publisher',
  article:
    'article post entry story blogpost hentry articlebody storybody richtext prose rte wysiwyg markdown blog',
  content: 'content contents main body primary maincontent text copy page container section',
  product: 'product products price prices pdp sku cart buy offer offers shop woocommerce variant variants',
  review: 'review reviews rating ratings star stars testimonial testimonials',
  list: 'list listing grid items row cards card item tile tiles results result feed archive loop collection',
  tags: 'tag tags category categories label labels badge badges chip chips pill topics keywords',
  widget: 'widget widgets block module plugin component',
  caption:
    'caption figcaption credit credits image img photo gallery media thumbnail thumb video player picture wp',
  contents: 'toc tableofcontents outline index anchor anchors jump',
  pagination: 'pagination pager page pages next prev previous paging pagenav',
  search: 'search filter filters facet facets sort sorting refine searchform',
  form: 'form field fields input inputs contact enquiry quote gform wpcf',
  title: 'title headline heading hero h1 subtitle lead intro summary excerpt standfirst dek jumbotron',
  button: 'button buttons btn cta action actions link links readmore download',
  hidden: 'hidden sr visuallyhidden screenreader screen hide invisible assistive skip skiplink',
  tools: 'toolbar tools tool controls control print options settings edit editsection utility utilities',
  legal: 'copyright legal disclaimer terms imprint license rights',
  tabs: 'tab tabs tabpanel accordion faq faqs collapse collapsible toggle panel slide slider carousel swiper slick',
  description:
    'description desc details detail spec specs specification specifications features feature overview info information',
  code: 'code highlight syntax doc docs documentation api example snippet sphinx rst docutils',
  message: 'thread topic message messages posts bbp forum reply postbody cooked question answer answers',
  user: 'user users avatar profile member username usertext bio about team signature sig joined',
  announcement: 'announcement announce promobar ticker breaking flash notification subscribebar marquee',
} as const;

export const CLASS_CATEGORIES = Object.keys(CLASS_WORDS) as ClassCategory[];

/** The categories of each word, as numbers. */
const BY_WORD = new Map<string, readonly number[]>();
for (const [category, name] of CLASS_CATEGORIES.entries()) {
  for (const word of CLASS_WORDS[name].split(' ')) {
    BY_WORD.set(word, union(BY_WORD.get(word) ?? [], [category]));
  }
}

/** What is read of one class attribute; more is made by machines, and says no more. */
const LONGEST = 400;
/** For each first and last letter a bit for each length that a word of both has: nearly all names are seen to be none at once. */
const LENGTHS = new Int32Array(0x20 * 0x20);
const LETTER = 0x1f;
const MOST_LENGTH = 31;
for (const word of BY_WORD.keys()) {
  if (word.length > MOST_LENGTH) throw new Error(`"${word}" is longer than ${MOST_LENGTH}.`);
  const ends = endsOf(word.charCodeAt(0), word.charCodeAt(word.length - 1));
  LENGTHS[ends] = (LENGTHS[ends] ?? 0) | (1 << word.length);
}

/** Of a word of letters, in whatever case. */
function endsOf(first: number, last: number): number {
  return ((first & LETTER) << 5) | (last & LETTER);
}

const NO_CATEGORIES: readonly number[] = [];

interface ClassEvidence {
  /** The same for classes that differ in digits only. */
  readonly signature: number;
  readonly categories: readonly number[];
}

/** Reads class attributes of one document; most of them come many times. */
export class ClassReader {
  readonly #known = new Map<string, ClassEvidence>();

  read(names: string): ClassEvidence {
    let evidence = this.#known.get(names);
    if (evidence === undefined) {
      evidence = evidenceOf(names);
      this.#known.set(names, evidence);
    }
    return evidence;
  }
}

/** Of one attribute, in one pass: to split it into names and words takes several times as long. */
export function evidenceOf(names: string): ClassEvidence {
  let categories: readonly number[] = NO_CATEGORIES;
  let signature = 0;
  let start = -1;
  let before = 0;
  const end = Math.min(names.length, LONGEST);
  for (let at = 0; at <= end; at++) {
    const unit = at < end ? names.charCodeAt(at) : 0;
    const kind = unit >= 0x61 && unit <= 0x7a ? 1 : unit >= 0x41 && unit <= 0x5a ? 2 : 0;
    const ends = kind === 0 || (kind === 2 && before === 1);
    if (ends && start >= 0) {
      if (mayBeWord(names, start, at)) {
        const found = BY_WORD.get(names.slice(start, at).toLowerCase());
        if (found !== undefined) categories = union(categories, found);
      }
      start = -1;
    }
    if (kind !== 0 && start < 0) start = at;
    before = kind;
    if (unit < 0x30 || unit > 0x39) signature = (Math.imul(signature, 31) + unit) | 0;
  }
  return {signature, categories};
}

/** `fooBar` is two words, `NAV` is one; of `HTMLText` nothing is known. */
function mayBeWord(names: string, start: number, end: number): boolean {
  const ends = endsOf(names.charCodeAt(start), names.charCodeAt(end - 1));
  return end - start <= MOST_LENGTH && ((LENGTHS[ends] ?? 0) & (1 << (end - start))) !== 0;
}

function union(one: readonly number[], other: readonly number[]): readonly number[] {
  return one.length === 0 ? other : [...one, ...other.filter(category => !one.includes(category))];
}
