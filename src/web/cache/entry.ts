import {isUtf8} from 'node:buffer';
import {crc32} from 'node:zlib';
import {
  type ExtractedDocument,
  NOTE_ORDER,
  type Note,
  type PageFacts,
  type RenderingMethod,
  type TokenCounts,
  TRUNCATION_PRECEDENCE,
  type TruncationReason,
} from '../page.ts';
import {readTokenCounts} from './stored-counts.ts';
import {isTime, printFacts, readFacts} from './stored-facts.ts';
import {textSlices} from './text-slices.ts';
import {readValidators, type Validators} from './validators.ts';

/** Ruling F1: why a page was rendered in the browser. */
export type RenderingReason = 'fallback' | 'forced' | 'js_heavy';

/** What the pipeline hands over; times of expiry and access are the cache's own. */
export interface NewCacheEntry {
  /** FR-WF-CCH-KEY-01: the final URL. */
  readonly canonical_url: string;
  readonly rendering_method: RenderingMethod;
  readonly fetched_at: string;
  /** Of a browser entry only. */
  readonly origin?: RenderingReason;
  /** Ruling F3: with `notes`, what describes the content and holds again on a hit. */
  readonly truncation_reason?: TruncationReason;
  readonly notes: readonly Note[];
  readonly extracted: ExtractedDocument;
  /** Rulings R1 and R3. A renewed entry expires `cache_ttl_days` after `validatedAt`. */
  readonly facts?: PageFacts;
  /** How the server is asked whether the document still holds. */
  readonly validators?: Validators;
  /** Spares a hit the counting; never more than what the text itself says. */
  readonly counts?: TokenCounts | undefined;
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
const METHODS: readonly RenderingMethod[] = ['http', 'browser'];
const ORIGINS: readonly RenderingReason[] = ['fallback', 'forced', 'js_heavy'];

export function printEntry(entry: CacheEntry): Uint8Array {
  return Buffer.concat(printEntryInParts(entry));
}

/** The same for a file, which a large entry need not be in one piece for. */
export function printEntryInParts(entry: CacheEntry): readonly Uint8Array[] {
  const {canonical_url, rendering_method, fetched_at, expires_at, last_accessed_at} = entry;
  const {origin, truncation_reason, notes, extracted, counts, facts, validators} = entry;
  const {markdown, title, language} = extracted;
  const before = {
    version: VERSION,
    canonical_url,
    rendering_method,
    fetched_at,
    expires_at,
    last_accessed_at,
    origin,
    truncation_reason,
    notes: notes.length > 0 ? notes : undefined,
    ...(facts && printFacts(facts)),
    validators,
    checksum: checksumOf(extracted, counts),
  };
  const beside = {title, language};
  const after = {token_counts: counts && Array.from(counts)};
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

/** Ruling F4: `undefined` for everything that is not, to the last field, an entry of our version. */
export function parseEntry(bytes: Uint8Array): CacheEntry | undefined {
  const fields = readObject(parseJson(bytes));
  if (fields?.['version'] !== VERSION) return undefined;
  const {canonical_url, fetched_at, expires_at, last_accessed_at, notes = []} = fields;
  const rendering_method = METHODS.find(method => method === fields['rendering_method']);
  const extracted = readDocument(fields['extracted']);
  const origin = ORIGINS.find(one => one === fields['origin']);
  const truncation_reason = TRUNCATION_PRECEDENCE.find(one => one === fields['truncation_reason']);
  if (typeof canonical_url !== 'string' || !rendering_method || !extracted) return undefined;
  if (!isTime(fetched_at) || !isTime(expires_at) || !isTime(last_accessed_at)) return undefined;
  if (!Array.isArray(notes) || !notes.every(isNote)) return undefined;
  // An entry as the SRD prints it has none; one that is there has to be right. Without it, counts are hearsay.
  const {checksum} = fields;
  const printed = checksum === undefined ? undefined : fields['token_counts'];
  const counts = readTokenCounts(printed, extracted.markdown.length);
  if (printed !== undefined && !counts) return undefined;
  if (checksum !== undefined && checksum !== checksumOf(extracted, counts)) return undefined;
  if (fields['origin'] !== origin || fields['truncation_reason'] !== truncation_reason) return undefined;
  const facts = readFacts(fields);
  const validators = readValidators(fields['validators']);
  if (!facts || (fields['validators'] !== undefined && !validators)) return undefined;
  return {
    canonical_url,
    rendering_method,
    fetched_at,
    expires_at,
    last_accessed_at,
    ...(origin && {origin}),
    ...(truncation_reason && {truncation_reason}),
    notes,
    extracted,
    ...(Object.keys(facts).length > 0 && {facts}),
    ...(validators && {validators}),
    ...(counts && {counts}),
  };
}

/** Ruling F4: tells a page from one of which the disk has lost a bit and that is still JSON. */
function checksumOf(
  {markdown, title = '', language = ''}: ExtractedDocument,
  counts: TokenCounts | undefined,
): number {
  let checksum = crc32(`${title}\0${language}\0`);
  for (const slice of textSlices(markdown)) checksum = crc32(slice, checksum);
  return counts
    ? crc32(new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength), checksum)
    : checksum;
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

function readDocument(value: unknown): ExtractedDocument | undefined {
  const {markdown, title, language} = readObject(value) ?? {};
  if (typeof markdown !== 'string' || !isOptionalText(title) || !isOptionalText(language)) return undefined;
  return {markdown, ...(title !== undefined && {title}), ...(language !== undefined && {language})};
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isNote(value: unknown): value is Note {
  return NOTE_ORDER.some(note => note === value);
}
