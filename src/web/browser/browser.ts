import {realpath} from 'node:fs/promises';
import {availableParallelism} from 'node:os';
import {Places} from '../../core/async/places.ts';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Log} from '../../core/log.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {type ControlGroup, createGroup, findGroupPlace, type GroupPlace} from '../../system/control-group.ts';
import {errorReason} from '../../system/error-code.ts';
import {findProgram, type ProgramPlaces} from '../../system/find-program.ts';
import type {WebFetchOptions} from '../options.ts';
import {canIsolate} from './chromium/can-isolate.ts';
import {findChromium} from './chromium/find-chromium.ts';
import {type Chromium, type LaunchPlan, launch} from './chromium/launch.ts';

export interface BrowserSettings {
  readonly options: Pick<
    WebFetchOptions['browser'],
    'chromium_path' | 'isolation' | 'memory_mb' | 'max_processes' | 'max_instances'
  >;
  /** Where Chromium and bubblewrap are looked for. */
  readonly places: ProgramPlaces;
  readonly tempDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Off in the test that shows the network namespace holding alone. */
  readonly contained?: boolean;
}

/** Ruling G1: the layers between a page and the network. The flags hold always. */
export type Isolation = 'namespace' | 'flags';

export interface RunningBrowser {
  readonly chromium: Chromium;
  readonly version: string;
  readonly isolation: Isolation;
  /** Whether Chromium's own sandbox holds as well. */
  readonly sandbox: boolean;
  /** Whether the kernel holds it to `memory_mb` and `max_processes`. */
  readonly bounded: boolean;
}

interface StartWish {
  /** Called when Chromium may start. */
  readonly onTurn?: () => void;
  /** FR-WF-19c: whose page it is for. */
  readonly requestedHost?: string;
}

/** Why no browser can run here is found out once; what can change (the binary) is looked at every time. */
export interface Browser {
  /** FR-WF-11a: `browser_unavailable` where it is known without starting anything. */
  readonly locate: () => Promise<Result<string>>;
  /** Whether there is a browser that is not known not to start. */
  readonly isThere: () => Promise<boolean>;
  /**
   * A fresh Chromium, as soon as fewer than `max_instances` run; `onTurn` is called then. Errors:
   * `browser_unavailable`, `cancelled`. The one who gets it closes it.
   */
  readonly start: (signal: AbortSignal, wish?: StartWish) => Promise<Result<RunningBrowser>>;
  /** Keeps an eye on something that is being closed. */
  readonly track: (ending: Promise<void>) => void;
  /** Resolves when all that is tracked has ended. */
  readonly settled: () => Promise<void>;
  /** Kills every Chromium that is still there. */
  readonly close: () => Promise<void>;
}

/** FR-WF-11 */
const MINIMUM_VERSION = 100;
const MIB = 1_048_576;
/** How long one that did not start is not tried again for the sake of a page that is there without it. */
const BROKEN_FOR_MS = 300_000;
/** Review R13: one bound for all toolboxes of a process, whose memory they share. */
const processPlaces = new Places();
const SANDBOX_PROBLEM =
  /no usable sandbox|--no-sandbox|sandbox_linux|setuid sandbox|Operation not permitted/i;

