// Decides what kind of document a response is.

import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {ExtraMedia, Media} from '../page.ts';

interface DeclaredMedia {
  /** `undefined`: nothing that decides is declared, `sniffMedia` does on the body. */
  readonly media: Media | undefined;
  /** Where the body decides, but not everything may come of it: what was declared, for the refusal. */
  readonly declared?: string;
  readonly charset: string | undefined;
}

interface MediaOptions {
  /** Rulings C5 and R3: what is read beside HTML and plain text. */
  readonly accepts: ReadonlySet<ExtraMedia>;
}

// biome-ignore format: a list
const EXTRA_TYPES: ReadonlyMap<string, ExtraMedia> = new Map([
  ['text/markdown', 'markdown'], ['text/x-markdown', 'markdown'], ['application/json', 'json'],
  ['text/json', 'json'], ['application/rss+xml', 'feed'], ['application/atom+xml', 'feed'],
  ['application/rdf+xml', 'feed'], ['application/pdf', 'pdf'], ['application/x-pdf', 'pdf'],
]);

/** Types that say little: servers send feeds and PDF under them, and much else. */
const VAGUE_TYPES: ReadonlyMap<string, ExtraMedia> = new Map([
  ['application/xml', 'feed'],
  ['text/xml', 'feed'],
  ['application/octet-stream', 'pdf'],
  ['binary/octet-stream', 'pdf'],
]);

/** FR-WF-10f, FR-WF-10g, ruling R3: what the `Content-Type` values say. Errors: `unsupported_content_type`. */
export function decideMedia(
  contentType: readonly string[] | undefined,
  {accepts}: MediaOptions,
): Result<DeclaredMedia> {
  const {mediaType, charset} = parseContentType(contentType);
  switch (mediaType) {
    // Ruling C6: an empty header is a missing one.
    case undefined:
      return ok({media: undefined, charset});
    case 'text/html':
    case 'application/xhtml+xml':
      return ok({media: 'html', charset});
    case 'text/plain':
      return ok({media: 'text', charset});
  }
  const media = EXTRA_TYPES.get(mediaType) ?? (mediaType.endsWith('+json') ? 'json' : undefined);
  if (media !== undefined) return accepts.has(media) ? ok({media, charset}) : refuseMedia(mediaType, accepts);
  const perhaps = VAGUE_TYPES.get(mediaType);
  return perhaps !== undefined && accepts.has(perhaps)
    ? ok({media: undefined, declared: mediaType, charset})
    : refuseMedia(mediaType, accepts);
}

interface ContentType {
  /** `type/subtype` in lower case; `undefined` where the header is missing or empty. */
  readonly mediaType: string | undefined;
  /** The `charset` parameter as written; `undefined` where absent or empty. */
  readonly charset: string | undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/**
 * FR-WF-CT-01, by Fetch "extract a MIME type": of several values the last valid one counts, and
 * keeps the charset of an earlier one of the same type. Where none is valid, the first is returned
 * as it is, so that the refusal can name it.
 */
export function parseContentType(values: readonly string[] | undefined): ContentType {
  const written = splitValues((values ?? []).join(','));
  let found: ContentType | undefined;
  for (const value of written) {
    const parsed = parseMimeType(value);
    if (parsed === undefined || parsed.mediaType === '*/*') continue;
    const inherits = parsed.charset === undefined && parsed.mediaType === found?.mediaType;
    found = inherits ? {...parsed, charset: found?.charset} : parsed;
  }
  return found ?? {mediaType: essence(written[0] ?? '') || undefined, charset: undefined};
}

/** Comma-separated values, but for commas inside quotes; empty ones are dropped. */
function splitValues(header: string): readonly string[] {
  const values: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const char = header[at];
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      values.push(header.slice(start, at));
      start = at + 1;
    }
  }
  values.push(header.slice(start));
  return values.map(value => value.trim()).filter(value => value !== '');
}

function essence(value: string): string {
  return value.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** WHATWG MIME Sniffing §4.4, reduced to the essence and the first `charset`. */
function parseMimeType(value: string): ContentType | undefined {
  const mediaType = essence(value);
  const [type = '', subtype = '', ...more] = mediaType.split('/');
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0) return undefined;
  let at = value.indexOf(';');
  while (at !== -1 && at < value.length) {
    const parameter = readParameter(value, at + 1);
    if (parameter.name === 'charset' && parameter.value !== '') return {mediaType, charset: parameter.value};
    at = parameter.end;
  }
  return {mediaType, charset: undefined};
}

interface Parameter {
  readonly name: string;
  readonly value: string;
  /** Where the next `;` stands, or the end. */
  readonly end: number;
}

