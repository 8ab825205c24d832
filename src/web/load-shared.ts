// Joins identical loads into one, within the process and across replicas. What a replica sends is checked before it
// is used.

import {randomHex} from '../core/clock.ts';
import type {Obtained, SharedBodies, Turn} from '../core/replicas.ts';
import {fail, type Result} from '../core/result.ts';
import type {DiskCache} from './cache/disk-cache.ts';
import {type NewCacheEntry, pageAddress, printSharedEntry, readSharedEntry} from './cache/entry.ts';
import {visibleText} from './extract/tree/visible-text.ts';
import {cacheVariant, findCached} from './find-cached.ts';
import {keepFresh, loadPage} from './load-page.ts';
import {credentialFor} from './navigate/credentials.ts';
import {FetchRun, HostReach} from './navigate/fetch-run.ts';
import type {ExtractedDocument, Page, PageFacts} from './page.ts';
import type {PageRequest} from './read-content.ts';
import {parseUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

const DAY_MS = 86_400_000;
/** In the place of a body that no longer holds. */
const NONE = Buffer.alloc(0);

/** Ruling F8: identical fetches at the same time are one, as long as their rules on hosts lead them the same way. */
export async function loadShared(
  request: PageRequest,
  caller: AbortSignal | undefined,
  web: WebContext,
): Promise<Result<Page>> {
  const {start, rendering, noCache, reading, mayReach} = request;
  const wanted = rendering.method === 'browser' ? rendering.origin : 'http';
  // One page for each way of reading it (rulings R2, R3).
  const terms = `${reading ? 'reading' : 'own'}:${cacheVariant(reading, web.options)}`;
  const common = `${wanted} ${noCache} ${terms} ${start.url.canonical}`;
  for (const key of [common, `${common} ${randomHex(8)}`]) {
    const shared = await web.sharedLoads.share(key, caller, async signal => {
      const reach = new HostReach(start.url, mayReach);
      return {reach, page: await loadAcross(request, web, reach, signal)};
    });
    if (!shared) break;
    const {page, reach} = shared.value;
    if (reach.agreesWith(mayReach)) return page;
  }
  // Ruling G6: what the cancelled fetch had of a browser is gone before the call returns.
  await web.browser.settled();
  return fail('cancelled', 'The call was cancelled while the page was fetched.');
}

/** Ruling S1: identical fetches of several replicas are one. What a credential or an opened host shows is nobody else's. */
async function loadAcross(
  request: PageRequest,
  web: WebContext,
  reach: HostReach,
  signal: AbortSignal,
): Promise<Result<Page>> {
  const {bodies, cache, options, clock, credentials} = web;
  const {start, rendering, reading, noCache} = request;
  const {canonical, origin} = start.url;
  if (bodies === undefined || start.opened || credentialFor(origin, credentials)) {
    return loadPage(request, web, reach, signal);
  }
  const variant = cacheVariant(reading, options);
  const address = pageAddress(canonical, variant);
  const wanted = rendering.method === 'browser' ? rendering.origin : 'http';
  const nameOf = (page: string): string => `page\n${wanted}\n${page}`;
  const timeoutMs = options.timeout_seconds * 1000;
  const ttlMs = options.cache_ttl_days * DAY_MS;
  // As long as the one who loads it may take: robots.txt, the host's turn, and the page.
  const waitMs = 3 * timeoutMs;
  /** Ruling F9. What was put is what others find next, or they find nothing. */
  const putFresh = async (turn: Turn, entry: NewCacheEntry | undefined): Promise<boolean> => {
    if (entry && (await turn.put(printSharedEntry(entry), ttlMs))) return true;
    // Loads that began before may end as long after.
    await turn.put(NONE, waitMs);
    return false;
  };
  /** What redirects led to is kept under its own address, as on the disk, unless another replica loads it just now. */
  const shareReached = async (finalUrl: string, entry: NewCacheEntry): Promise<void> => {
    // What a credential showed has another address.
    if (entry.canonical_url !== pageAddress(finalUrl, variant)) return;
    const terms = {signal, waitMs: 0, above: Number.MAX_SAFE_INTEGER, anew: noCache};
    const obtained = await bodies.obtain(nameOf(entry.canonical_url), terms);
    if (obtained.kind !== 'turn') return;
    await putFresh(obtained.turn, entry);
    await obtained.turn.end();
  };
  return loadOnce(
    {
      name: nameOf(address),
      noCache,
      waitMs,
      signal,
      accept: async bytes => {
        const entry = readSharedEntry(bytes, {address, ttlDays: options.cache_ttl_days, now: clock.now()});
        if (!entry || !isOwnText(entry.extracted, entry.facts)) return undefined;
        const read: DiskCache['read'] = async (url, method) =>
          url === entry.canonical_url && method === entry.rendering_method ? entry : undefined;
        const page = await findCached(request, {...web, cache: {...cache, read}});
        if (!page) return undefined;
        // Another replica may have other rules. Ours hold for what is shown here.
        const run = new FetchRun(web, {method: rendering.method, reach, signal});
        try {
          if (!(await run.mayTake(start)).ok) return 'refused';
        } finally {
          await run.close();
        }
        await keepFresh(entry, {address, rendering}, cache);
        return page;
      },
      load: async turn => {
        if (turn === undefined) return loadPage(request, web, reach, signal);
        let reached: NewCacheEntry | undefined;
        let isPut = false;
        const write: DiskCache['write'] = async entry => {
          const stored = await cache.write(entry);
          if (entry.canonical_url !== address) {
            reached = entry;
            return stored;
          }
          isPut = true;
          return (await putFresh(turn, entry)) && stored;
        };
        const page = await loadPage(request, {...web, cache: {...cache, write}}, reach, signal);
        if (page.ok && !isPut) await putFresh(turn, undefined);
        if (page.ok && reached !== undefined) await shareReached(page.value.finalUrl, reached);
        return page;
      },
    },
    bodies,
  );
}

interface LoadOnce {
  /** Of what is loaded, the same for all replicas. */
  readonly name: string;
  readonly noCache: boolean;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** What another replica made, if it passes as a page of ours. `refused`: our rules keep us from it. */
  readonly accept: (bytes: Buffer) => Promise<Page | 'refused' | undefined>;
  /** With a turn, what is loaded is put there for others. */
  readonly load: (turn: Turn | undefined) => Promise<Result<Page>>;
}

/** Bodies that cannot be used are passed over so often; each was put after the one before. */
const MOST_LOOKS = 4;

/** Ruling S1: one replica loads a page, and the others take it from there. */
async function loadOnce(
  {name, noCache: anew, waitMs, signal, accept, load}: LoadOnce,
  bodies: SharedBodies,
): Promise<Result<Page>> {
  let above = 0;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const obtained: Obtained = await bodies.obtain(name, {signal, waitMs, above, anew});
    switch (obtained.kind) {
      case 'failed':
        return {ok: false, error: obtained.error};
      case 'alone':
        return withNote(await load(undefined), obtained.unavailable);
      case 'turn':
        try {
          return await load(obtained.turn);
        } finally {
          await obtained.turn.end();
        }
      case 'found': {
        const page = await accept(obtained.bytes);
        if (page === 'refused') return load(undefined);
        if (page) return {ok: true, value: page};
        above = obtained.fence;
      }
    }
  }
  return load(undefined);
}

