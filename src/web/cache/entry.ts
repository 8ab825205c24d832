// A cache entry as JSON, for the disk and for other replicas. Reads nothing that it would not write. Also: the
// validators by which a server is asked whether a page still holds.

import {isUtf8} from 'node:buffer';
import {crc32} from 'node:zlib';
import {timestamp} from '../../core/clock.ts';
import {
  type ChunkPlan,
  EXTRA_MEDIA,
  type ExtractedDocument,
  type HeaderMap,
  NOTE_ORDER,
  type Note,
  type Page,
  type PageFacts,
  type RenderingMethod,
  type StaleDocument,
  TRUNCATION_PRECEDENCE,
  type TruncationReason,
  USAGE_NAMES,
  USAGE_SOURCES,
  type UsagePreference,
} from '../page.ts';

/** Ruling F1: why a page was rendered in the browser. */
export type RenderingReason = 'fallback' | 'forced' | 'js_heavy';

/** What the pipeline hands over; times of expiry and access are the cache's own. */
export interface NewCacheEntry {
  /** FR-WF-CCH-KEY-01: the final URL. */
  readonly canonical_url: string;
  readonly rendering_method: RenderingMethod;
  readonly fetched_at: string;
  /** Why the browser rendered it; of an HTTP entry: why the browser should have (ruling F3). */
  readonly origin?: RenderingReason;
  /** Ruling F3: with `notes`, what describes the content and holds again on a hit. */
  readonly truncation_reason?: TruncationReason;
  readonly notes: readonly Note[];
  readonly extracted: ExtractedDocument;
  /** Rulings R1 and R3: a renewed entry expires `cache_ttl_days` after `validatedAt`. */
  readonly facts?: PageFacts;
  /** How the server is asked whether the document still holds. */
  readonly validators?: Validators;
  /** Spares a hit with the same `max_chunk_tokens` the chunking. */
  readonly plan?: ChunkPlan | undefined;
}

/** FR-WF-16c: an entry as it is stored, but for its version. Times are RFC 3339 UTC. */
export interface CacheEntry extends NewCacheEntry {
  readonly expires_at: string;
  readonly last_accessed_at: string;
}

/** In bytes. No page is near this, and what is larger is not read into memory to be found out. */
export const LARGEST_ENTRY = 268_435_456;

/** FR-WF-CCH-VER-01: the one version that is written and read. */
const VERSION = 2;
export const METHODS: readonly RenderingMethod[] = ['http', 'browser'];
const ORIGINS: readonly RenderingReason[] = ['fallback', 'forced', 'js_heavy'];

const DAY_MS = 86_400_000;
const PARTIAL_MS = 3_600_000;

/** When the server last said that this is the document, in epoch milliseconds. */
export function confirmedAt({facts, fetched_at}: Pick<NewCacheEntry, 'facts' | 'fetched_at'>): number {
  return Date.parse(facts?.validatedAt ?? fetched_at);
}

/** Ruling F3: in epoch milliseconds. A partial DOM is a state of the moment and kept for an hour. */
export function expiryOf(entry: NewCacheEntry, ttlDays: number): number {
  const isPartial = entry.notes.includes('browser_timeout_dom_partial');
  return confirmedAt(entry) + (isPartial ? PARTIAL_MS : ttlDays * DAY_MS);
}

/** What was kept, as the answer to a call. */
export function pageOf(entry: CacheEntry, finalUrl: string): Page {
  return {
    finalUrl,
    fetchedAt: entry.fetched_at,
    method: entry.rendering_method,
    ...entry.extracted,
    plan: entry.plan,
    notes: ['cache_hit', ...entry.notes],
    facts: entry.facts ?? {},
  };
}

export function printEntry(entry: CacheEntry): Uint8Array {
  return Buffer.concat(printEntryInParts(entry));
}