function readParameter(text: string, start: number): Parameter {
  let equals = start;
  while (equals < text.length && text[equals] !== ';' && text[equals] !== '=') equals += 1;
  if (text[equals] !== '=') return {name: '', value: '', end: equals};
  const name = text.slice(start, equals).trimStart().toLowerCase();
  if (text[equals + 1] !== '"') {
    const end = endOf(text, ';', equals);
    return {name, value: text.slice(equals + 1, end).trim(), end};
  }

  let value = '';
  let at = equals + 2;
  for (; at < text.length && text[at] !== '"'; at += 1) {
    if (text[at] === '\\' && at + 1 < text.length) at += 1;
    value += text[at];
  }
  return {name, value, end: endOf(text, ';', at)};
}

function endOf(text: string, char: string, start: number): number {
  const at = text.indexOf(char, start);
  return at === -1 ? text.length : at;
}

/** Longer than any type that is registered. */
const MOST_CHARACTERS = 100;

const NAMES: Readonly<Record<ExtraMedia, string>> = {
  markdown: 'Markdown',
  json: 'JSON',
  feed: 'feeds',
  pdf: 'PDF',
};

/**
 * FR-WF-10g, ruling R3. The type is the server's word: no more of it than a name has, and nothing that acts on a
 * terminal.
 */
function refuseMedia(contentType: string, accepts: ReadonlySet<ExtraMedia>): Err<Failure> {
  const shown = contentType.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  const said =
    accepts.size === 0
      ? 'neither HTML nor plain text. Look for an HTML or text version of it.'
      : `which is not read here. Look for a version of it in HTML, plain text, or what is: ${[...accepts].map(media => NAMES[media]).join(', ')}.`;
  return fail('unsupported_content_type', `The document is "${shown}", ${said}`, {content_type: shown});
}

const SNIFFED_BYTES = 512;
/** What may stand in front of the root of a feed: a declaration, comments, a style sheet. */
const FEED_BYTES = 4096;

/** FR-WF-10h: binary signatures at the start of a file, as Latin-1 text. */
const SIGNATURES: readonly (readonly [signature: RegExp, contentType: string, media?: ExtraMedia])[] = [
  [/^%PDF-/, 'application/pdf', 'pdf'],
  [/^\x89PNG/, 'image/png'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^.{4}ftyp/s, 'video/mp4'],
];

/** The root of RSS 2.0, of Atom, and of RSS 1.0, behind what XML lets stand in front of it. */
const FEED_ROOT =
  /^(?:\s+|<\?(?:(?!\?>)[\s\S])*\?>|<!--(?:(?!-->)[\s\S])*-->|<!doctype\b[^>[]*>)*<(?:rss|feed|(?:\w+:)?feed|rdf:RDF)[\s>]/i;

interface Sniffing {
  /** Ruling R3: what is read beside HTML and plain text. */
  readonly accepts: ReadonlySet<ExtraMedia>;
  /** The vague type that the server gave: what is neither a feed nor PDF is refused under it. */
  readonly declared?: string | undefined;
}

/**
 * FR-WF-10h, rulings C6 and R3: the kind of a body that came without a `Content-Type`, or with one that says
 * little. Errors: `unsupported_content_type`.
 */
export function sniffMedia(body: Uint8Array, {accepts, declared}: Sniffing): Result<Media> {
  const start = latin1(body, SNIFFED_BYTES);
  const content = withoutMark(start).replace(/^[\t\n\f\r ]+/, '');
  const binary = SIGNATURES.find(([signature]) => signature.test(start) || signature.test(content));
  if (binary !== undefined) {
    const [, contentType, media] = binary;
    return media !== undefined && accepts.has(media) ? ok(media) : refuseMedia(contentType, accepts);
  }
  if (accepts.has('feed') && FEED_ROOT.test(withoutMark(latin1(body, FEED_BYTES)))) return ok('feed');
  if (declared !== undefined) return refuseMedia(declared, accepts);
  if (start.includes('\0')) return refuseMedia('application/octet-stream', accepts);
  if (/^<(?:!doctype|html)/i.test(content)) return ok('html');
  return ok(accepts.has('json') && isJson(body, content) ? 'json' : 'text');
}

function latin1(body: Uint8Array, most: number): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, most)).toString('latin1');
}

function withoutMark(text: string): string {
  return text.replace(/^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/, '');
}

/** Larger bodies are what they start like: parsing is for the thread that can be killed. */
const PARSED_BYTES = 65_536;

function isJson(body: Uint8Array, content: string): boolean {
  if (!/^[[{]/.test(content)) return false;
  if (body.length > PARSED_BYTES) return /^(?:\{\s*"|\[\s*[[{"\d])/.test(content);
  try {
    JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8').trim());
    return true;
  } catch {
    return false;
  }
}
