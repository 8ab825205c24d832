import {Places} from '../../core/async/places.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import {
  cancelledStart,
  createStarter,
  type RunningBrowser,
  type StartSettings,
} from './chromium/start-chromium.ts';
import type {PageFrame} from './read-dom.ts';
import {ReadyChromium, type TakenBrowser} from './ready/ready-chromium.ts';

export interface BrowserSettings extends StartSettings {
  readonly options: StartSettings['options'] &
    Pick<WebFetchOptions['browser'], 'max_instances' | 'keep_ready'>;
}

interface StartWish {
  /** Called when Chromium may start. */
  readonly onTurn?: () => void;
  /** FR-WF-19c: whose page it is for. */
  readonly requestedHost?: string;
}

export interface StartedBrowser extends RunningBrowser {
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