function withNote(page: Result<Page>, unavailable: boolean): Result<Page> {
  if (!page.ok || !unavailable) return page;
  return {ok: true, value: {...page.value, notes: [...page.value.notes, 'hub_unavailable']}};
}

/** What extraction lets through at most. */
const LONGEST_TITLE = 1000;
const LONGEST_LANGUAGE = 100;
const LONGEST_NAME = 200;
const LONGEST_PREFERENCE = 1000;
const DATE = /^[0-9:.TZ +-]{4,40}$/;

/**
 * Whether a page that another replica is said to have made could be of our own making: text without invisible and
 * control characters, raw HTML and links that run something, and facts of one line. It errs to the safe side: Markdown
 * that CommonMark and this reader might read differently is none.
 */
export function isOwnText({markdown, title, language}: ExtractedDocument, facts: PageFacts = {}): boolean {
  const lines = markdown.replaceAll('\r\n', '\n');
  return (
    visibleText(lines) === lines &&
    isLine(title, LONGEST_TITLE) &&
    isLine(language, LONGEST_LANGUAGE) &&
    isLine(facts.author, LONGEST_NAME) &&
    isLine(facts.site, LONGEST_NAME) &&
    (facts.published === undefined || DATE.test(facts.published)) &&
    (facts.alternate === undefined || parseUrl(facts.alternate).ok) &&
    (facts.usage ?? []).every(({value}) => isLine(value, LONGEST_PREFERENCE)) &&
    isPlainMarkdown(lines)
  );
}

function isLine(text: string | undefined, longest: number): boolean {
  return text === undefined || (text.length <= longest && !/[\n\t]/.test(text) && visibleText(text) === text);
}

/** What decides about a line stands at its start; the rest may be megabytes long. */
const LOOK_AHEAD = 256;
/** In front of a fence: quotes, and markers and indentation of items. */
const FENCE = /^((?:[ \t>]|(?:[-+*]|\d{1,9}[.)])[ \t])*)(`{3,}|~{3,})/;
/** Deeper than anything that we write. */
const TOO_DEEP = /^[ \t>\d.)+*`~-]{200}/;

/** No raw HTML and no link that runs something, outside of code. */
function isPlainMarkdown(markdown: string): boolean {
  let fence: {readonly prefix: string; readonly mark: string} | undefined;
  /** Lines up to the next blank line or fence: of one block, or of several. */
  const text: string[] = [];
  for (const line of markdown.split('\n')) {
    if (fence !== undefined) {
      const {prefix, mark} = fence;
      if (line === prefix + mark) fence = undefined;
      else if (!staysWithin(line, prefix)) return false;
      // It would end the fence for others, or end another one.
      else if (isFenceMark(line.slice(prefix.length), mark)) return false;
      continue;
    }
    const start = line.slice(0, LOOK_AHEAD);
    if (TOO_DEEP.test(start)) return false;
    const [whole = '', before = '', said] = FENCE.exec(start) ?? [];
    const mark = said?.startsWith('`') && line.includes('`', whole.length) ? undefined : said;
    if (mark === undefined) {
      if (line.trim() !== '') text.push(line);
      else if (!isPlainText(text.splice(0))) return false;
      continue;
    }
    // Right behind text, only one that is indented by three blanks at most is a fence for certain.
    if (before.includes('\t') || (text.length > 0 && !/^ {0,3}$/.test(before))) return false;
    if (!isPlainText(text.splice(0))) return false;
    fence = {prefix: before.replace(/[^>]/g, ' '), mark};
  }
  return isPlainText(text);
}

