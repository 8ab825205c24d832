import {setMaxListeners} from 'node:events';
import {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/to-url.ts';
import type {Note} from '../page.ts';
import {attachTargets} from './attach-targets.ts';
import type {Browser} from './browser.ts';
import type {CdpConnection} from './cdp/cdp-connection.ts';
import type {PausedRequest} from './cdp/cdp-protocol.ts';
import type {Chromium} from './chromium/launch.ts';
import {InFlight} from './in-flight.ts';
import {NetworkIdle} from './network-idle.ts';
import {PageLoad} from './page-load.ts';
import type {PageFrame} from './read-dom.ts';
import {replaceBlankPage} from './ready/blank-page.ts';
import type {MainDocument, RenderPorts, RenderSettings} from './render-ports.ts';
import {giveAnswer} from './requests/answer.ts';
import {pauseRequests} from './requests/pause-requests.ts';
import {Subresources} from './requests/subresources.ts';
import {waitForPage} from './wait-for-page.ts';
import {watchForLeaks} from './watch-for-leaks.ts';

export interface Rendered {
  /** What `document.documentElement.outerHTML` gives. */
  readonly html: string;
  /** The document that is shown in the end. */
  readonly document: MainDocument;
  readonly notes: readonly Note[];
}

export interface OpenPage {
  /** Resolves when Chromium may start, or need not any more: at most `max_instances` run at a time. */
  readonly turn: Promise<void>;
  /**
   * FR-WF-11: runs the document in Chromium until the network is idle. `budget` covers all of it.
   * Errors: `browser_unavailable`, `browser_crashed`, `timeout`, `ssrf_blocked` (the leak detector), and what
   * `navigate` fails with. Once for each page.
   */
  readonly render: (document: MainDocument, budget: Budget) => Promise<Result<Rendered>>;
  /** Ruling G6: when it resolves, nothing is left of Chromium. */
  readonly close: () => Promise<void>;
}

/** What a page is rendered with. Until there is one, Chromium waits with its first request. */
interface Load {
  readonly main: PageLoad;
  readonly subresources: Subresources;
  readonly idle: NetworkIdle;
  readonly inFlight: InFlight;
  readonly fail: (failure: Err<Failure>) => void;
}

/**
 * Starts Chromium on its way to `url`, while the document itself is fetched elsewhere. It is closed as
 * soon as `signal` fires; who cancelled a call need not wait for it to notice (`Browser.settled`).
 */
export function openPage(
  browser: Browser,
  url: string,
  settings: RenderSettings,
  ports: RenderPorts,
  signal: AbortSignal,
): OpenPage {
  const requestedHost = toUrl(url)?.hostname ?? '';
  const closing = new AbortController();
  const answering = new Set<Promise<void>>();
  /** Addresses that were answered from here: the only ones that the page may have heard from. */
  const answered = new Set<string>();
  let begin: (load: Load | undefined) => void = () => {};
  const begun = new Promise<Load | undefined>(resolve => {
    begin = resolve;
  });
  let comeToTurn: () => void = () => {};
  const turn = new Promise<void>(resolve => {
    comeToTurn = resolve;
  });
  let chromium: Chromium | undefined;
  let loading: Budget | undefined;
  let hasRendered = false;
  const preparing = prepare();

  async function prepare(): Promise<Result<PageFrame>> {
    const started = await browser.start(closing.signal, {onTurn: comeToTurn, requestedHost});
    comeToTurn();
    if (!started.ok) return started;
    chromium = started.value.chromium;
    const {connection, gone} = chromium;
    const {blank} = started.value;
    const attached = blank ?? new Promise<PageFrame>(resolve => attachTargets(connection, resolve));
    const frame = Promise.resolve(attached).then(page => {
      void follow(page);
      return page;
    });
    connection.on('Fetch.requestPaused', paused => {
      const work = answer(connection, paused, frame);
      answering.add(work);
      void work.finally(() => answering.delete(work));
    });
    watchForLeaks(connection, asked => answered.has(withoutFragment(asked)), leaked);
    if (blank === undefined) {
      // Chromium carries commands out in order: nothing is asked for before it would be paused.
      pauseRequests(connection);
      void connection.send('Target.createTarget', {url});
    } else {
      replaceBlankPage(blank, url);
    }
    const ready = await Promise.race([frame, gone.then(() => undefined)]);
    return ready ? ok(ready) : crashed(chromium);
  }

  /** FR-WF-11b: everything that Chromium asks for, from whatever frame or worker, comes by here. */
  async function answer(
    connection: CdpConnection,
    paused: PausedRequest,
    frame: Promise<PageFrame>,
  ): Promise<void> {
    const load = await begun;
    if (!load) return;
    load.inFlight.begin(paused);
    const isMain = paused.resourceType === 'Document' && paused.frameId === (await frame).frameId;
    const {answer, failure} = isMain
      ? await load.main.load(paused)
      : {answer: await load.subresources.load(paused), failure: undefined};
    if (!('refuse' in answer)) answered.add(withoutFragment(paused.request.url));
    load.inFlight.answering(paused, answer);
    const awaited = await giveAnswer(connection, paused, answer);
    if (failure && awaited) load.fail(failure);
    load.inFlight.end(paused, awaited);
  }

  async function follow({connection, sessionId, frameId}: PageFrame): Promise<void> {
    const load = await begun;
    if (!load) return;
    load.inFlight.listen(connection);
    connection.on('Page.frameNavigated', ({frame}) => {
      if (frame.id === frameId) load.main.navigated(frame.url);
    });
    connection.on('Page.domContentEventFired', (_, session) => {
      if (session === sessionId) load.idle.documentReady();
    });
    // A navigation that was refused while the document was parsed leaves it without DOMContentLoaded.
    connection.on('Page.frameStoppedLoading', stopped => {
      if (stopped.frameId === frameId) load.idle.documentReady();
    });
    connection.on('Inspector.targetCrashed', (_, session) => {
      if (session === sessionId) load.fail(crashed(chromium));
    });
  }

  function leaked(what: string): void {
    ports.log({
      level: 'error',
      event: 'browser_tripwire',
      requested_host: requestedHost,
      rendering_method: 'browser',
      error_code: 'ssrf_blocked',
      message: what,
    });
    void begun.then(load => load?.fail(leak(what)));
    void chromium?.close();
  }

  async function render(document: MainDocument, budget: Budget): Promise<Result<Rendered>> {
    budget.enter('browser');
    const {clock} = ports;
    const {options} = settings;
    const idle = new NetworkIdle(clock);
    const inFlight = new InFlight(idle, clock);
    // What the page still loads when it is closed ends with it.
    loading = new Budget(budget.remainingMs(), clock, closing.signal);
    // Every request that is under way listens, and their number has a bound of its own.
    setMaxListeners(0, loading.signal);
    const main = new PageLoad(document, ports, idle, loading);
    const subresources = new Subresources(settings, ports, loading);
    const failure = new Promise<Err<Failure>>(resolve => {
      begin({main, subresources, idle, inFlight, fail: resolve});
    });
    try {
      const ready = await budget.race(preparing);
      if (!ready.ok) return ready;
      if (!ready.value.ok) return ready.value;
      const gone = chromium?.gone.then(() => crashed(chromium)) ?? crashed(undefined);
      const failed = Promise.race([failure, gone]);
      const shown = () => main.document;
      const dom = await waitForPage({frame: ready.value.value, idle, failed, budget, options, clock, shown});
      if (!dom.ok) return dom;
      const {html, cut, partial} = dom.value;
      const notes: Note[] = [];
      if (partial) notes.push('browser_timeout_dom_partial');
      if (cut) notes.push('browser_dom_truncated');
      if (subresources.blockedNonGet || main.blockedNonGet) notes.push('browser_blocked_non_get');
      hasRendered = true;
      return ok({html, document: dom.value.document, notes});
    } finally {
      inFlight.close();
      idle.close();
    }
  }

  async function end(): Promise<void> {
    signal.removeEventListener('abort', onAbort);
    begin(undefined);
    closing.abort();
    await preparing;
    await chromium?.close();
    await Promise.all(answering);
    loading?.close();
  }

  let ending: Promise<void> | undefined;
  function close(): Promise<void> {
    if (ending === undefined) {
      ending = end();
      browser.track(ending, {hasRendered});
    }
    return ending;
  }

  function onAbort(): void {
    void close();
  }
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, {once: true});
  return {turn, render, close};

  function crashed(ended: Chromium | undefined): Err<Failure> {
    const {memory_mb} = settings.options;
    if (!ended?.ranOutOfMemory()) {
      return fail(
        'browser_crashed',
        'Chromium ended while it rendered the page. Retry once, or call without force_browser.',
        {error: 'the process or the page ended'},
      );
    }
    return fail(
      'browser_crashed',
      `The page took all the memory that Chromium may have, ${memory_mb} MiB (tools.webfetch.browser.memory_mb). Call without force_browser, or raise it.`,
      {error: 'out of memory'},
    );
  }
}

function leak(what: string): Err<Failure> {
  return fail(
    'ssrf_blocked',
    `The page made Chromium use the network past the guard (${what}); it was killed. Choose another source.`,
  );
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? url;
}
