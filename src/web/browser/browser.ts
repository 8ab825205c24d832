// Chromiums of this process: who gets one, how many run, and one that waits ready.

import type {Clock} from '../../core/clock.ts';
import {Places} from '../../core/places.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import {isAlive, openBlankPage, type PageFrame} from './page-setup.ts';
import {
  cancelledStart,
  createStarter,
  type Isolation,
  type RunningBrowser,
  type StartSettings,
} from './start-chromium.ts';

interface BrowserSettings extends StartSettings {
  readonly options: StartSettings['options'] &
    Pick<WebFetchOptions['browser'], 'max_instances' | 'keep_ready'>;
}

interface StartWish {
  /** Called when Chromium may start. */
  readonly onTurn?: () => void;
  /** FR-WF-19c: whose page it is for. */
  readonly requestedHost?: string;
}

interface StartedBrowser extends RunningBrowser {
  /** Of one that waited: an empty page, whose requests are paused. */
  readonly blank?: PageFrame;
}

/** Chromiums for pages, each for one. */
export interface Browser {
  /** FR-WF-11a: `browser_unavailable` where it is known without starting anything. */
  readonly locate: () => Promise<Result<string>>;
  /** Whether there is a browser that is not known not to start. */
  readonly isThere: () => Promise<boolean>;
  /**
   * A fresh Chromium, as soon as fewer than `max_instances` run; `onTurn` is called then. Errors:
   * `browser_unavailable`, `cancelled`. The one who gets it closes it.
   */
  readonly start: (signal: AbortSignal, wish?: StartWish) => Promise<Result<StartedBrowser>>;
  /** Keeps an eye on something that is being closed, and that may have shown that pages can be rendered here. */
  readonly track: (ending: Promise<void>, outcome: {readonly hasRendered: boolean}) => void;
  /** Resolves when all that is tracked has ended. */
  readonly settled: () => Promise<void>;
  /** Kills every Chromium that is still there. */
  readonly close: () => Promise<void>;
}

/** How long one that did not start is not tried again for the sake of a page that is there without it. */
const BROKEN_FOR_MS = 300_000;
/** A command that fetches one page has ended by then, and starts no Chromium for nobody. */
const READY_AFTER_MS = 100;
/** Review R13: one bound for all toolboxes of a process, whose memory they share. */
const processPlaces = new Places();

export function createBrowser(settings: BrowserSettings): Browser {
  const {options, clock, log} = settings;
  const starter = createStarter(settings);
  const {start: startFresh, programNow} = starter;
  const maxInstances = options.max_instances;
  const ready = options.keep_ready
    ? new ReadyChromium({start: startFresh, programNow, places: processPlaces, maxInstances, clock})
    : undefined;
  const endings = new Set<Promise<void>>();
  let failedAt: number | undefined;
  let hasRendered = false;
  let isNamespaced = false;
  /** Pages that have a Chromium, or wait for one. */
  let underWay = 0;
  let cancelReady = (): void => {};

  async function start(signal: AbortSignal, wish: StartWish = {}): Promise<Result<StartedBrowser>> {
    cancelReady();
    underWay += 1;
    // Before anything is waited for, so that no other call gets the same one.
    const taken = ready?.take(signal);
    const giveBack = taken?.giveBack ?? (await processPlaces.take(maxInstances, signal));
    const leave = (): void => {
      underWay -= 1;
      giveBack?.();
    };
    if (giveBack === undefined) {
      leave();
      return cancelledStart();
    }
    wish.onTurn?.();
    const started = await startInPlace(taken, signal).catch(error => {
      leave();
      throw error;
    });
    if (!started.ok) {
      leave();
      if (started.error.code === 'browser_unavailable') {
        failedAt = clock.monotonic();
        hasRendered = false;
      }
      return started;
    }
    failedAt = undefined;
    isNamespaced = started.value.isolation === 'namespace';
    void started.value.chromium.closed.then(leave);
    logStart(started.value, wish.requestedHost ?? '');
    return started;
  }

  async function startInPlace(
    taken: TakenBrowser | undefined,
    signal: AbortSignal,
  ): Promise<Result<StartedBrowser>> {
    const waited = await taken?.browser;
    return waited === undefined ? startFresh(signal) : ok(waited);
  }

  function logStart({version, isolation, sandbox, bounded}: RunningBrowser, requested_host: string): void {
    const layers = isolation === 'namespace' ? ['namespace', 'flags'] : ['flags'];
    log({
      level: 'info',
      event: 'browser_started',
      requested_host,
      rendering_method: 'browser',
      cache_hit: false,
      version,
      layers,
      sandbox,
      bounded,
    });
  }

  /** Between two pages, so that no page waits for the start of a Chromium that is not its own. */
  function makeReadySoon(): void {
    cancelReady();
    if (ready === undefined || !hasRendered || !isNamespaced) return;
    const make = (): void => {
      if (underWay === 0) ready.make();
    };
    cancelReady = clock.after(READY_AFTER_MS, make, {holds: false});
  }

  return {
    locate: starter.locate,
    isThere: async () => {
      const isBroken = failedAt !== undefined && clock.monotonic() - failedAt < BROKEN_FOR_MS;
      return !isBroken && (await starter.locate()).ok;
    },
    start,
    track: (ending, outcome) => {
      hasRendered ||= outcome.hasRendered;
      endings.add(ending);
      void ending.finally(() => {
        endings.delete(ending);
        makeReadySoon();
      });
    },
    settled: async () => {
      await Promise.all(endings);
    },
    close: async () => {
      cancelReady();
      await Promise.all([ready?.close(), starter.close()]);
      await Promise.all(endings);
    },
  };
}

