// Finds a Chromium that may be trusted, and starts it with as much isolation as there is.

import {spawn} from 'node:child_process';
import {constants} from 'node:fs';
import {access, realpath, stat} from 'node:fs/promises';
import {availableParallelism} from 'node:os';
import {Readable} from 'node:stream';
import type {Clock} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {type ControlGroup, createGroup, findGroupPlace, type GroupPlace} from '../../system/control-group.ts';
import {errorReason} from '../../system/errors.ts';
import {findProgram, isProgramToTrust, type ProgramPlaces} from '../../system/find-program.ts';
import type {WebFetchOptions} from '../options.ts';
import {
  bubblewrapArguments,
  type Chromium,
  INFO_FD,
  killProcessGroup,
  type LaunchPlan,
  launch,
} from './launch.ts';

export interface StartSettings {
  readonly options: Pick<
    WebFetchOptions['browser'],
    'chromium_path' | 'isolation' | 'memory_mb' | 'max_processes'
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
  /** The file that was started: another one may be at its path by now. */
  readonly program: string;
}

/** Starts Chromiums, and ends those that are still there. */
interface ChromiumStarter {
  /** FR-WF-11a: `browser_unavailable` where it is known without starting anything. */
  readonly locate: () => Promise<Result<string>>;
  /** The file that would be started now, as `RunningBrowser.program` has it. */
  readonly programNow: () => Promise<string | undefined>;
  /** Errors: `browser_unavailable`, `cancelled`. The one who gets it closes it. */
  readonly start: (signal: AbortSignal) => Promise<Result<RunningBrowser>>;
  /** Kills every Chromium that is still there. From here on none is started. */
  readonly close: () => Promise<void>;
}

/** FR-WF-11 */
const MINIMUM_VERSION = 100;
const MIB = 1_048_576;
const SANDBOX_PROBLEM =
  /no usable sandbox|--no-sandbox|sandbox_linux|setuid sandbox|Operation not permitted/i;

/** Why no browser can run here is found out once; what can change (the binary) is looked at every time. */
export function createStarter(settings: StartSettings): ChromiumStarter {
  const {options, places, tempDir, clock, log, contained = true} = settings;
  const running = new Set<Chromium>();
  let namespace: Promise<string | undefined> | undefined;
  let groupPlace: Promise<GroupPlace | undefined> | undefined;
  let sandbox = true;
  let closed = false;

  async function locate(): Promise<Result<string>> {
    const found = await findChromium(options.chromium_path, places);
    if (found !== undefined) return ok(found);
    return options.chromium_path === ''
      ? unavailable('There is no Chromium in PATH', 'not found in PATH')
      : unavailable(
          `There is no program at "${options.chromium_path}"`,
          'not found',
          'Correct tools.webfetch.browser.chromium_path, or leave it out to search PATH.',
        );
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

  async function start(signal: AbortSignal): Promise<Result<RunningBrowser>> {
    const located = await locate();
    if (!located.ok) return located;
    const executable = await realpath(located.value).catch(() => located.value);
    const program = await programAt(executable);
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
      return cancelledStart();
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
    return ok({chromium, version, isolation, sandbox, bounded: chromium.bounded, program});
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

  function unavailable(
    what: string,
    error: string,
    next = 'Call without force_browser, or install Chromium and set browser.chromium_path.',
  ): Err<Failure> {
    return fail('browser_unavailable', `${what}. ${next}`, {chromium_path: options.chromium_path, error});
  }

  return {
    locate,
    programNow: async () => {
      const located = await locate();
      return located.ok ? programAt(await realpath(located.value).catch(() => located.value)) : undefined;
    },
    start,
    close: async () => {
      closed = true;
      await Promise.all([...running].map(chromium => chromium.close()));
    },
  };
}

async function programAt(path: string): Promise<string> {
  const file = await stat(path).catch(() => undefined);
  return JSON.stringify([path, file?.dev, file?.ino, file?.size, file?.mtimeMs]);
}

export function cancelledStart(): Err<Failure> {
  return fail('cancelled', 'The call was cancelled while Chromium started.', {phase: 'browser'});
}

/** The line that says why, not the chatter before and after it. */
function lastWords(words: string): string {
  const lines = words.split('\n').filter(line => line.trim() !== '');
  const telling = lines.find(line => SANDBOX_PROBLEM.test(line) || /FATAL|error while loading/.test(line));
  return (telling ?? lines.at(-1) ?? 'it ended without a word').slice(0, 300);
}

const LIMIT_MS = 5000;

/**
 * Runs nothing in the very sandbox that Chromium would run in. `undefined`: there was no answer in time, which
 * says nothing about the next time.
 */
function canIsolate(bubblewrap: string, executable: string, clock: Clock): Promise<boolean | undefined> {
  return new Promise(resolve => {
    const args = [...bubblewrapArguments(executable), '--', '/usr/bin/env', 'true'];
    const child = spawn(bubblewrap, args, {
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
      env: {},
      detached: true,
    });
    child.once('error', () => settle(false));
    // For want of descriptors there are no pipes.
    const pipes: readonly unknown[] = child.stdio ?? [];
    const information = pipes[INFO_FD];
    if (information instanceof Readable) information.resume();
    const settle = (answer: boolean | undefined): void => {
      cancel();
      if (information instanceof Readable) information.destroy();
      resolve(answer);
    };
    const cancel = clock.after(LIMIT_MS, () => {
      void killProcessGroup(child, clock).then(() => settle(undefined));
    });
    // Not "close": something that it has left behind may hold the pipe.
    child.once('exit', (code, signal) => {
      if (signal === null) settle(code === 0);
    });
  });
}

/** In the order in which they are looked for, each in all places. */
export const CHROMIUM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome-headless-shell',
] as const;

/**
 * FR-WF-11: the binary at `chromiumPath`, which the operator answers for, or the first known name that may be run, or
 * the first application of the system that may be.
 */
export async function findChromium(
  chromiumPath: string,
  places: ProgramPlaces,
  applications: readonly string[] = chromiumPlaces(process.platform),
): Promise<string | undefined> {
  if (chromiumPath !== '') return (await isExecutable(chromiumPath)) ? chromiumPath : undefined;
  for (const name of CHROMIUM_NAMES) {
    const found = await findProgram(name, places);
    if (found !== undefined) return found;
  }
  for (const path of applications) {
    if (await isProgramToTrust(path, places.untrustedTrees)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Where browsers are installed that are in no `PATH`: in the order in which they are looked for. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Chromium\\Application\\chrome.exe',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

/** Absolute paths; none where programs are found by their names. */
export function chromiumPlaces(platform: string): readonly string[] {
  return PLACES[platform] ?? [];
}
