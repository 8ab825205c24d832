// Renders a page in the browser.

import {Deadline} from '../core/deadline.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {type OpenPage, openPage} from './browser/open-page.ts';
import {type MainDocument, type RenderPorts, readBlockedResources} from './browser/requests.ts';
import {readDocument} from './navigate/fetch-document.ts';
import type {FetchRun} from './navigate/fetch-run.ts';
import type {Note, RawDocument, WebUrl} from './page.ts';
import {PAGE_LOAD_BUFFER_MS} from './rendering.ts';
import {decodeText} from './transport/charset.ts';
import {parseUrl} from './url.ts';
import type {WebContext} from './web-context.ts';

/** Ruling D1: the browser is given the very text that HTTP mode reads, as UTF-8. */
function mainDocument({url, headers, bytes, media, headerCharset}: RawDocument): MainDocument {
  const html = media === 'html';
  const {text, fallback} = decodeText(bytes, {html, ...(headerCharset !== undefined && {headerCharset})});
  return {
    url: url.canonical,
    headers,
    contentType: html ? 'text/html' : 'text/plain',
    bytes: Buffer.from(text, 'utf8'),
    charsetFallback: fallback,
  };
}

/** What a script sends the browser to is shown as the browser would show it. */
const HTML_ONLY: ReadonlySet<never> = new Set();

/** Starts the browser on its way to `url`. It is closed when the call ends. Errors: `browser_unavailable`, `bad_args`. */
export async function openBrowserPage(
  url: WebUrl,
  run: FetchRun,
  {options, browser}: WebContext,
): Promise<Result<OpenPage>> {
  if (!options.browser.enabled) {
    return fail(
      'browser_unavailable',
      'tools.webfetch.browser.enabled is false. Call without force_browser, or enable it in the configuration.',
      {chromium_path: options.browser.chromium_path, error: 'disabled'},
    );
  }
  const blocked = readBlockedResources(options.browser.block_resources);
  if (!blocked.ok) return blocked;
  const located = await browser.locate();
  if (!located.ok) return located;
  const settings = {
    options: options.browser,
    maxDownloadBytes: options.max_download_bytes,
    blocked: blocked.value,
  };
  const page = openPage(browser, url.canonical, settings, renderPorts(run), run.signal);
  run.endWith(page.close);
  return ok(page);
}

/** The two ways out of the browser. Each hop takes the path of a hop in HTTP mode. */
function renderPorts(run: FetchRun): RenderPorts {
  return {
    clock: run.context.clock,
    log: run.context.log,
    openUrl: (address, request, budget) => run.openResource(address, request, budget),
    navigate: async (address, budget) => {
      const url = parseUrl(address);
      if (!url.ok) return url;
      const checked = run.goOn(url.value, () => url);
      if (!checked.ok) return checked;
      const hop = await run.takeHop(checked.value, budget);
      if (!hop.ok) return hop;
      if (hop.value.kind === 'redirect') {
        // Chromium follows it, and asks for its target.
        const next = hop.value.target();
        return next.ok ? ok({kind: 'redirect', location: next.value.canonical}) : next;
      }
      const {response} = hop.value;
      const raw = await readDocument({url: url.value, response, permanent: false}, run, HTML_ONLY);
      // Ruling G3: what a script sends the browser to fetch is refused, and the page stays.
      if (!raw.ok) return raw.error.code === 'unsupported_content_type' ? ok({kind: 'empty'}) : raw;
      if (raw.value.status === 204 || raw.value.status === 205) return ok({kind: 'empty'});
      return ok({kind: 'document', document: mainDocument(raw.value)});
    },
  };
}

/** What a document has become in the browser, and how it got there. */
interface Rendered {
  readonly raw: RawDocument;
  readonly finalUrl: string;
  readonly notes: readonly Note[];
}

/**
 * Runs a document in HTML that has been fetched. The browser has a budget of its own, during which that of the
 * fetch stands still (FR-WF-TIMEOUT-01).
 */
export async function renderDocument(
  page: OpenPage,
  source: RawDocument,
  run: FetchRun,
): Promise<Result<Rendered>> {
  const {budget, context} = run;
  const turn = await awaitTurn(page, run);
  if (!turn.ok) return turn;
  const first = mainDocument(source);
  const rendered = await budget.pausedFor(async () => {
    const ms = context.options.browser.network_idle_ms + PAGE_LOAD_BUFFER_MS;
    const rendering = new Deadline(ms, context.clock, budget.signal);
    try {
      return await page.render(first, rendering);
    } finally {
      rendering.close();
    }
  });
  if (!rendered.ok) return rendered;
  const {html, document: shown, notes} = rendered.value;
  return ok({
    raw: {...source, bytes: Buffer.from(html, 'utf8'), media: 'html', headerCharset: 'utf-8'},
    finalUrl: shown.url,
    notes: shown.charsetFallback ? [...notes, 'charset_fallback'] : notes,
  });
}

/** Review R13: the wait for a place among the Chromiums has a budget of its own, so that a crowd does not fail as one. */
async function awaitTurn(page: OpenPage, {budget, context}: FetchRun): Promise<Result<undefined>> {
  const {options, clock} = context;
  const {max_wait_seconds: seconds, max_instances: most} = options.browser;
  const turn = await budget.pausedFor(async () => {
    const waiting = new Deadline(seconds * 1000, clock, budget.signal);
    waiting.enter('browser');
    try {
      return await waiting.race(page.turn);
    } finally {
      waiting.close();
    }
  });
  if (turn.ok) return ok();
  if (turn.error.code !== 'timeout') return turn;
  return fail(
    'timeout',
    `No Chromium was free within ${seconds} s; at most ${most} run at a time (tools.webfetch.browser.max_instances). Retry later, or raise it.`,
    turn.error.details,
  );
}
