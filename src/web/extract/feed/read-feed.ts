import {ConversionProblem} from '../conversion-problem.ts';
import {attributesOf, scanXml} from './scan-xml.ts';

/** A text of a feed. HTML where the format says so. */
export interface FeedText {
  readonly text: string;
  readonly isHtml: boolean;
}

/** What a feed says of itself or of an entry, by the names of Atom. */
export interface FeedItem {
  title?: FeedText;
  link?: string;
  /** As it is written. */
  updated?: string;
  author?: string;
  summary?: FeedText;
  content?: FeedText;
}

export interface Feed extends FeedItem {
  language?: string;
  readonly entries: readonly FeedItem[];
}

const MOST_ENTRIES = 10_000;
const ROOTS = new Set(['rss', 'feed', 'RDF']);
/** Prefixes of the names below; others, such as `media:title`, are something else. */
const PREFIXES = new Set(['', 'atom', 'a', 'rdf', 'rss', 'content', 'dc']);

type Field = 'title' | 'link' | 'updated' | 'author' | 'summary' | 'content' | 'language';

/** RSS 0.9 to 2.0, RSS 1.0 with Dublin Core, Atom 1.0. */
const FIELDS: ReadonlyMap<string, Field> = new Map([
  ['title', 'title'],
  ['link', 'link'],
  ['pubDate', 'updated'],
  ['date', 'updated'],
  ['published', 'updated'],
  ['updated', 'updated'],
  ['author', 'author'],
  ['creator', 'author'],
  ['description', 'summary'],
  ['subtitle', 'summary'],
  ['summary', 'summary'],
  ['encoded', 'content'],
  ['content', 'content'],
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
export function readFeed(source: string): Feed {
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
