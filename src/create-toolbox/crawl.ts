// Opens the shared queue of a crawl, and finds the addresses that pages and sitemaps name.
import {promisify} from 'node:util';
import {gunzip} from 'node:zlib';
import type {Config} from '../config/config-schema.ts';
import {systemClock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {type Failure, fail, ok, type Result} from '../core/result.ts';
import type {
  Added,
  Finish,
  Frontier,
  FrontierUrl,
  JobSettings,
  JobState,
  JobStatus,
  LeasedUrl,
  Taken,
} from '../hub/frontier.ts';
import {parseSitemap, sitemapsOfRobots} from '../web/extract/sitemap.ts';
import type {FetchedFile} from '../web/navigate/fetch-document.ts';
import {linksOf} from '../web/read/markdown-syntax.ts';
import {isSameSite} from '../web/robots/retrieve.ts';
import {parseUrl, redactUrl} from '../web/url.ts';

export type {Added, Finish, Frontier, FrontierUrl, JobSettings, JobState, JobStatus, LeasedUrl, Taken};

interface OpenFrontier {
  readonly frontier: Frontier;
  readonly close: () => Promise<void>;
}

/**
 * What is left to do of a job, at the engine of `tools.hub`. Fails with `invalid_params` where none is configured or the
 * name is none, and with `hub_unavailable` where the settings cannot be used.
 */
export async function openFrontier(
  {tools}: Config,
  job: string,
  {env, log}: {readonly env: Readonly<Record<string, string | undefined>>; readonly log: Log},
): Promise<Result<OpenFrontier>> {
  if (tools.hub.url === '') {
    return fail(
      'invalid_params',
      'A crawl needs an engine that its workers share. Set tools.hub.url, or fetch a list with "forge-tools fetch --from".',
      {field: 'tools.hub.url', reason: 'missing'},
    );
  }
  const [{openHubConnection}, {isJobName, openFrontier: open}] = await Promise.all([
    import('../hub/connection.ts'),
    import('../hub/frontier.ts'),
  ]);
  if (!isJobName(job)) {
    return fail(
      'invalid_params',
      `A job is named by up to 64 letters, digits, dots, "-" and "_", got ${JSON.stringify(job)}.`,
      {field: 'job', reason: 'not a name'},
    );
  }
  const connection = await openHubConnection(tools.hub, {env, clock: systemClock, log});
  if (!connection.ok) return connection;
  return ok({frontier: open(connection.value, job), close: () => connection.value.close()});
}

/** Of one page. */
const MOST_LINKS = 2000;

/**
 * Where a page leads to within its host, or its site. Its host is that of the address that was asked for, whatever the
 * engine calls it: who redirects to another host does not take the crawl along.
 */
export async function pageLinks(
  markdown: string,
  {url: from, depth}: Pick<FrontierUrl, 'url' | 'depth'>,
  sameSite: boolean,
): Promise<readonly FrontierUrl[]> {
  const asked = parseUrl(from);
  if (!asked.ok) return [];
  const host = asked.value.name;
  const found = new Map<string, FrontierUrl>();
  for (const link of linksOf(markdown, MOST_LINKS)) {
    const url = parseUrl(link);
    if (!url.ok || url.value.canonical === from) continue;
    const {canonical, name} = url.value;
    const within = name === host || (sameSite && (await isSameSite({name}, {name: host})));
    if (within) found.set(canonical, {url: canonical, host: name, depth: depth + 1});
  }
  return [...found.values()];
}

/** sitemaps.org: 50 MB, uncompressed. */
export const MOST_SITEMAP_BYTES = 52_428_800;
const MOST_FILES = 1000;
/** An index names sitemaps, and here also indexes of them. */
const DEEPEST = 3;

type FetchSitemap = (url: string) => Promise<Result<FetchedFile>>;

/** What a sitemap lists, or why a file of it lists nothing. */
export type SitemapEntry =
  | {readonly url: string}
  | {readonly file: string; readonly failure: Failure}
  | {readonly file: string; readonly cut: string};

const inflate = promisify(gunzip);

/**
 * The addresses of a sitemap, of an index of sitemaps, or of the sitemaps that a `robots.txt` names, as they are read.
 * What is not of the site of the one who was asked is passed over: a sitemap speaks for its own site. The files are
 * fetched one after another.
 */
export async function* readSitemaps(asked: string, load: FetchSitemap): AsyncGenerator<SitemapEntry> {
  const start = parseUrl(asked);
  if (!start.ok) {
    yield {file: asked, failure: start.error};
    return;
  }
  const {name} = start.value;
  const ofSite = async (text: string): Promise<string | undefined> => {
    const url = parseUrl(text);
    return url.ok && (await isSameSite(url.value, {name})) ? url.value.canonical : undefined;
  };
  const files: {readonly url: string; readonly depth: number}[] = [{url: start.value.canonical, depth: 0}];
  const seen = new Set<string>([start.value.canonical]);
  const offer = async (text: string, depth: number): Promise<boolean> => {
    const url = await ofSite(text);
    if (url === undefined || seen.has(url)) return true;
    if (seen.size >= MOST_FILES) return false;
    seen.add(url);
    files.push({url, depth});
    return true;
  };
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const {url, depth} = file;
    const fetched = await load(url);
    if (!fetched.ok) {
      yield {file: url, failure: fetched.error};
      continue;
    }
    const text = await textOf(fetched.value.bytes);
    if (text === undefined) {
      yield {file: url, cut: 'is larger than a sitemap may be, or is no gzip file'};
      continue;
    }
    if (depth === 0 && new URL(url).pathname === '/robots.txt') {
      for (const named of sitemapsOfRobots(text, MOST_FILES)) await offer(named, 1);
      continue;
    }
    const {isIndex, urls, cut} = parseSitemap(text);
    if (cut) yield {file: url, cut: 'lists more than 50,000 addresses; the rest is left out'};
    for (const listed of urls) {
      if (!isIndex) {
        const page = await ofSite(listed);
        if (page !== undefined) yield {url: page};
      } else if (depth >= DEEPEST || !(await offer(listed, depth + 1))) {
        yield {file: url, cut: 'names more sitemaps, or deeper ones, than are read; the rest is left out'};
        break;
      }
    }
  }
}

async function textOf(bytes: Uint8Array): Promise<string | undefined> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new TextDecoder().decode(bytes);
  try {
    return new TextDecoder().decode(await inflate(bytes, {maxOutputLength: MOST_SITEMAP_BYTES}));
  } catch {
    return undefined;
  }
}

export interface ListedUrl {
  /** Two lines with the same one are the same page. */
  readonly canonical: string;
  /** Whom a request disturbs: the host name, whatever the port. */
  readonly host: string;
}

export interface NoUrl {
  readonly failure: Failure;
  /** What may be shown of the line. */
  readonly shown: string;
}

/** One address of a list. */
export function parseListedUrl(text: string): Result<ListedUrl, NoUrl> {
  const url = parseUrl(text);
  if (!url.ok) return {ok: false, error: {failure: url.error, shown: redactUrl(text)}};
  return {ok: true, value: {canonical: url.value.canonical, host: url.value.name}};
}
