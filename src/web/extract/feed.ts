// RSS and Atom as Markdown: an entry becomes a section.

import {toUrl} from '../../core/text/parse.ts';
import type {ExtractedDocument} from '../page.ts';
import {languageTag} from './about.ts';
import {ConversionProblem, extractHtml} from './extract-html.ts';

/** Headings of an entry's text stand below the heading of the entry. */
const DEEPER = 2;

/** Ruling R3: RSS or Atom as Markdown, every entry a section. Throws `ConversionProblem`. */
export function extractFeed(source: string, baseUrl: string): ExtractedDocument {
  const feed = readFeed(source);
  const title = feed.title === undefined ? '' : plain(feed.title, baseUrl);
  const parts = [itemMarkdown(feed, 1, baseUrl), ...feed.entries.map(one => itemMarkdown(one, 2, baseUrl))];
  const markdown = parts.filter(part => part !== '').join('\n\n');
  const language = languageTag(feed.language);
  return {
    markdown: markdown === '' ? '' : `${markdown}\n`,
    ...(title !== '' && {title}),
    ...(language !== undefined && {language}),
  };
}

function itemMarkdown(item: FeedItem, level: 1 | 2, baseUrl: string): string {
  const {title, link, updated, author, summary, content} = item;
  const address = link === undefined ? undefined : absolute(link, baseUrl);
  const name = title === undefined ? '' : plain(title, baseUrl);
  const about = [address, updated, author].filter(part => part !== undefined).map(escapeHtml);
  const head = extractHtml(
    `<h${level}>${escapeHtml(name === '' && level === 2 ? '(no title)' : name)}</h${level}><p>${about.join(' · ')}</p>`,
    {baseUrl, honorBaseHref: false},
  );
  const text = content ?? summary;
  const body =
    text === undefined
      ? ''
      : shiftHeadings(htmlOf(text, address ?? baseUrl).trim(), level === 1 ? 1 : DEEPER);
  return [head.markdown.trim(), body].filter(part => part !== '').join('\n\n');
}

function htmlOf({text, isHtml}: FeedText, baseUrl: string): string {
  const html = isHtml ? text : `<p>${escapeHtml(text)}</p>`;
  return extractHtml(`<!DOCTYPE html><body>${html}`, {baseUrl, honorBaseHref: false}).markdown;
}

/** One line without markup. */
function plain({text, isHtml}: FeedText, baseUrl: string): string {
  const html = `<title>${isHtml ? text : escapeHtml(text)}</title>`;
  const title = extractHtml(html, {baseUrl, honorBaseHref: false}).title ?? '';
  return isHtml ? title.replace(/<[^<>]*>/g, '').trim() : title;
}