/** A blank line ends a quote, and not an item. With fewer blanks, a line is text where the fence is indented code. */
function staysWithin(line: string, prefix: string): boolean {
  return line.startsWith(prefix) || line.trimEnd() === prefix.trimEnd();
}

function isFenceMark(line: string, mark: string): boolean {
  const shown = line.replace(/[\s>]/g, '');
  return shown.length >= mark.length && shown === mark.charAt(0).repeat(shown.length);
}

/** `<https://…>` and `<me@example.com>`. */
const AUTOLINK = /<(?:https?:|mailto:)?[^\s<>`\\:]+(?:[:][^\s<>`\\]*)?>/y;
const UNWANTED_SCHEME = /^(?:javascript|vbscript|data|blob)$/i;
/** The start of a link's target, up to what ends its scheme. */
const TARGET = /[ \t]*([^\s:/?#()<>\\&]*)([\s\S]?)/y;

/** Lines that no blank line parts. */
function isPlainText(lines: readonly string[]): boolean {
  // A run of backticks that has no partner in its line may have one in another, so none counts as code.
  const spans = lines.map(codeSpans);
  const isCertain = spans.every(found => found !== undefined);
  const text = lines
    .map((line, index) => {
      let shown = '';
      let at = 0;
      for (const [start, end] of (isCertain && spans[index]) || []) {
        shown += `${line.slice(at, start)}\`\``;
        at = end;
      }
      return shown + line.slice(at);
    })
    .join('\n');
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '\\') at += 1;
    else if (unit === '<' && /[a-zA-Z/!?]/.test(text.charAt(at + 1))) {
      AUTOLINK.lastIndex = at;
      const link = AUTOLINK.exec(text)?.[0];
      if (link === undefined || !/^<(?:https?:|mailto:|[^:]+@)/i.test(link)) return false;
      at += link.length - 1;
    } else if (unit === ']' && /[(:]/.test(text.charAt(at + 1)) && !isPlainTarget(text, at + 2)) return false;
  }
  return true;
}

function isPlainTarget(text: string, at: number): boolean {
  TARGET.lastIndex = at;
  const [, start = '', end = ''] = TARGET.exec(text) ?? [];
  if (end === ':') return !UNWANTED_SCHEME.test(start);
  // What is escaped, in angle brackets or on the next line could be anything.
  return !/[\\&<]/.test(end) && !(start === '' && end === '\n');
}

/** As we write it, to its end. */
const OWN_TARGET = /(?:[^\s()<>\\`]|\\&)*\)/y;

/** One that a table would take for the end of a cell. */
const BAR = /(?:^|[^\\]|\\\\)\|/;

/** The spans of code of a line; `undefined` where a run has no partner, or others may read the line another way. */
function codeSpans(line: string): readonly (readonly [start: number, end: number])[] | undefined {
  const spans: (readonly [number, number])[] = [];
  const lastTick = line.lastIndexOf('`');
  let nextTick = -1;
  let nextEnd = -1;
  for (let at = 0; at < line.length; at += 1) {
    const unit = line[at];
    if (unit === '\\') at += 1;
    else if (unit === '<' && /[a-zA-Z/!?]/.test(line.charAt(at + 1))) {
      // Both are looked for once for each of them.
      if (nextTick < at) nextTick = indexOrEnd(line, '`', at);
      if (nextEnd < at) nextEnd = indexOrEnd(line, '>', at);
      if (nextTick < line.length && nextTick < nextEnd) return undefined;
    } else if (unit === ']' && /[(:]/.test(line.charAt(at + 1))) {
      // A target comes before the code that begins in it.
      OWN_TARGET.lastIndex = at + 2;
      if (!OWN_TARGET.test(line) && lastTick > at) return undefined;
    } else if (unit === '`') {
      const [run = ''] = /^`+/.exec(line.slice(at)) ?? [];
      const end = partnerOf(line, at + run.length, run.length);
      // A bar ends a cell of a table, and the span with it.
      if (end === undefined || BAR.test(line.slice(at, end))) return undefined;
      spans.push([at, end]);
      at = end - 1;
    }
  }
  return spans;
}

function indexOrEnd(line: string, character: string, from: number): number {
  const index = line.indexOf(character, from);
  return index === -1 ? line.length : index;
}

function partnerOf(line: string, from: number, length: number): number | undefined {
  for (const {0: run, index} of line.slice(from).matchAll(/`+/g)) {
    if (run.length === length) return from + index + length;
  }
  return undefined;
}
