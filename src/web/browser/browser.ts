import {spawn} from 'node:child_process';
import {realpath} from 'node:fs/promises';
import {Readable} from 'node:stream';
import type {Clock} from '../../core/clock.ts';
import {type Failure, fail} from '../../core/failure.ts';
import type {Log} from '../../core/log.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import {bubblewrapArguments, INFO_FD} from './bubblewrap.ts';
import {findChromium, findProgram} from './find-chromium.ts';
import {type Chromium, type LaunchPlan, launch} from './launch.ts';

export interface BrowserSettings {
  readonly options: Pick<WebFetchOptions['browser'], 'chromium_path' | 'isolation'>;
  /** The variable `PATH`. */
  readonly path: string;
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
}

/** Why no browser can run here is found out once; what can change (the binary) is looked at every time. */
export interface Browser {
  /** FR-WF-11a: `browser_unavailable` where it is known without starting anything. */
  readonly locate: () => Promise<Result<string>>;
  /** A fresh Chromium. Errors: `browser_unavailable`. The one who gets it closes it. */
  readonly start: (signal: AbortSignal) => Promise<Result<RunningBrowser>>;
  /** Keeps an eye on something that is being closed. */
  readonly track: (ending: Promise<void>) => void;
  /** Resolves when all that is tracked has ended. */
  readonly settled: () => Promise<void>;
  /** Kills every Chromium that is still there. */
  readonly close: () => Promise<void>;
}

/** FR-WF-11 */
const MINIMUM_VERSION = 100;
const SANDBOX_PROBLEM =
  /no usable sandbox|--no-sandbox|sandbox_linux|setuid sandbox|Operation not permitted/i;

export function createBrowser(settings: BrowserSettings): Browser {
  const {options, path, tempDir, clock, log, contained = true} = settings;
  const running = new Set<Chromium>();
  const endings = new Set<Promise<void>>();
  let namespace: Promise<string | undefined> | undefined;
  let sandbox = true;
  let closed = false;

  async function locate(): Promise<Result<string>> {
    const found = await findChromium(options.chromium_path, path);
    if (found !== undefined) return ok(found);
    return options.chromium_path === ''
      ? unavailable('There is no Chromium in PATH', 'not found in PATH')
      : unavailable(`There is no program at "${options.chromium_path}"`, 'not found');
  }

  /** The path of bubblewrap, if it can make an empty network namespace on this machine. */
  async function findNamespace(executable: string): Promise<string | undefined> {
    const bubblewrap = options.isolation === 'flags' ? undefined : await findProgram('bwrap', path);
    return bubblewrap !== undefined && (await canIsolate(bubblewrap, executable)) ? bubblewrap : undefined;
  }

  async function start(signal: AbortSignal): Promise<Result<RunningBrowser>> {
    const located = await locate();
    if (!located.ok) return located;
    const executable = await realpath(located.value).catch(() => located.value);
    namespace ??= findNamespace(executable);
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
      return fail('cancelled', 'The call was cancelled while Chromium started.', {phase: 'browser'});
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
    log({level: 'info', event: 'browser_started', rendering_method: 'browser', version, layers, sandbox});
    return ok({chromium, version, isolation, sandbox});
  }

  /** A Chromium that answers; else what it said. */
  async function attempt(
    plan: LaunchPlan,
    signal: AbortSignal,
  ): Promise<Result<{chromium: Chromium; version: string}, string>> {
    if (closed || signal.aborted) return {ok: false, error: 'closed'};
    let chromium: Chromium;
    try {
      chromium = await launch(plan, clock);
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

  function unavailable(what: string, error: string): Err<Failure> {
    return fail(
      'browser_unavailable',
      `${what}. Call without force_browser, or install Chromium and set browser.chromium_path.`,
      {chromium_path: options.chromium_path, error},
    );
  }

  return {
    locate,
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

/** Runs nothing in the very box that Chromium would run in. */
function canIsolate(bubblewrap: string, executable: string): Promise<boolean> {
  return new Promise(resolve => {
    const args = [...bubblewrapArguments(executable), '--', '/usr/bin/env', 'true'];
    const child = spawn(bubblewrap, args, {
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
      env: {},
    });
    child.once('error', () => resolve(false));
    child.once('close', code => resolve(code === 0));
    const pipes: readonly unknown[] = child.stdio;
    const information = pipes[INFO_FD];
    if (information instanceof Readable) information.resume();
  });
}

/** The line that says why, not the chatter before and after it. */
function lastWords(words: string): string {
  const lines = words.split('\n').filter(line => line.trim() !== '');
  const telling = lines.find(line => SANDBOX_PROBLEM.test(line) || /FATAL|error while loading/.test(line));
  return (telling ?? lines.at(-1) ?? 'it ended without a word').slice(0, 300);
}
