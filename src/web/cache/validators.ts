import type {HeaderMap, KeptDocument} from '../page.ts';

/** What a server gave along with a document, so that it can be asked whether it still has that one. */
export interface Validators {
  readonly etag?: string;
  readonly last_modified?: string;
  /** What the document depends on of ours: other request headers or other rules of extraction give another one. */
  readonly asked_as: string;
}

const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,512}"$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const ASKED_AS = /^[0-9a-f]{16}$/;
/** RFC 9110 §8.8.2.2: a document that is younger may have changed again within the same second. */
const SETTLED_MS = 60_000;

/** RFC 9110 §8.8: of a response's headers, what can be asked with. `undefined` where there is nothing. */
export function validatorsOf(
  headers: HeaderMap,
  fetchedAt: number,
  asked_as: string,
): Validators | undefined {
  // What is different at every request is no document that could be confirmed.
  if (headers.get('vary')?.some(value => value.includes('*'))) return undefined;
  const etag = only(headers, 'etag', ETAG);
  if (etag !== undefined) return {etag, asked_as};
  const last_modified = only(headers, 'last-modified', HTTP_DATE);
  const changed = Date.parse(last_modified ?? '');
  return last_modified !== undefined && changed <= fetchedAt - SETTLED_MS
    ? {last_modified, asked_as}
    : undefined;
}

/** RFC 9110 §13.1: the headers of the question, and which 304 is an answer to it. */
export function keptDocument({etag, last_modified}: Validators): KeptDocument | undefined {
  if (etag !== undefined) {
    return {
      conditions: {'If-None-Match': etag},
      isConfirmedBy: headers => {
        const said = headers.get('etag');
        return said === undefined || (said.length === 1 && opaque(said[0] ?? '') === opaque(etag));
      },
    };
  }
  if (last_modified === undefined) return undefined;
  return {
    conditions: {'If-Modified-Since': last_modified},
    isConfirmedBy: headers => {
      const said = headers.get('last-modified');
      return said === undefined || (said.length === 1 && said[0] === last_modified);
    },
  };
}

/** What stands in an entry is a stranger's word: it becomes a header only if it has the form of one. */
export function readValidators(value: unknown): Validators | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const {etag, last_modified, asked_as}: Readonly<Record<string, unknown>> = {...value};
  if (typeof asked_as !== 'string' || !ASKED_AS.test(asked_as)) return undefined;
  if (typeof etag === 'string' && ETAG.test(etag)) return {etag, asked_as};
  if (typeof last_modified === 'string' && HTTP_DATE.test(last_modified)) return {last_modified, asked_as};
  return undefined;
}

function only(headers: HeaderMap, name: string, form: RegExp): string | undefined {
  const values = headers.get(name);
  const [value] = values ?? [];
  return values?.length === 1 && value !== undefined && form.test(value) ? value : undefined;
}

/** Weak comparison (RFC 9110 §8.8.3.2). Servers that compress name the coding behind the tag, on one of both sides. */
function opaque(etag: string): string {
  return etag.replace(/^W\//, '').replace(/-(?:gzip|br|deflate|zstd)"$/, '"');
}
