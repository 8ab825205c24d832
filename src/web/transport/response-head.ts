// Parses the head of a response strictly, and finds how its body ends.

import {ok, type Result} from '../../core/result.ts';
import type {HeaderMap, HttpRequest} from '../page.ts';
import type {NetworkError} from './network-error.ts';

/** Ruling C2 */
const MAX_HEAD_BYTES = 65_536;
const START = Buffer.from('HTTP/');
const CR = 0x0d;
const LF = 0x0a;

interface HeadBytes {
  /** Status line and fields, each line with its CRLF, without the empty line. */
  readonly head: Buffer;
  /** What came after the empty line. */
  readonly rest: Buffer;
}

/**
 * Collects the bytes of one response head, however they are cut. Lines end at CRLF only: a bare LF,
 * which parsers disagree about, is refused, and so is a peer that does not begin with `HTTP/`.
 */
export class HeadReader {
  #buffer = Buffer.alloc(0);
  #length = 0;
  #lineStart = 0;
  #scanned = 0;

  /** The head once it is whole, `undefined` while it is not. */
  push(chunk: Buffer): Result<HeadBytes | undefined, NetworkError> {
    const bytes = this.#length === 0 ? chunk : this.#append(chunk);
    const known = Math.min(bytes.length, START.length);
    if (bytes.compare(START, 0, known, 0, known) !== 0) return {ok: false, error: 'malformed_status_line'};

    for (let lf = bytes.indexOf(LF, this.#scanned); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
      if (lf >= MAX_HEAD_BYTES) return {ok: false, error: 'header_block_too_large'};
      if (bytes[lf - 1] !== CR) return {ok: false, error: 'malformed_header'};
      if (lf - 1 === this.#lineStart) {
        return ok({head: bytes.subarray(0, lf - 1), rest: bytes.subarray(lf + 1)});
      }
      this.#lineStart = lf + 1;
    }
    if (bytes.length >= MAX_HEAD_BYTES) return {ok: false, error: 'header_block_too_large'};
    this.#scanned = bytes.length;
    if (this.#length === 0) this.#append(chunk);
    return ok(undefined);
  }

  /** Doubles its space, so a head that comes byte by byte costs linear time. */
  #append(chunk: Buffer): Buffer {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    return this.#buffer.subarray(0, length);
  }
}

/** Ruling C2 */
const MAX_FIELDS = 256;
const MAX_REASON_CHARACTERS = 100;

export interface ResponseHead {
  /** 0 or 1: the minor version. */
  readonly minorVersion: number;
  readonly status: number;
  /** ASCII, at most 100 characters. */
  readonly statusText: string;
  /** Values are bytes as Latin-1. */
  readonly headers: HeaderMap;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
/** RFC 9110 §5.6.2 */
export const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN_IN_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** RFC 9112 §4 and §5, without the leniencies: no folding, no blank before the colon, no control bytes. */
export function parseResponseHead(bytes: Buffer): Result<ResponseHead, NetworkError> {
  const [statusLine = '', ...lines] = bytes
    .toString('latin1', 0, Math.max(0, bytes.length - 2))
    .split('\r\n');
  const match = STATUS_LINE.exec(statusLine);
  if (match === null) return {ok: false, error: 'malformed_status_line'};
  if (lines.length > MAX_FIELDS) return {ok: false, error: 'too_many_header_fields'};

  const headers = new Map<string, string[]>();
  for (const line of lines) {
    if (line.startsWith(' ') || line.startsWith('\t')) return {ok: false, error: 'obsolete_line_folding'};
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const value = trimBlanks(line.slice(colon + 1));
    if (!FIELD_NAME.test(name) || FORBIDDEN_IN_VALUE.test(value))
      return {ok: false, error: 'malformed_header'};
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  const reason = (match[3] ?? '').slice(0, MAX_REASON_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  return ok({minorVersion: Number(match[1]), status: Number(match[2]), statusText: reason, headers});
}

/** RFC 9110 §5.6.1: the members of a comma-separated field, lower case, empty ones left out. */
export function headerTokens(headers: HeaderMap, name: string): readonly string[] {
  const values = headers.get(name) ?? [];
  return values
    .flatMap(value => value.split(',').map(part => trimBlanks(part).toLowerCase()))
    .filter(Boolean);
}

/**
 * RFC 9110 §5.6.3: blanks are space and TAB. `trim` would take NBSP too, and make a word of what other
 * parsers read as another one. By hand: a regular expression anchored at the end is quadratic in runs.
 */
export function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** RFC 9112 §6.3: how the end of the body is found. */
export type BodyFraming =
  | {readonly kind: 'none'}
  | {readonly kind: 'length'; readonly length: number}
  | {readonly kind: 'chunked'}
  | {readonly kind: 'until-close'};

/**
 * Rulings C1 and C2. Where RFC 9112 lets a client repair an ambiguous message, it is refused: what
 * two parsers read differently is how responses are smuggled.
 */
export function bodyFraming(
  head: ResponseHead,
  method: HttpRequest['method'],
): Result<BodyFraming, NetworkError> {
  const {headers, status, minorVersion} = head;
  const chunked = headers.has('transfer-encoding');
  const lengths = headers.get('content-length')?.flatMap(value => value.split(',')) ?? [];

  if (chunked) {
    const codings = headerTokens(headers, 'transfer-encoding');
    if (minorVersion === 0 || codings.length !== 1 || codings[0] !== 'chunked') {
      return {ok: false, error: 'unsupported_transfer_encoding'};
    }
    if (lengths.length > 0) return {ok: false, error: 'conflicting_framing'};
  }

  const numbers = new Set<number>();
  for (const length of lengths) {
    const digits = trimBlanks(length);
    if (!/^[0-9]{1,15}$/.test(digits)) return {ok: false, error: 'invalid_content_length'};
    numbers.add(Number(digits));
  }
  if (numbers.size > 1) return {ok: false, error: 'conflicting_framing'};

  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return ok({kind: 'none'});
  if (chunked) return ok({kind: 'chunked'});
  for (const length of numbers) return ok({kind: 'length', length});
  return ok({kind: 'until-close'});
}
