import {expectedErrorCode} from '../../../system/error-code.ts';
import type {RenderingMethod} from '../../page.ts';
import {cacheKey} from '../cache-key.ts';
import {type CacheEntry, LARGEST_ENTRY, parseEntry} from '../entry.ts';
import {readFile} from '../read-file.ts';

/** What an entry says of itself, without its page. Times are RFC 3339 UTC. */
export type EntryHead = Pick<
  CacheEntry,
  'canonical_url' | 'rendering_method' | 'fetched_at' | 'expires_at' | 'last_accessed_at'
>;

export interface FoundHead {
  /** `undefined` for a file that no fetch would serve. */
  readonly head: EntryHead | undefined;
  readonly size: number;
  /** Tell this file from one that has replaced it. */
  readonly inode: number;
  readonly changedMs: number;
}

/** Something stands there, and no fetch would read it. */
const UNREADABLE: FoundHead = {head: undefined, size: 0, inode: 0, changedMs: 0};
/** Longer than everything that precedes the page, but for a very long URL. */
const HEAD_BYTES = 4096;
const TIME = '"(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?Z)"';
/** As `printEntry` begins an entry of our version. */
const HEAD = new RegExp(
  `^\\{"version":2,"canonical_url":("(?:[^"\\\\]|\\\\.)*"),"rendering_method":"(http|browser)",` +
    `"fetched_at":${TIME},"expires_at":${TIME},"last_accessed_at":${TIME}[,}]`,
);

/**
 * Reads the start of an entry, and the whole of it only where the start does not say all. `undefined` if
 * there is no such file any more. Never throws for what the file system says, and not for what it holds.
 */
export async function readEntryHead(path: string, key: string): Promise<FoundHead | undefined> {
  try {
    const start = await readFile(path, HEAD_BYTES, 'head');
    if (!start) return UNREADABLE;
    const {size, inode, changedMs} = start;
    if (size > LARGEST_ENTRY) return {head: undefined, size, inode, changedMs};
    let head = size <= HEAD_BYTES ? parseEntry(start.bytes) : parseHead(start.bytes);
    if (!head && size > HEAD_BYTES) {
      const whole = await readFile(path, LARGEST_ENTRY);
      head = whole && parseEntry(whole.bytes);
    }
    // Ruling F4: what a fetch would not serve under this key is no entry.
    const fits = head !== undefined && cacheKey(head.canonical_url, head.rendering_method) === key;
    return {head: fits ? head : undefined, size, inode, changedMs};
  } catch (error) {
    if (expectedErrorCode(error) === 'ENOENT') return undefined;
    return UNREADABLE;
  }
}

function parseHead(bytes: Buffer): EntryHead | undefined {
  const [, url, method, fetched_at, expires_at, last_accessed_at] = HEAD.exec(bytes.toString('utf8')) ?? [];
  if (url === undefined || fetched_at === undefined) return undefined;
  if (expires_at === undefined || last_accessed_at === undefined) return undefined;
  const times = [fetched_at, expires_at, last_accessed_at];
  const canonical_url = parseString(url);
  if (canonical_url === undefined || times.some(time => Number.isNaN(Date.parse(time)))) return undefined;
  const rendering_method: RenderingMethod = method === 'browser' ? 'browser' : 'http';
  return {canonical_url, rendering_method, fetched_at, expires_at, last_accessed_at};
}

function parseString(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    // A control character, or an escape that JSON does not have.
    return undefined;
  }
}
