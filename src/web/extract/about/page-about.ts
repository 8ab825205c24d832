import type {ExtractionMode} from '../../options.ts';
import type {PageByline} from '../../page.ts';
import {SourceText} from '../tree/source-text.ts';
import {visibleText} from '../tree/visible-text.ts';
import {attributesOf, type HeadElement, headElements, tagEnd} from './head-elements.ts';
import {type LinkedData, linkedData} from './linked-data.ts';

/** What an HTML document says about itself beside its text. */
export interface PageAbout {
  /** Ruling R3: the address of its version in Markdown. */
  readonly alternate?: string;
  /** The address of its licence (RSL). */
  readonly license?: string;
  /** R2: of the reader's mode. */
  readonly byline?: PageByline;
}

/** Nobody's name is longer, and no site's. */
const LONGEST_NAME = 200;
const DATE = /^\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?)?$/;
const AUTHORS = [
  'author',
  'article:author',
  'citation_author',
  'dc.creator',
  'dcterms.creator',
  'parsely-author',
];
const DATES = [
  'article:published_time',
  'datepublished',
  'citation_publication_date',
  'dc.date.issued',
  'dcterms.date',
  'dc.date',
  'date',
  'parsely-pub-date',
];
const SITES = ['og:site_name', 'application-name', 'citation_journal_title'];
/** So near to the first heading, a `time` is that of the page. */
const NEAR_HEADING = 4096;

/** Reads what the structure of a page says about it: its head, JSON-LD, and a `time` beside its heading. */
export function pageAbout(source: string | SourceText, mode: ExtractionMode): PageAbout {
  const html = SourceText.of(source);
  const elements = headElements(html);
  const alternate = linkOf(elements, 'alternate', 'text/markdown');
  const license = linkOf(elements, 'license', 'application/rsl+xml');
  const byline = mode === 'reader' ? bylineOf(html, elements) : {};
  return {
    ...(alternate !== undefined && {alternate}),
    ...(license !== undefined && {license}),
    ...(Object.keys(byline).length > 0 && {byline}),
  };
}

function linkOf(elements: readonly HeadElement[], relation: string, type: string): string | undefined {
  for (const {name, attributes} of elements) {
    if (name !== 'link') continue;
    const relations = attributes.get('rel')?.toLowerCase().split(/\s+/) ?? [];
    const href = attributes.get('href');
    if (href && relations.includes(relation) && attributes.get('type')?.toLowerCase() === type) return href;
  }
  return undefined;
}

function bylineOf(html: SourceText, elements: readonly HeadElement[]): PageByline {
  const linked = linkedData(html);
  const meta = (names: readonly string[]): readonly string[] => metaContents(elements, names);
  const author = firstOf([linked.author, ...meta(AUTHORS)], nameOf);
  const published = firstOf([linked.published, ...meta(DATES), timeByHeading(html)], dateOf);
  const site = firstOf([...meta(SITES), linked.site], nameOf);
  return {
    ...(author !== undefined && {author}),
    ...(published !== undefined && {published}),
    ...(site !== undefined && {site}),
  };
}

function metaContents(elements: readonly HeadElement[], names: readonly string[]): readonly string[] {
  return names.flatMap(wanted =>
    elements.flatMap(({name, attributes}) => {
      if (name !== 'meta') return [];
      const key = attributes.get('name') ?? attributes.get('property') ?? attributes.get('itemprop');
      return key?.toLowerCase() === wanted ? [attributes.get('content') ?? ''] : [];
    }),
  );
}

function firstOf(
  candidates: readonly (LinkedData[keyof LinkedData] | undefined)[],
  read: (text: string) => string | undefined,
): string | undefined {
  for (const candidate of candidates) {
    const value = candidate === undefined ? undefined : read(candidate);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A line of text that is no address: `article:author` is often that of a profile. */
function nameOf(text: string): string | undefined {
  const name = visibleText(text).replace(/\s+/g, ' ').trim();
  return name === '' || name.length > LONGEST_NAME || /^(?:[a-z]+:)?\/\//i.test(name) ? undefined : name;
}

function dateOf(text: string): string | undefined {
  const date = text.trim().replace(/^(\d{4})[/.](\d\d)[/.](\d\d)$/, '$1-$2-$3');
  return DATE.test(date) && !Number.isNaN(Date.parse(date.slice(0, 10))) ? date : undefined;
}

function timeByHeading(html: SourceText): string | undefined {
  const heading = firstHeading(html);
  if (heading === undefined) return undefined;
  const near = html.from(heading, NEAR_HEADING);
  const at = near.search(/<time\s/i);
  const end = at === -1 ? -1 : tagEnd(near, at);
  return end === -1 ? undefined : attributesOf(near.slice(at, end)).get('datetime');
}

function firstHeading(html: SourceText): number | undefined {
  for (const {index} of html.units.matchAll(/<h1(?=[\s>]|[^\x00-\x7f])/gi)) {
    if (/[\s>]/.test(html.from(index + 3, 1))) return index;
  }
  return undefined;
}
