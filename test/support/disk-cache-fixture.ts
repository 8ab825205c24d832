import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {LogEvent} from '../../src/core/log.ts';
import {type DiskCache, type DiskCacheSettings, openDiskCache} from '../../src/web/cache/disk-cache.ts';
import type {NewCacheEntry} from '../../src/web/cache/entry.ts';
import {cacheKey, entryPath} from '../../src/web/cache/files.ts';
import type {RenderingMethod} from '../../src/web/page.ts';
import {createManualClock, type ManualClock} from './manual-clock.ts';
import {temporaryDirectory} from './temporary-directory.ts';

export const CACHE_URL = 'https://example.com/page?q=1';

export interface DiskCacheFixture {
  readonly cache: DiskCache;
  readonly directory: string;
  readonly clock: ManualClock;
  readonly log: LogEvent[];
  /** Another cache over the same directory, as another process has it. */
  readonly again: (changes?: Partial<DiskCacheSettings>) => DiskCache;
  readonly page: (url?: string, changes?: Partial<NewCacheEntry>) => NewCacheEntry;
  readonly pathOf: (url?: string, method?: RenderingMethod) => string;
  /** The stored entry as JSON. */
  readonly stored: (url?: string, method?: RenderingMethod) => Record<string, unknown>;
  /** Changes fields of a stored entry behind the cache's back. */
  readonly tamper: (fields: Record<string, unknown>, url?: string) => void;
  /** Paths of all files but the journal, relative to the directory. */
  readonly files: () => readonly string[];
}

export function diskCacheFixture(settings: Partial<DiskCacheSettings> = {}): DiskCacheFixture {
  const directory = settings.directory ?? join(temporaryDirectory(), 'cache');
  const clock = createManualClock(Date.parse('2026-01-10T12:00:00.000Z'));
  const log: LogEvent[] = [];
  const again = (changes: Partial<DiskCacheSettings> = {}): DiskCache => {
    const cache = openDiskCache({
      directory,
      ttlDays: 7,
      maxEntries: 100,
      maxBytes: 2 ** 30,
      clock,
      log: event => log.push(event),
      ...settings,
      ...changes,
    });
    // What it writes by itself would come into a directory that is being removed.
    onTestFinished(() => cache.settled());
    return cache;
  };
  const pathOf = (url = CACHE_URL, method: RenderingMethod = 'http'): string =>
    entryPath(directory, cacheKey(url, method));
  const stored = (url?: string, method?: RenderingMethod): Record<string, unknown> =>
    JSON.parse(readFileSync(pathOf(url, method), 'utf8')) as Record<string, unknown>;
  return {
    cache: again(),
    directory,
    clock,
    log,
    again,
    pathOf,
    stored,
    page: (url = CACHE_URL, changes = {}) => ({
      canonical_url: url,
      rendering_method: 'http',
      fetched_at: new Date(clock.now()).toISOString(),
      notes: [],
      extracted: {markdown: `# Page\n\n${url}`, title: 'Page', language: 'en'},
      ...changes,
    }),
    tamper: (fields, url) => writeFileSync(pathOf(url), JSON.stringify({...stored(url), ...fields})),
    files: () =>
      readdirSync(directory, {recursive: true, withFileTypes: true})
        .filter(entry => entry.isFile() && entry.name !== 'changes.log')
        .map(entry => join(entry.parentPath, entry.name).slice(directory.length + 1))
        .sort(),
  };
}
