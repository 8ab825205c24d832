import {ok, type Result} from '../../core/result.ts';
import type {ExtraMedia, Media} from '../page.ts';
import {refuseMedia} from './refuse-media.ts';

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