export interface BrowserProbe {
  readonly version: string;
  /** `namespace`: Chromium has no network at all. `flags`: only its own flags keep it from it. */
  readonly isolation: Isolation;
  readonly sandbox: boolean;
  /** Whether the kernel holds it to its memory and its number of processes. */
  readonly bounded: boolean;
}

/** For `doctor`: starts Chromium as a fetch would and says what holds. Errors: `browser_unavailable`. */
export async function probeBrowser(browser: Browser, signal: AbortSignal): Promise<Result<BrowserProbe>> {
  const started = await browser.start(signal);
  if (!started.ok) return started;
  const {chromium, version, isolation, sandbox, bounded} = started.value;
  await chromium.close();
  return {ok: true, value: {version, isolation, sandbox, bounded}};
}

/** A Chromium that has shown nothing but an empty page. */
interface ReadyBrowser extends RunningBrowser {
  readonly blank: PageFrame;
}

/** What a call gets that takes the Chromium which waits. */
interface TakenBrowser {
  /** Of its place, which is the caller's from here on. */
  readonly giveBack: () => void;
  /** `undefined` where it cannot be used; then it is gone. The one who gets it closes it. */
  readonly browser: Promise<ReadyBrowser | undefined>;
}

interface ReadyPorts {
  readonly start: (signal: AbortSignal) => Promise<Result<RunningBrowser>>;
  /** See `ChromiumStarter.programNow`. */
  readonly programNow: () => Promise<string | undefined>;
  readonly places: Places;
  readonly maxInstances: number;
  readonly clock: Clock;
}

interface Waiting {
  readonly giveBack: () => void;
  readonly controller: AbortController;
  readonly browser: Promise<ReadyBrowser | undefined>;
  stopTimer: () => void;
}

const LONGEST_WAIT_MS = 60_000;

/**
 * One Chromium that waits, in its namespace, for the next page (`browser.keep_ready`). It is taken once and by one
 * call, gives its place to whoever would have to wait for one, and does not keep our process alive.
 */
export class ReadyChromium {
  readonly #ports: ReadyPorts;
  readonly #endings = new Set<Promise<void>>();
  #waiting: Waiting | undefined;
  #closed = false;

  constructor(ports: ReadyPorts) {
    this.#ports = ports;
  }

  /** Has one started, if none waits and a place is free. */
  make(): void {
    if (this.#closed || this.#waiting !== undefined) return;
    const {places, maxInstances, clock} = this.#ports;
    const giveBack = places.tryTakePreemptible(maxInstances, () => this.#end(waiting));
    if (giveBack === undefined) return;
    const controller = new AbortController();
    const browser = this.#prepare(controller.signal);
    const waiting: Waiting = {giveBack, controller, browser, stopTimer: () => {}};
    this.#waiting = waiting;
    void browser.then(ready => {
      if (ready === undefined) this.#end(waiting);
      if (ready === undefined || this.#waiting !== waiting) return;
      ready.chromium.hold(false);
      waiting.stopTimer = clock.after(LONGEST_WAIT_MS, () => this.#end(waiting), {holds: false});
      const {connection} = ready.chromium;
      connection.on('Inspector.targetCrashed', () => this.#end(waiting));
      void connection.closed.then(() => this.#end(waiting));
    });
  }

  /** Whoever calls first has it: nobody else gets it any more. It is ended when `signal` fires. */
  take(signal: AbortSignal): TakenBrowser | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    this.#waiting = undefined;
    waiting.stopTimer();
    const abort = (): void => waiting.controller.abort();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, {once: true});
    return {giveBack: waiting.giveBack, browser: this.#use(waiting)};
  }

  /** When it resolves, none waits and none is on its way. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting) this.#end(this.#waiting);
    await Promise.all(this.#endings);
  }

  async #prepare(signal: AbortSignal): Promise<ReadyBrowser | undefined> {
    // Why it did not start is found again, and said, by the call that needs one.
    const started = await this.#ports.start(signal).catch(() => undefined);
    if (!started?.ok) return undefined;
    const {chromium, isolation} = started.value;
    // Outside of a namespace nothing would end it with us.
    const blank = isolation === 'namespace' ? await openBlankPage(chromium.connection) : undefined;
    if (blank !== undefined) return {...started.value, blank};
    await chromium.close();
    return undefined;
  }

  async #use({browser}: Waiting): Promise<ReadyBrowser | undefined> {
    const ready = await browser;
    if (ready === undefined) return undefined;
    const {chromium, blank, program} = ready;
    chromium.hold(true);
    const programNow = this.#ports.programNow().catch(() => undefined);
    const [now, alive] = await Promise.all([programNow, isAlive(blank)]);
    if (alive && now === program && !chromium.ranOutOfMemory()) return ready;
    await chromium.close();
    return undefined;
  }

  /** Ends the one that waits. One that was taken is none of them any more. */
  #end(waiting: Waiting): void {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    waiting.stopTimer();
    waiting.controller.abort();
    const ending = waiting.browser.then(async ready => {
      await ready?.chromium.close();
      waiting.giveBack();
    });
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }
}