function absolute(link: string, baseUrl: string): string | undefined {
  const url = toUrl(link, baseUrl);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A text of a feed. HTML where the format says so. */
interface FeedText {
  readonly text: string;
  readonly isHtml: boolean;
}

/** What a feed says of itself or of an entry, by the names of Atom. */
interface FeedItem {
  title?: FeedText;
  link?: string;
  /** As it is written. */
  updated?: string;
  author?: string;
  summary?: FeedText;
  content?: FeedText;
}

interface Feed extends FeedItem {
  language?: string;
  readonly entries: readonly FeedItem[];
}

const MOST_ENTRIES = 10_000;
const ROOTS = new Set(['rss', 'feed', 'RDF']);
/** Prefixes of the names below; others, such as `media:title`, are something else. */
const PREFIXES = new Set(['', 'atom', 'a', 'rdf', 'rss', 'content', 'dc']);

type Field = 'title' | 'link' | 'updated' | 'author' | 'summary' | 'content' | 'language';

// biome-ignore format: a list
/** RSS 0.9 to 2.0, RSS 1.0 with Dublin Core, Atom 1.0. */
const FIELDS: ReadonlyMap<string, Field> = new Map([
  ['title', 'title'], ['link', 'link'], ['pubDate', 'updated'], ['date', 'updated'], ['published', 'updated'],
  ['updated', 'updated'], ['author', 'author'], ['creator', 'author'], ['description', 'summary'],
  ['subtitle', 'summary'], ['summary', 'summary'], ['encoded', 'content'], ['content', 'content'],
  ['language', 'language'],
]);

interface Capture {
  readonly field: Field;
  readonly depth: number;
  readonly start: number;
  readonly type: string;
  text: string;
  /** The `<name>` in the `<author>` of Atom. */
  name: string | undefined;
}

/** Ruling R3: RSS or Atom as titles and texts. Throws `ConversionProblem`. */
function readFeed(source: string): Feed {
  const feed: Feed & {entries: FeedItem[]} = {entries: []};
  let depth = 0;
  let itemDepth = 0;
  let item: FeedItem | undefined;
  let capture: Capture | undefined;
  let inName = false;

  scanXml(source, {
    open(qualified, written, start) {
      depth += 1;
      const name = localName(qualified);
      if (depth === 1) {
        if (name === undefined || !ROOTS.has(name)) {
          throw new ConversionProblem('damaged', 'it is XML, but neither RSS nor Atom');
        }
        const language = attributesOf(written).get('xml:lang');
        if (language) feed.language = language;
        return;
      }
      if (capture) {
        inName = capture.field === 'author' && name === 'name';
        if (inName) capture.name = '';
        return;
      }
      if (item === undefined && (name === 'item' || name === 'entry')) {
        item = {};
        itemDepth = depth;
        if (feed.entries.push(item) > MOST_ENTRIES) {
          throw new ConversionProblem('too_complex', `it has more than ${MOST_ENTRIES} entries`);
        }
        return;
      }
      const field = name === undefined ? undefined : FIELDS.get(name);
      // What stands deeper is about something else, such as the title of an image.
      const own = item ? depth === itemDepth + 1 : depth === 2 || depth === 3;
      if (field === undefined || !own) return;
      const attributes = attributesOf(written);
      const href = attributes.get('href');
      if (field === 'link' && href !== undefined) {
        const relation = attributes.get('rel') ?? 'alternate';
        const target = item ?? feed;
        if (relation === 'alternate') target.link ??= href;
        return;
      }
      const type = attributes.get('type') ?? '';
      capture = {field, depth, start, type, text: '', name: undefined};
    },
    text(text) {
      if (!capture) return;
      if (inName) capture.name += text;
      else capture.text += text;
    },
    close(_, end) {
      inName = false;
      if (capture?.depth === depth) {
        keep(item ?? feed, capture, source, end);
        capture = undefined;
      } else if (item && depth === itemDepth) {
        item = undefined;
      }
      depth -= 1;
    },
  });
  return feed;
}

function keep(target: FeedItem & {language?: string}, capture: Capture, source: string, end: number): void {
  const {field, type, start} = capture;
  const text = capture.text.trim();
  switch (field) {
    case 'title':
      if (text !== '') target.title ??= {text, isHtml: type.includes('html')};
      break;
    case 'summary':
    case 'content': {
      // Atom: XHTML stands in the document as elements; its source is what is converted.
      const html = type === 'xhtml' ? source.slice(start, end) : text;
      // RSS says HTML by not saying anything; Atom says text by that.
      const isAtomText = type === 'text' || (type === '' && !/<[a-z/!]/i.test(html) && !html.includes('&'));
      if (html !== '') target[field] ??= {text: html, isHtml: !isAtomText};
      break;
    }
    case 'author': {
      const name = (capture.name ?? text).trim();
      if (name !== '') target.author ??= name;
      break;
    }
    default:
      if (text !== '') target[field] ??= text;
  }
}

function localName(qualified: string): string | undefined {
  const colon = qualified.indexOf(':');
  if (colon < 0) return qualified;
  return PREFIXES.has(qualified.slice(0, colon)) ? qualified.slice(colon + 1) : undefined;
}

interface XmlHandler {
  /** `start` is where the content of the element begins in the source. */
  readonly open: (name: string, attributes: string, start: number) => void;
  /** `end` is where its content ends. */
  readonly close: (name: string, end: number) => void;
  readonly text: (text: string) => void;
}

/** Deeper than any feed. */
const DEEPEST = 500;
const NAME = /[^\s/>=<]+/y;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};
/**
 * The next piece of the attributes: a name with or without its value, a stray text in quotes, or one character between them.
 * Every position has a piece, so nothing is read a second time.
 */
