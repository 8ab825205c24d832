import {promisify} from 'node:util';
import {gunzip} from 'node:zlib';
import type {Failure} from '../../core/failure/failure.ts';
import type {Result} from '../../core/result.ts';
import type {FetchedFile} from '../../web/navigate/fetch-file.ts';
import {isSameSite} from '../../web/robots/is-same-site.ts';
import {parseSitemap, sitemapsOfRobots} from '../../web/sitemap/parse-sitemap.ts';
import {parseUrl} from '../../web/url/parse-url.ts';

/** sitemaps.org: 50 MB, uncompressed. */
export const MOST_SITEMAP_BYTES = 52_428_800;
const MOST_FILES = 1000;
/** An index names sitemaps, and here also indexes of them. */
const DEEPEST = 3;

export type FetchSitemap = (url: string) => Promise<Result<FetchedFile>>;

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