export function createBrowser(settings: BrowserSettings): Browser {
  const {options, places, tempDir, clock, log, contained = true} = settings;
  const running = new Set<Chromium>();
  const endings = new Set<Promise<void>>();
  let namespace: Promise<string | undefined> | undefined;
  let groupPlace: Promise<GroupPlace | undefined> | undefined;
  let sandbox = true;
  let failedAt: number | undefined;
  let closed = false;

  async function locate(): Promise<Result<string>> {
    const found = await findChromium(options.chromium_path, places);
    if (found !== undefined) return ok(found);
    return options.chromium_path === ''
      ? unavailable('There is no Chromium in PATH', 'not found in PATH')
      : unavailable(`There is no program at "${options.chromium_path}"`, 'not found');
  }

  /** The path of bubblewrap, if it can make an empty network namespace on this machine. */
  async function findNamespace(executable: string): Promise<string | undefined> {
    const bubblewrap = options.isolation === 'flags' ? undefined : await findProgram('bwrap', places);
    if (bubblewrap === undefined) return undefined;
    const isolates = await canIsolate(bubblewrap, executable, clock);
    // It gave no answer in time; the next rendering asks again.
    if (isolates === undefined) namespace = undefined;
    return isolates ? bubblewrap : undefined;
  }

  async function start(signal: AbortSignal, wish: StartWish = {}): Promise<Result<RunningBrowser>> {
    const giveBack = await processPlaces.take(options.max_instances, signal);
    if (giveBack === undefined) return cancelled();
    wish.onTurn?.();
    const started = await startInPlace(signal, wish.requestedHost ?? '').catch(error => {
      giveBack();
      throw error;
    });
    if (!started.ok && started.error.code === 'browser_unavailable') failedAt = clock.monotonic();
    if (started.ok) failedAt = undefined;
    if (started.ok) void started.value.chromium.closed.then(giveBack);
    else giveBack();
    return started;
  }

  async function startInPlace(signal: AbortSignal, requested_host: string): Promise<Result<RunningBrowser>> {
    const located = await locate();
    if (!located.ok) return located;
    const executable = await realpath(located.value).catch(() => located.value);
    namespace ??= findNamespace(executable).catch(error => {
      namespace = undefined;
      throw error;
    });
    const bubblewrap = await namespace;
    if (bubblewrap === undefined && options.isolation === 'namespace') {
      return unavailable(
        'tools.webfetch.browser.isolation is "namespace" and bubblewrap cannot make one here',
        'no network namespace',
      );
    }
    const plan = {executable, bubblewrap, contained, tempDir};
    let started = await attempt({...plan, sandbox}, signal);
    if (!started.ok && sandbox && !signal.aborted && SANDBOX_PROBLEM.test(started.error)) {
      started = await attempt({...plan, sandbox: false}, signal);
      sandbox = !started.ok;
    }
    if (closed || signal.aborted) {
      if (started.ok) await started.value.chromium.close();
      return cancelled();
    }
    if (!started.ok) return unavailable(`"${located.value}" did not start`, started.error);
    const {chromium, version} = started.value;
    if (Number.parseInt(version, 10) < MINIMUM_VERSION) {
      await chromium.close();
      return unavailable(
        `"${located.value}" is version ${version}, older than ${MINIMUM_VERSION}`,
        'too old',
      );
    }
    const isolation = bubblewrap === undefined ? 'flags' : 'namespace';
    const layers = isolation === 'namespace' ? ['namespace', 'flags'] : ['flags'];
    const {bounded} = chromium;
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
    return ok({chromium, version, isolation, sandbox, bounded});
  }

  /** A Chromium that answers; else what it said. */
  async function attempt(
    plan: Omit<LaunchPlan, 'group'>,
    signal: AbortSignal,
  ): Promise<Result<{chromium: Chromium; version: string}, string>> {
    if (closed || signal.aborted) return {ok: false, error: 'closed'};
    let chromium: Chromium;
    try {
      chromium = await launch({...plan, group: await makeGroup()}, clock);
    } catch (error) {
      return {ok: false, error: error instanceof Error ? error.message : String(error)};
    }
    running.add(chromium);
    const end = (): void => void chromium.close();
    signal.addEventListener('abort', end, {once: true});
    void chromium.gone.then(() => {
      running.delete(chromium);
      signal.removeEventListener('abort', end);
    });
    if (closed || signal.aborted) end();
    const version = await chromium.connection.send('Browser.getVersion', {});
    if (version.ok) return ok({chromium, version: version.value.product.replace(/^[^/]*\//, '')});
    await chromium.close();
    return {ok: false, error: lastWords(await chromium.gone)};
  }

  /** Review R13. Without a control group, as on most machines whose user is not root, nothing bounds Chromium. */
  async function makeGroup(): Promise<ControlGroup | undefined> {
    groupPlace ??= findGroupPlace();
    const place = await groupPlace;
    if (place === undefined) return undefined;
    const limits = {
      memoryBytes: options.memory_mb * MIB,
      processes: options.max_processes,
      cpus: availableParallelism(),
    };
    try {
      return await createGroup(place, limits, clock);
    } catch (error) {
      log({
        level: 'warn',
        event: 'browser_not_bounded',
        rendering_method: 'browser',
        message: errorReason(error),
      });
      return undefined;
    }
  }

  function unavailable(what: string, error: string): Err<Failure> {
    return fail(
      'browser_unavailable',
      `${what}. Call without force_browser, or install Chromium and set browser.chromium_path.`,
      {chromium_path: options.chromium_path, error},
    );
  }

  return {
    locate,
    isThere: async () => {
      const isBroken = failedAt !== undefined && clock.monotonic() - failedAt < BROKEN_FOR_MS;
      return !isBroken && (await locate()).ok;
    },
    start,
    track: ending => {
      endings.add(ending);
      void ending.finally(() => endings.delete(ending));
    },
    settled: async () => {
      await Promise.all(endings);
    },
    close: async () => {
      closed = true;
      await Promise.all([...running].map(chromium => chromium.close()));
      await Promise.all(endings);
    },
  };
}

function cancelled(): Err<Failure> {
  return fail('cancelled', 'The call was cancelled while Chromium started.', {phase: 'browser'});
}

/** The line that says why, not the chatter before and after it. */
function lastWords(words: string): string {
  const lines = words.split('\n').filter(line => line.trim() !== '');
  const telling = lines.find(line => SANDBOX_PROBLEM.test(line) || /FATAL|error while loading/.test(line));
  return (telling ?? lines.at(-1) ?? 'it ended without a word').slice(0, 300);
}