/** The same for a file, which a large entry need not be in one piece for. */
export function printEntryInParts(entry: CacheEntry): readonly Uint8Array[] {
  const {origin, truncation_reason, notes, extracted, plan, validators} = entry;
  const {validatedAt, media, usage, ...texts}: PageFacts = entry.facts ?? {};
  const {markdown, title, language} = extracted;
  const checksum = checksumOf(extracted);
  const before = {
    version: VERSION,
    ...pick(entry, HEAD_FIELDS),
    origin,
    truncation_reason,
    notes: notes.length > 0 ? notes : undefined,
    ...{validated_at: validatedAt, media, ...texts, usage_preferences: usage},
    validators,
    checksum,
  };
  const beside = {title, language};
  const after = {chunk_plan: plan && printPlan(plan, checksum)};
  return [
    Buffer.from(`${JSON.stringify(before).slice(0, -1)},"extracted":{"markdown":"`),
    ...Array.from(textSlices(markdown), slice => Buffer.from(JSON.stringify(slice).slice(1, -1))),
    Buffer.from(`"${continued(beside)}}${continued(after)}}`),
  ];
}

/** The fields of an object as JSON, behind others. */
function continued(fields: object): string {
  const inside = JSON.stringify(fields).slice(1, -1);
  return inside === '' ? '' : `,${inside}`;
}

/**
 * What `printEntry` would give for the entry with another time of access, but without printing the page
 * again: both times are equally long, so it is written over the old one in `bytes`, where the entry was
 * read from. Inside a JSON string the quotation marks would be escaped, so what is found is the field.
 */
export function touchEntry(bytes: Buffer, entry: CacheEntry, lastAccessedAt: string): Uint8Array {
  const field = `"last_accessed_at":"${entry.last_accessed_at}"`;
  const at = bytes.indexOf(field, 0, 'latin1');
  if (at === -1 || entry.last_accessed_at.length !== lastAccessedAt.length) {
    return printEntry({...entry, last_accessed_at: lastAccessedAt});
  }
  bytes.write(lastAccessedAt, at + field.length - 1 - lastAccessedAt.length, 'latin1');
  return bytes;
}

