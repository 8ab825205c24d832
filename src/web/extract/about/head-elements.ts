import {ReferenceDecoder} from '../parse/scan/reference-decoder.ts';
import {SourceText} from '../tree/source-text.ts';

/** An element of a head that says something by its attributes. */
export interface HeadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Where a head ends, if not before; a page may have megabytes behind it. */
const HEAD_UNITS = 65_536;
const NAME = /<([a-z][a-z0-9]*)/iy;
const BODY = /<body(?=[\s/>])/iy;
const ATTRIBUTE = /([a-z][a-z:._-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
/** What they hold is no markup. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'title']);

/** The `meta` and `link` elements of a head, in order. One pass over the source, which need not be well formed. */
export function headElements(html: string | SourceText): readonly HeadElement[] {
  const elements: HeadElement[] = [];
  const head = SourceText.of(html).from(0, HEAD_UNITS);
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
export function tagEnd(text: string, from: number): number {
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
export function closingTag(text: string, name: string, from: number): number {
  const close = new RegExp(`</${name}`, 'gi');
  close.lastIndex = from;
  return close.exec(text)?.index ?? -1;
}

/** The first of each name counts. */
export function attributesOf(written: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single, plain = ''] of written.matchAll(ATTRIBUTE)) {
    const key = name.toLowerCase();
    const value = double ?? single ?? plain;
    const decoded = new ReferenceDecoder(value).decode(0, value.length, true);
    if (!attributes.has(key)) attributes.set(key, decoded.trim());
  }
  return attributes;
}