const ATTRIBUTE = /([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?|"[^"]*"|'[^']*'|[\s=/>"']/gy;

/**
 * XML as feeds have it, to a handler. Document types are passed over and declare nothing, so an entity stands for one
 * character at most. Linear. Throws `ConversionProblem` where the document is no tree.
 */
function scanXml(source: string, handler: XmlHandler): void {
  const open: string[] = [];
  let hasRoot = false;
  for (let at = 0; at < source.length; ) {
    const tag = source.indexOf('<', at);
    const behind = tag < 0 ? source.length : tag;
    if (behind > at && open.length > 0) handler.text(decodeEntities(source.slice(at, behind)));
    if (tag < 0) break;
    if (source.startsWith('<!--', tag)) {
      at = endOf(source, '-->', tag + 4);
    } else if (source.startsWith('<![CDATA[', tag)) {
      at = endOf(source, ']]>', tag + 9);
      if (open.length > 0) handler.text(source.slice(tag + 9, at - 3));
    } else if (source.startsWith('<?', tag)) {
      at = endOf(source, '?>', tag + 2);
    } else if (source.startsWith('<!', tag)) {
      at = endOfDoctype(source, tag);
    } else if (source.startsWith('</', tag)) {
      at = endOf(source, '>', tag + 2);
      const name = source.slice(tag + 2, at - 1).trim();
      if (open.pop() !== name) throw damaged(`</${name.slice(0, 50)}> closes no element`);
      handler.close(name, tag);
    } else {
      if (open.length === 0 && hasRoot) throw damaged('it has two roots');
      hasRoot = true;
      at = readTag(source, tag, open, handler);
    }
  }
  if (!hasRoot || open.length > 0) throw damaged('it ends in the middle');
}

/** `name="value"` pairs of a start tag, by local name; the first one counts. */
function attributesOf(written: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name, double, single] of written.matchAll(ATTRIBUTE)) {
    const value = double ?? single;
    if (name !== undefined && value !== undefined && !found.has(name)) found.set(name, decodeEntities(value));
  }
  return found;
}

function readTag(source: string, tag: number, open: string[], handler: XmlHandler): number {
  NAME.lastIndex = tag + 1;
  const name = NAME.exec(source)?.[0];
  if (name === undefined) throw damaged('a "<" starts no element');
  const end = endOfTag(source, tag + 1 + name.length);
  const isEmpty = source.charAt(end - 2) === '/';
  handler.open(name, source.slice(tag + 1 + name.length, isEmpty ? end - 2 : end - 1), end);
  if (isEmpty) {
    handler.close(name, end);
  } else {
    open.push(name);
    if (open.length > DEEPEST) {
      throw new ConversionProblem('too_complex', `its elements are nested deeper than ${DEEPEST}`);
    }
  }
  return end;
}

/** A ">" inside quotes ends no tag. */
function endOfTag(source: string, from: number): number {
  let quote = '';
  for (let at = from; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '>') {
      return at + 1;
    }
  }
  throw damaged('it ends in the middle of a tag');
}

/** With an internal subset between brackets, of which nothing is read. */
function endOfDoctype(source: string, from: number): number {
  const end = endOf(source, '>', from);
  const bracket = source.slice(from, end).indexOf('[');
  return bracket < 0 ? end : endOf(source, ']>', from + bracket);
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  if (at < 0) throw damaged(`"${mark}" is missing`);
  return at + mark.length;
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (written, decimal: string, hex: string, name: string) => {
    if (name !== undefined) return NAMED[name] ?? written;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : '\ufffd';
  });
}

function damaged(what: string): ConversionProblem {
  return new ConversionProblem('damaged', `it is not well-formed XML: ${what}`);
}

const HEADING = /^#{1,6}(?=\s)/;
const FENCE = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,})/;
const DEEPEST_HEADING = 6;

/** The same Markdown with its headings `by` levels deeper. Lines between code fences stay. */
export function shiftHeadings(markdown: string, by: number): string {
  let fence = '';
  return markdown
    .split('\n')
    .map(line => {
      const ticks = FENCE.exec(line)?.[1];
      if (fence !== '') {
        if (ticks !== undefined && ticks.length >= fence.length && line.trimEnd().endsWith(ticks)) fence = '';
        return line;
      }
      if (ticks !== undefined) fence = ticks;
      return line.replace(HEADING, marks => '#'.repeat(Math.min(DEEPEST_HEADING, marks.length + by)));
    })
    .join('\n');
}

const DECLARATION = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']/;

/** XML 1.0 §4.3.3: what the declaration says, where no header does. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  return DECLARATION.exec(start)?.[1];
}
