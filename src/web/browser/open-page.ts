// Opens a page in Chromium and hands out its DOM. All it loads comes through our own transport; a leak
// ends the page.

import {setMaxListeners} from 'node:events';
import type {Clock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {Note} from '../page.ts';
import type {Browser} from './browser.ts';
import type {CdpConnection, PausedRequest} from './cdp.ts';
import type {Chromium} from './launch.ts';
import {InFlight, NetworkIdle} from './network-idle.ts';
import {
  attachTargets,
  type Dom,
  isDomLargerThan,
  type PageFrame,
  pauseRequests,
  readDom,
  replaceBlankPage,
} from './page-setup.ts';
import {
  type Answer,
  giveAnswer,
  type MainDocument,
  type Navigated,
  type RenderPorts,
  type RenderSettings,
  responseHeaders,
} from './requests.ts';
import {Subresources} from './subresources.ts';

interface Rendered {
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
  readonly render: (document: MainDocument, budget: Deadline) => Promise<Result<Rendered>>;
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
  let loading: Deadline | undefined;
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

  async function render(document: MainDocument, budget: Deadline): Promise<Result<Rendered>> {
    budget.enter('browser');
    const {clock} = ports;
    const {options} = settings;
    const idle = new NetworkIdle(clock);
    const inFlight = new InFlight(idle, clock);
    // What the page still loads when it is closed ends with it.
    loading = new Deadline(budget.remainingMs(), clock, closing.signal);
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

const BEYOND_CONTROL = [
  'Network.webSocketWillSendHandshakeRequest',
  'Network.webSocketHandshakeResponseReceived',
  'Network.webSocketFrameSent',
  'Network.webSocketFrameReceived',
  'Network.webTransportConnectionEstablished',
] as const;

/** How a WebSocket fails that had a socket; behind the layers it fails for want of a proxy or a network. */
const HAD_A_SOCKET =
  /CONNECTION_(?:ABORTED|CLOSED|RESET|TIMED_OUT)|LOCAL_NETWORK|SSL|CERT|HTTP_RESPONSE|EMPTY_RESPONSE|Unexpected response/;

/**
 * Ruling G1: the last line. A response that came over a socket of Chromium's own, or that nobody here
 * gave, means that a page has found a way out. `onLeak` gets what was seen, without query.
 */
export function watchForLeaks(
  connection: CdpConnection,
  wasAnswered: (url: string) => boolean,
  onLeak: (what: string) => void,
): void {
  for (const name of BEYOND_CONTROL) connection.on(name, () => onLeak(name));
  connection.on('Network.webSocketFrameError', ({errorMessage}) => {
    if (HAD_A_SOCKET.test(errorMessage) && !errorMessage.includes('PROXY')) onLeak('a WebSocket');
  });
  connection.on('Network.responseReceived', ({response}) => {
    const {url, remoteIPAddress = '', connectionId} = response;
    // data:, blob: and the browser's own pages need no network.
    if (!/^https?:/i.test(url)) return;
    if (remoteIPAddress !== '' || connectionId !== 0) onLeak(`a response from ${hostOf(url)}`);
    else if (!wasAnswered(url)) onLeak(`an unasked response of ${hostOf(url)}`);
  });
}

function hostOf(url: string): string {
  return toUrl(url)?.host ?? 'an unknown host';
}

interface Waiting {
  readonly frame: PageFrame;
  readonly idle: NetworkIdle;
  /** Resolves when there is nothing to wait for any more. */
  readonly failed: Promise<Err<Failure>>;
  readonly budget: Deadline;
  readonly options: RenderSettings['options'];
  readonly clock: Clock;
  /** The document that the frame shows by what has been heard so far. */
  readonly shown: () => MainDocument;
}

interface WaitedDom extends Dom {
  /** FR-WF-11f: read before the network was idle. */
  readonly partial: boolean;
  /** Whose text it is. */
  readonly document: MainDocument;
}

type Moment = 'idle' | 'time' | 'size';

/** FR-WF-DOMSIZE-01: how often a growing document is measured. */
const MEASURE_MS = 500;
/** Kept back for reading a document whose scripts do not stop by themselves. */
const READING_MS = 2500;
/** Scripts that keep a document from being read for longer than this are stopped. */
const PATIENCE_MS = 500;
const RETRY_MS = 50;

/** SRD 3.4.4: waits for the network to be idle, for `network_idle_ms` at most, and reads the document. */
async function waitForPage(waiting: Waiting): Promise<Result<WaitedDom>> {
  const {frame, idle, budget, options, clock} = waiting;
  const maxBytes = options.max_rendered_dom_bytes;
  const failed = waiting.failed.then(failure => ({failure}));
  const waitMs = Math.min(options.network_idle_ms, budget.remainingMs() - READING_MS);
  const timer = startTimer(Math.max(0, waitMs), clock);
  const meter = startMeter(frame, maxBytes, clock);
  try {
    for (;;) {
      const quiet = idle.reached().then((): Moment => 'idle');
      const moment = await budget.race(Promise.race([failed, quiet, timer.time, meter.tooLarge]));
      if (!moment.ok) return moment;
      if (typeof moment.value !== 'string') return moment.value.failure;

      const document = waiting.shown();
      const dom = await budget.race(Promise.race([failed, readBusyDom(frame, maxBytes, clock)]));
      if (!dom.ok) return dom;
      if ('failure' in dom.value) return dom.value.failure;
      // The text and the word of a navigation can come at once: then it is not known whose text it is.
      const isSame = waiting.shown() === document;
      if (dom.value.ok && isSame) return ok({...dom.value.value, document, partial: moment.value === 'time'});
      // The document went away while it was read: there is another one to wait for.
      await pause(RETRY_MS, clock);
    }
  } finally {
    timer.stop();
    meter.stop();
  }
}

/** FR-WF-11f: the document as it is, even if its scripts never give the thread back. */
async function readBusyDom(frame: PageFrame, maxBytes: number, clock: Clock): Promise<Result<Dom, string>> {
  const {connection, sessionId} = frame;
  let cancel: () => void = () => {};
  const stopScripts = (): void => {
    void connection.send('Runtime.terminateExecution', {}, sessionId);
    cancel = clock.after(PATIENCE_MS, stopScripts);
  };
  cancel = clock.after(PATIENCE_MS, stopScripts);
  try {
    return await readDom(frame, maxBytes);
  } finally {
    cancel();
  }
}

function startTimer(ms: number, clock: Clock) {
  let stop: () => void = () => {};
  const time = new Promise<Moment>(resolve => {
    stop = clock.after(ms, () => resolve('time'));
  });
  return {time, stop};
}

function startMeter(frame: PageFrame, maxBytes: number, clock: Clock) {
  let stopped = false;
  let cancel: () => void = () => {};
  const tooLarge = new Promise<Moment>(resolve => {
    const measure = async (): Promise<void> => {
      if (await isDomLargerThan(frame, maxBytes)) resolve('size');
      else if (!stopped) cancel = clock.after(MEASURE_MS, () => void measure());
    };
    cancel = clock.after(MEASURE_MS, () => void measure());
  });
  const stop = (): void => {
    stopped = true;
    cancel();
  };
  return {tooLarge, stop};
}

function pause(ms: number, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    clock.after(ms, resolve);
  });
}

/** What becomes of a request for the top frame's document; a failure ends the call if it still matters. */
interface MainAnswer {
  readonly answer: Answer;
  readonly failure?: Err<Failure>;
}

/** FR-WF-11c: the way of the top frame, from the document that was fetched ahead to wherever scripts lead. */
export class PageLoad {
  /** The page asked for its own next document by another method than GET. */
  blockedNonGet = false;
  readonly #ports: RenderPorts;
  readonly #budget: Deadline;
  readonly #idle: NetworkIdle;
  readonly #given = new Map<string, MainDocument>();
  #committed: MainDocument;
  #begun: 'no' | 'redirected' | 'yes' = 'no';

  constructor(first: MainDocument, ports: RenderPorts, idle: NetworkIdle, budget: Deadline) {
    this.#committed = first;
    this.#ports = ports;
    this.#idle = idle;
    this.#budget = budget;
  }

  /** The document that is in the frame. */
  get document(): MainDocument {
    return this.#committed;
  }

  async load({request}: PausedRequest): Promise<MainAnswer> {
    if (request.method !== 'GET') {
      this.blockedNonGet = true;
      // "Aborted" leaves the page as it is; every other reason puts an error page in its place.
      return {answer: {refuse: 'Aborted'}};
    }
    if (this.#begun !== 'yes') {
      const first = this.#committed;
      if (this.#begun === 'no' && !isSameUrl(request.url, first.url)) {
        this.#begun = 'redirected';
        return {answer: redirect(first.url)};
      }
      this.#begun = 'yes';
      return {answer: this.#give(first)};
    }
    const next = await this.#navigate(request.url);
    if (!next.ok) return {answer: {refuse: 'Aborted'}, failure: next};
    switch (next.value.kind) {
      case 'redirect':
        return {answer: redirect(next.value.location)};
      case 'empty':
        return {answer: {refuse: 'Aborted'}};
      case 'document':
        return {answer: this.#give(next.value.document)};
    }
  }

  /** The top frame shows another document now. */
  navigated(url: string): void {
    this.#idle.documentReplaced();
    this.#committed = this.#given.get(hrefOf(url)) ?? this.#committed;
  }

  async #navigate(url: string): Promise<Result<Navigated>> {
    const budget = new Deadline(this.#budget.remainingMs(), this.#ports.clock, this.#budget.signal);
    try {
      return await this.#ports.navigate(url, budget);
    } finally {
      budget.close();
    }
  }

  #give(document: MainDocument): Answer {
    this.#given.set(hrefOf(document.url), document);
    this.#idle.documentReplaced();
    const headers = responseHeaders(document.headers).filter(
      ({name}) => name !== 'content-type' && name !== 'location',
    );
    headers.push({name: 'content-type', value: `${document.contentType}; charset=utf-8`});
    return {status: 200, headers, body: document.bytes};
  }
}

function redirect(location: string): Answer {
  return {status: 302, headers: [{name: 'location', value: location}]};
}

function isSameUrl(one: string, other: string): boolean {
  return hrefOf(one) === hrefOf(other);
}

/** An address that a browser shows need not be one (`:`, review B12). */
function hrefOf(url: string): string {
  const parsed = toUrl(url);
  if (parsed === undefined) return url;
  parsed.hash = '';
  return parsed.href;
}
