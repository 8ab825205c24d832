// What a page says of itself: title, language, byline, licence, its Markdown version.

import {takeStart} from '../../core/text/cut.ts';
import type {ExtractionMode} from '../options.ts';
import type {PageByline} from '../page.ts';
import {ReferenceDecoder} from './parse/references.ts';
import {textOf} from './tree/element-facts.ts';
import {ATTRIBUTE, TAG} from './tree/tags.ts';
import {DOCUMENT, NONE, type Tree} from './tree/tree.ts';
import {visibleText} from './tree/visible-text.ts';

/** An element of a head that says something by its attributes. */
interface HeadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Where a head ends, if not before; a page may have megabytes behind it. */
const HEAD_UNITS = 65_536;
const NAME = /<([a-z][a-z0-9]*)/iy;
const BODY = /<body(?=[\s/>])/iy;
const WRITTEN_ATTRIBUTE = /([a-z][a-z:._-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
/** What they hold is no markup. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'title']);

/** The `meta` and `link` elements of a head, in order. One pass over the source, which need not be well formed. */
function headElements(html: string): readonly HeadElement[] {
  const elements: HeadElement[] = [];
  const head = html.slice(0, HEAD_UNITS);
  let at = head.indexOf('<');
  while (at !== -1) {
    if (head.startsWith('<!--', at)) {
      at = nextTag(head, head.indexOf('-->', at + 4));
      continue;
    }
    BODY.lastIndex = at;
    if (BODY.test(head)) break;
    NAME.lastIndex = at;
    const name = NAME.exec(head)?.[1]?.toLowerCase();
    if (name === undefined) {
      at = nextTag(head, at + 1);
      continue;
    }
    const end = tagEnd(head, at);
    if (end === -1) break;
    if (name === 'meta' || name === 'link') {
      elements.push({name, attributes: attributesOf(head.slice(at + 1 + name.length, end))});
    }
    at = nextTag(head, RAW.has(name) ? closingTag(head, name, end) : end);
  }
  return elements;
}

function nextTag(text: string, from: number): number {
  return from === -1 ? -1 : text.indexOf('<', from);
}

/** The `>` of a tag, outside of quotation marks; -1 where there is none. */
function tagEnd(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at;
  }
  return -1;
}

/** The closing tag of what began before `from`; -1 where it is not closed. */
function closingTag(text: string, name: string, from: number): number {
  const close = new RegExp(`</${name}`, 'gi');
  close.lastIndex = from;
  return close.exec(text)?.index ?? -1;
}

/** The first of each name counts. */
function attributesOf(written: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single, plain = ''] of written.matchAll(WRITTEN_ATTRIBUTE)) {
    const key = name.toLowerCase();
    const value = double ?? single ?? plain;
    const decoded = new ReferenceDecoder(value).decode(0, value.length, true);
    if (!attributes.has(key)) attributes.set(key, decoded.trim());
  }
  return attributes;
}

/** What JSON-LD says of the document that holds it, as it is written there. */
interface LinkedData {
  readonly author?: string;
  readonly published?: string;
  readonly site?: string;
}

const MARK = 'application/ld+json';
const MOST_SCRIPTS = 8;
const LONGEST_TAG = 512;
const MOST_UNITS = 131_072;
/** Objects that are looked at, and how deep. */
const MOST_OBJECTS = 256;
const DEEPEST = 4;
const MOST_AUTHORS = 4;

interface Node {
  readonly [key: string]: unknown;
}

/** The first object that has an author, a date or a publisher; the name of a `WebSite` stands for the latter. */
function linkedData(source: string): LinkedData {
  let from = 0;
  let found: LinkedData = {};
  for (let scripts = 0; scripts < MOST_SCRIPTS; scripts += 1) {
    const mark = source.indexOf(MARK, from);
    if (mark === -1) break;
    from = mark + MARK.length;
    if (!source.slice(from, from + LONGEST_TAG).includes('>')) continue;
    const start = source.indexOf('>', from) + 1;
    const behind = source.slice(start, start + MOST_UNITS - 1);
    const end = closingTag(behind, 'script', 0);
    if (end === -1) continue;
    found = {...dataOf(behind.slice(0, end)), ...found};
  }
  return found;
}

function dataOf(json: string): LinkedData {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // A page is not refused for what it says about itself.
    return {};
  }
  const nodes: Node[] = [];
  collect(value, nodes, 0);
  const article = nodes.find(node => node['datePublished'] !== undefined || node['author'] !== undefined);
  const website = nodes.find(node => typesOf(node).includes('WebSite'));
  const authors = namesOf(article?.['author'], nodes);
  const site = namesOf(article?.['publisher'], nodes)[0] ?? textOfValue(website?.['name']);
  const published = textOfValue(article?.['datePublished']);
  return {
    ...(authors.length > 0 && {author: authors.slice(0, MOST_AUTHORS).join(', ')}),
    ...(published !== undefined && {published}),
    ...(site !== undefined && {site}),
  };
}

