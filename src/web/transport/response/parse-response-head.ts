import {ok, type Result} from '../../../core/result.ts';
import type {HeaderMap} from '../../page.ts';
import type {NetworkError} from '../network-error.ts';
import {trimBlanks} from './trim-blanks.ts';

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
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
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