/** `undefined` for everything that is not, to the last field, an entry of our version. (F4) */
export function parseEntry(bytes: Uint8Array): CacheEntry | undefined {
  const stored = parseJson(bytes);
  if (!isStoredEntry(stored)) return undefined;
  const extracted = pick(stored.extracted, ['markdown', 'title', 'language']);
  // An entry as the SRD prints it has none; one that is there has to be right.
  const checksum = checksumOf(extracted);
  if (stored.checksum !== undefined && stored.checksum !== checksum) return undefined;
  const {validated_at: validatedAt, usage_preferences: usage, notes = []} = stored;
  const validators = readValidators(stored.validators);
  if (stored.validators !== undefined && !validators) return undefined;
  const facts: PageFacts = {
    ...(validatedAt !== undefined && {validatedAt}),
    ...pick(stored, ['media', ...FACTS]),
    ...(usage && {usage}),
  };
  const plan = readPlan(stored.chunk_plan, checksum);
  return {
    ...pick(stored, [...HEAD_FIELDS, 'origin', 'truncation_reason']),
    notes,
    extracted,
    ...(Object.keys(facts).length > 0 && {facts}),
    ...(validators && {validators}),
    ...(plan && {plan}),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const FACTS = ['alternate', 'author', 'published', 'site'] as const;
const HEAD_FIELDS = [
  'canonical_url',
  'rendering_method',
  'fetched_at',
  'expires_at',
  'last_accessed_at',
] as const;

/** What an entry says of itself, without its page. Times are RFC 3339 UTC. */
export type EntryHead = Pick<CacheEntry, (typeof HEAD_FIELDS)[number]>;

/** As `printEntry` begins an entry of our version. */
const HEAD =
  /^(\{"version":\d+,"canonical_url":"(?:[^"\\]|\\.)*",(?:"[a-z_]+":"[^"]+",){3}"last_accessed_at":"[^"]+")[,}]/;

/** The same from the first bytes of an entry; `undefined` where they do not say all. */
export function parseEntryHead(bytes: Buffer): EntryHead | undefined {
  const [, head] = HEAD.exec(bytes.toString('utf8')) ?? [];
  const stored = head && parseJson(Buffer.from(`${head},"extracted":{"markdown":""}}`));
  return isStoredEntry(stored) ? pick(stored, HEAD_FIELDS) : undefined;
}

type StoredEntry = Omit<CacheEntry, 'notes' | 'facts' | 'validators' | 'plan'> &
  Omit<PageFacts, 'validatedAt' | 'usage'> & {
    readonly notes?: readonly Note[];
    readonly validated_at?: string;
    readonly usage_preferences?: readonly UsagePreference[];
    readonly checksum?: unknown;
    readonly validators?: unknown;
    readonly chunk_plan?: unknown;
  };

/** Whether its fields have their types. The last three of them are looked at where they are read. */
function isStoredEntry(value: unknown): value is StoredEntry {
  const entry = readObject(value);
  const document = readObject(entry?.['extracted']);
  if (entry?.['version'] !== VERSION || !document) return false;
  const {canonical_url, rendering_method, fetched_at, expires_at, last_accessed_at} = entry;
  const {origin, truncation_reason, notes = [], validated_at = fetched_at, media} = entry;
  const {usage_preferences: usage = []} = entry;
  return (
    typeof canonical_url === 'string' &&
    METHODS.some(one => one === rendering_method) &&
    [fetched_at, expires_at, last_accessed_at, validated_at].every(isTime) &&
    [undefined, ...ORIGINS].some(one => one === origin) &&
    [undefined, ...TRUNCATION_PRECEDENCE].some(one => one === truncation_reason) &&
    Array.isArray(notes) &&
    notes.every(note => NOTE_ORDER.some(one => one === note)) &&
    typeof document['markdown'] === 'string' &&
    [document['title'], document['language'], ...FACTS.map(name => entry[name])].every(
      text => text === undefined || typeof text === 'string',
    ) &&
    [undefined, ...EXTRA_MEDIA].some(one => one === media) &&
    Array.isArray(usage) &&
    usage.every(isPreference)
  );
}

/** Some fields of an object; none that is `undefined`. */
function pick<Fields extends object, Name extends keyof Fields>(
  fields: Fields,
  names: readonly Name[],
): Pick<Fields, Name> {
  const known = names.filter(name => fields[name] !== undefined);
  return Object.fromEntries(known.map(name => [name, fields[name]])) as Pick<Fields, Name>;
}

/** Tells a page from one of which the disk has lost a bit and that is still JSON. (F4) */
function checksumOf({markdown, title = '', language = ''}: ExtractedDocument): number {
  let checksum = crc32(`${title}\0${language}\0`);
  for (const slice of textSlices(markdown)) checksum = crc32(slice, checksum);
  return checksum;
}

function parseJson(bytes: Uint8Array): unknown {
  // Node would replace bytes that are not UTF-8, and serve text that nobody wrote.
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

function readObject(value: unknown): {readonly [field: string]: unknown} | undefined {
  return typeof value === 'object' && value !== null ? {...value} : undefined;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function isPreference(value: unknown): boolean {
  const {source, name, value: said} = readObject(value) ?? {};
  return (
    USAGE_SOURCES.some(one => one === source) &&
    USAGE_NAMES.some(one => one === name) &&
    typeof said === 'string'
  );
}

/** Raise it when the chunker cuts elsewhere: the plans of older versions are then not used. */
const CHUNKER = 1;

/** Its heading, its tokens, and the starts and ends of its parts. */
type StoredChunk = readonly [heading: string, tokens: number, ...parts: readonly number[]];

function printPlan({maxTokens, chunks}: ChunkPlan, checksumOfText: number): object {
  const plan = {
    chunker: CHUNKER,
    max_chunk_tokens: maxTokens,
    chunks: chunks.map(({heading, tokens, parts}): StoredChunk => [heading, tokens, ...parts]),
  };
  return {...plan, checksum: crc32(JSON.stringify(plan), checksumOfText)};
}

/** `undefined` for what is not the plan that we made for this very text. The page is good without it. */
function readPlan(value: unknown, checksumOfText: number): ChunkPlan | undefined {
  const {checksum, ...plan} = readObject(value) ?? {};
  if (checksum !== crc32(JSON.stringify(plan), checksumOfText)) return undefined;
  const {chunker, max_chunk_tokens: maxTokens, chunks} = plan;
  if (chunker !== CHUNKER || !Number.isSafeInteger(maxTokens)) return undefined;
  if (!Array.isArray(chunks) || !chunks.every(isStoredChunk)) return undefined;
  return {
    maxTokens: maxTokens as number,
    chunks: chunks.map(([heading, tokens, ...parts]) => ({heading, parts, tokens})),
  };
}

function isStoredChunk(value: unknown): value is StoredChunk {
  if (!Array.isArray(value)) return false;
  const [heading, ...numbers] = value;
  return typeof heading === 'string' && numbers.length % 2 === 1 && numbers.every(Number.isSafeInteger);
}

/** What a server gave along with a document, so that it can be asked whether it still has that one. */
interface Validators {
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
export function staleDocument({etag, last_modified}: Validators): StaleDocument | undefined {
  if (etag !== undefined) {
    return {
      conditions: {'If-None-Match': etag},
      matches304: headers => {
        const said = headers.get('etag');
        return said === undefined || (said.length === 1 && opaque(said[0] ?? '') === opaque(etag));
      },
    };
  }
  if (last_modified === undefined) return undefined;
  return {
    conditions: {'If-Modified-Since': last_modified},
    matches304: headers => {
      const said = headers.get('last-modified');
      return said === undefined || (said.length === 1 && said[0] === last_modified);
    },
  };
}

/** Do not trust what an entry says: it becomes a header only if it has the form of one. */
export function readValidators(value: unknown): Validators | undefined {
  const {etag, last_modified, asked_as} = readObject(value) ?? {};
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

const SLICE_UNITS = 65_536;

/**
 * A text in order, in slices that are encoded one after the other, so that a large one is never in memory as
 * a whole in every form it takes. No surrogate pair is cut.
 */
export function* textSlices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + SLICE_UNITS);
    if (isHighSurrogate(text.charCodeAt(to - 1)) && to < text.length) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

/**
 * For other replicas: in the form that the disk has. How long it serves is for each of them to say. It has no
 * validators: with those of the site, whoever changes the text in the engine would have the site confirm it.
 * It has no plan: that decides which text and which headings are shown, and `isOwnText` looks at the text only.
 */
export function printSharedEntry({validators: _, plan: __, ...entry}: NewCacheEntry): Uint8Array {
  return printEntry({...entry, expires_at: entry.fetched_at, last_accessed_at: entry.fetched_at});
}

/**
 * Ruling S1: `undefined` for everything that is not, to the last field, a page of this address that serves now.
 * Whether its text could be ours is for `isOwnText` to say. Validators and plans are left out.
 * A page of tomorrow is none, or it would serve for ever; clocks may differ by less.
 */
export function readSharedEntry(
  bytes: Uint8Array,
  {address, ttlDays, now}: {readonly address: string; readonly ttlDays: number; readonly now: number},
): CacheEntry | undefined {
  const parsed = parseEntry(bytes);
  if (parsed?.canonical_url !== address) return undefined;
  const {validators: _, plan: __, ...entry} = parsed;
  const confirmed = confirmedAt(entry);
  const expires = expiryOf(entry, ttlDays);
  if (Number.isNaN(expires) || confirmed > now + DAY_MS || expires < now) return undefined;
  return {...entry, expires_at: timestamp(expires), last_accessed_at: timestamp(now)};
}

/**
 * The address of a page in the cache. Canonical URLs have no fragment, so a page that was read with other options than the
 * defaults is no page of `web_fetch`. (R3)
 */
export function pageAddress(url: string, variant: string): string {
  return variant === '' ? url : `${url}#${variant}`;
}
