import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {getDomain} from 'tldts';

/** The directory of the labels, and with `_` the field that has them. */
const LABELS = 'ground-truth';

/**
 * The labelled pages below a directory as WCXB lays them out: `html/ID.html.gz` and `ground-truth/ID.json`. Pages of
 * one site are all in one half, so that what is learnt of a site's templates does not score.
 */
export function* labelledPages(directory, {half} = {}) {
  for (const name of readdirSync(join(directory, LABELS)).sort()) {
    const id = name.replace('.json', '');
    const page = JSON.parse(readFileSync(join(directory, LABELS, name), 'utf8'));
    const {url, _internal: internal} = page;
    const truth = page[LABELS.replace('-', '_')];
    // Few have no address; each is a site of its own.
    const isIn = halfOf(url || `https://${id}.invalid/`);
    if (half !== undefined && isIn !== half) continue;
    yield {
      id,
      url: url || `https://${id}.invalid/`,
      half: isIn,
      kind: internal?.page_type?.primary ?? 'unknown',
      truth: truth.main_content ?? '',
      title: truth.title ?? '',
      wanted: truth.with ?? [],
      unwanted: truth.without ?? [],
      get html() {
        return gunzipSync(readFileSync(join(directory, 'html', `${id}.html.gz`))).toString('utf8');
      },
    };
  }
}

/** 0 or 1, by the registrable domain (FNV-1a). */
export function halfOf(url) {
  const site = getDomain(url) ?? new URL(url).hostname;
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(site)) hash = Math.imul(hash ^ byte, 0x01000193);
  // The low bits of FNV alone are poor.
  return ((hash ^ (hash >>> 15)) >>> 7) & 1;
}