/** The objects that stand for things of their own: at the top, in lists and in graphs. */
function collect(value: unknown, nodes: Node[], depth: number): void {
  if (depth > DEEPEST || nodes.length >= MOST_OBJECTS || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const one of value.slice(0, MOST_OBJECTS)) collect(one, nodes, depth + 1);
    return;
  }
  const node: Node = {...value};
  nodes.push(node);
  for (const key of ['@graph', 'mainEntity', 'mainEntityOfPage']) collect(node[key], nodes, depth + 1);
}

function typesOf(node: Node): readonly unknown[] {
  const type = node['@type'];
  return Array.isArray(type) ? type : [type];
}

/** Names of people or organisations: texts, objects with a name, or references to such. */
function namesOf(value: unknown, nodes: readonly Node[]): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, MOST_AUTHORS) : [value];
  return values.flatMap(one => {
    if (typeof one === 'string') return [one];
    if (typeof one !== 'object' || one === null) return [];
    const node: Node = {...one};
    const id = node['@id'];
    const named = node['name'] ?? nodes.find(other => id !== undefined && other['@id'] === id)?.['name'];
    return textOfValue(named) ?? [];
  });
}

function textOfValue(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

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
// biome-ignore format: a list
const DATES = [
  'article:published_time', 'datepublished', 'citation_publication_date', 'dc.date.issued', 'dcterms.date',
  'dc.date', 'date', 'parsely-pub-date',
];
const SITES = ['og:site_name', 'application-name', 'citation_journal_title'];
/** So near to the first heading, a `time` is that of the page. */
const NEAR_HEADING = 4096;

/** Reads what the structure of a page says about it: its head, JSON-LD, and a `time` beside its heading. */
export function pageAbout(html: string, mode: ExtractionMode): PageAbout {
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

function bylineOf(html: string, elements: readonly HeadElement[]): PageByline {
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

function timeByHeading(html: string): string | undefined {
  const heading = html.search(/<h1(?=[\s>])/i);
  if (heading === -1) return undefined;
  const near = html.slice(heading, heading + NEAR_HEADING);
  const at = near.search(/<time\s/i);
  const end = at === -1 ? -1 : tagEnd(near, at);
  return end === -1 ? undefined : attributesOf(near.slice(at, end)).get('datetime');
}

/** Review R18, D13: code points. A title of megabytes would leave no room for the page. */
const LONGEST_TITLE = 1000;
/** D13: what BCP 47 asks programs to have room for. Some pages write `en_US`. */
const LANGUAGE_TAG = /^(?=.{1,35}$)[A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8})*$/;

/** FR-WF-13e, D4: the first `<title>`, else the first `<h1>` with text; both as they were before removal. */
export function documentTitle(tree: Tree): string | undefined {
  let heading: string | undefined;
  let titleSeen = false;
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.following(node, DOCUMENT)) {
    const tag = tree.tag(node);
    if (tag === TAG.title && !titleSeen) {
      titleSeen = true;
      const title = textOf(tree, node);
      if (title !== '') return boundedTitle(title);
    } else if (tag === TAG.h1) {
      heading ||= textOf(tree, node);
    }
    if (titleSeen && heading) break;
  }
  return heading === undefined || heading === '' ? undefined : boundedTitle(heading);
}

/** FR-WF-13f: that of `<html lang>`. */
export function documentLanguage(tree: Tree): string | undefined {
  for (let node = tree.firstChild(DOCUMENT); node !== NONE; node = tree.nextSibling(node)) {
    if (tree.tag(node) === TAG.html) return languageTag(tree.attribute(node, ATTRIBUTE.lang));
  }
  return undefined;
}

/** D13: what a document of any kind calls its language, if that is a language tag. */
export function languageTag(written = ''): string | undefined {
  const tag = visibleText(written).trim();
  return LANGUAGE_TAG.test(tag) ? tag : undefined;
}

/** D13: a title of a document of any kind, with `…` where it is cut. */
export function boundedTitle(title: string): string {
  const points = Array.from(title.slice(0, 2 * (LONGEST_TITLE + 1)));
  if (points.length <= LONGEST_TITLE) return title;
  const {length} = points.slice(0, LONGEST_TITLE - 1).join('');
  return `${takeStart(title, length).trimEnd()}…`;
}
