// Starts one Chromium process, contained, and ends it with all its children.

import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import type {Clock} from '../../core/clock.ts';
import type {ControlGroup} from '../../system/control-group.ts';
import {requireStarted} from '../../system/errors.ts';
import {holdOpen, JOIN} from '../../system/process.ts';
import {CdpConnection} from './cdp.ts';

export interface LaunchPlan {
  /** Real path of Chromium. */
  readonly executable: string;
  /** Path of bubblewrap where the first layer holds, else `undefined` (ruling G1). */
  readonly bubblewrap: string | undefined;
  readonly sandbox: boolean;
  readonly contained: boolean;
  /** What bounds its memory and its processes; it is removed when Chromium is closed. */
  readonly group: ControlGroup | undefined;
  /** Where profile directories are made when there is no file system of our own to put them in. */
  readonly tempDir: string;
}

/** A Chromium process and everything that came with it. */
export interface Chromium {
  readonly connection: CdpConnection;
  /** The words on standard error, up to a limit, once the process is gone. */
  readonly gone: Promise<string>;
  /** Whether it is in a control group. */
  readonly bounded: boolean;
  /** Whether something of it was ended for want of memory, by the kernel or, before that takes minutes, by us. */
  readonly ranOutOfMemory: () => boolean;
  /** Whether our process stays as long as it does. It does, if nobody says otherwise. */
  readonly hold: (isHeld: boolean) => void;
  /** Ruling G6: when it resolves, processes, pipes and profile are gone. May be called again. */
  readonly close: () => Promise<void>;
  /** Resolves when somebody has closed it. */
  readonly closed: Promise<void>;
}

const KEPT_WORDS = 8192;
const MEMORY_LOOK_MS = 250;
const LAST_WORDS_MS = 200;
/** Chromium adds 45 characters for a socket, and macOS has 104 for its path and the zero at its end. */
const LONGEST_HOME = 58;

/** FR-WF-BROWSER-ISO-01: starts Chromium with a profile that exists for this process only. */
export async function launch(plan: LaunchPlan, clock: Clock): Promise<Chromium> {
  const {bubblewrap, sandbox, contained, group} = plan;
  const home = bubblewrap ? undefined : await makeHome(plan);
  const flags = chromiumFlags({profile: `${home ?? INNER_HOME}/profile`, sandbox, contained});
  let child: ChildProcess;
  try {
    child = start(plan, flags, home);
    requireStarted(child);
  } catch (error) {
    if (home) await rm(home, {recursive: true});
    await group?.remove();
    throw error;
  }

  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (words.length < KEPT_WORDS) words += text;
  });
  const gone = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    // What it said may be read after its end is known. Something that it left behind may hold the pipe open.
    child.once('exit', () => {
      const done = (): void => resolve(words);
      if (child.stderr?.closed) return done();
      const cancel = clock.after(LAST_WORDS_MS, done);
      child.stderr?.once('close', () => {
        cancel();
        done();
      });
    });
  });
  const firstInside = bubblewrap ? readFirstInside(child) : Promise.resolve(undefined);
  const connection = new CdpConnection(writable(child.stdio[3]), readable(child.stdio[4]));
  void gone.then(() => connection.close());

  async function end(): Promise<void> {
    holdOpen(child, true);
    if (bubblewrap) {
      // bubblewrap ends when the first process inside has, and that one takes all the others along.
      const inside = await Promise.race([firstInside, gone.then(() => undefined)]);
      // Once it has ended, its number may be that of another process.
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (inside !== undefined && !hasEnded) killProcess(inside);
      else child.kill('SIGKILL');
    } else {
      await killProcessGroup(child, clock);
    }
    await gone;
    connection.close();
    for (const pipe of child.stdio) pipe?.destroy();
    if (home) await rm(home, {recursive: true, force: true, maxRetries: 5});
    outOfMemory = ranOutOfMemory();
    removed = true;
    await group?.remove();
  }

  let outOfMemory = false;
  let removed = false;
  function ranOutOfMemory(): boolean {
    return outOfMemory || (!removed && (group?.ranOutOfMemory() ?? false));
  }

  // Twice in a row, as memory that is about to be given back fills it for a moment.
  function watchMemory(wasFull: boolean): void {
    const isFull = group?.isFull() ?? false;
    if (isFull && wasFull) {
      outOfMemory = true;
      connection.close();
    } else {
      lookAtMemory(isFull);
    }
  }
  let stopWatching = (): void => {};
  const lookAtMemory = (wasFull: boolean): void => {
    // Chromium itself keeps our process, or not.
    stopWatching = clock.after(MEMORY_LOOK_MS, () => watchMemory(wasFull), {holds: false});
  };
  if (group !== undefined) lookAtMemory(false);
  void gone.then(() => stopWatching());

  let ending: Promise<void> | undefined;
  let markClosed: () => void = () => {};
  const closed = new Promise<void>(resolve => {
    markClosed = resolve;
  });
  const close = (): Promise<void> => {
    ending ??= end().finally(markClosed);
    return ending;
  };
  // Nobody can hear from it any more, so it is ended: its page would load until the time is over.
  void connection.closed.then(close);
  return {
    connection,
    gone,
    bounded: group !== undefined,
    ranOutOfMemory,
    hold: isHeld => holdOpen(child, isHeld),
    close,
    closed,
  };
}

async function makeHome({tempDir, group}: LaunchPlan): Promise<string> {
  const isTooLong = `${tempDir}/forge-browser-XXXXXX`.length > LONGEST_HOME;
  try {
    return await mkdtemp(
      join(isTooLong && process.platform !== 'win32' ? '/tmp' : tempDir, 'forge-browser-'),
    );
  } catch (error) {
    await group?.remove();
    throw error;
  }
}

function start(plan: LaunchPlan, flags: readonly string[], home: string | undefined): ChildProcess {
  const {executable, bubblewrap, group} = plan;
  if (bubblewrap !== undefined) {
    const command = [bubblewrap, ...bubblewrapArguments(executable), '--', executable, ...flags];
    const [program = bubblewrap, ...args] = inGroup(group, command);
    return spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      env: {},
    });
  }
  const [program = executable, ...args] = inGroup(group, [executable, ...flags]);
  return spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: {HOME: home, TMPDIR: home, PATH: '/usr/bin:/bin'},
    detached: true,
  });
}

/** A shell that joins the group and then becomes the program: nothing of it ever runs outside. */
function inGroup(group: ControlGroup | undefined, command: readonly string[]): readonly string[] {
  if (group === undefined) return command;
  const {procsFiles} = group;
  return ['/bin/sh', '-c', `${JOIN}exec "$@"\n`, 'sh', String(procsFiles.length), ...procsFiles, ...command];
}

/** The process that bubblewrap names on its information pipe; `undefined` where it could not start one. */
function readFirstInside(child: ChildProcess): Promise<number | undefined> {
  const pipes: readonly unknown[] = child.stdio;
  const pipe = readable(pipes[INFO_FD]);
  let text = '';
  return new Promise(resolve => {
    const settle = (): void => {
      const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
      resolve(pid === undefined ? undefined : Number(pid));
    };
    pipe.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (text.includes('}')) settle();
    });
    pipe.on('error', settle);
    pipe.on('close', settle);
  });
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function readable(pipe: unknown): Readable {
  if (!(pipe instanceof Readable)) throw new TypeError('Expected a pipe to read from');
  return pipe;
}

function writable(pipe: unknown): Writable {
  // A Node socket is a Duplex, for which `instanceof Writable` holds too.
  if (!(pipe instanceof Writable)) throw new TypeError('Expected a pipe to write to');
  return pipe;
}

/** Where things are inside: a file system of memory that dies with the last process. */
const INNER_HOME = '/tmp/home';
/** bubblewrap writes `{"child-pid": …}` to it, the process whose end ends everything inside. */
export const INFO_FD = 5;

const TEMPORARY_BYTES = 1_073_741_824;
const NOBODY = '65534';

// biome-ignore format: a list
/** What Chromium and the libraries under it read. No home directory, no configuration of the host. */
const READ_ONLY = [
  '/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/opt', '/nix/store', '/etc/alternatives',
  '/etc/chromium.d', '/etc/fonts', '/etc/ld.so.cache', '/etc/localtime', '/etc/mime.types',
  '/var/cache/fontconfig',
];

// biome-ignore format: a list
/** Below /proc, settings of the whole machine: where we are root, "nobody" inside is root to them. */
const MACHINE = [
  '/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi', '/proc/scsi',
  '/proc/mtrr', '/proc/pressure',
];

/**
 * Arguments of bubblewrap for a process that has no network but an empty loopback, no files of the host, and no way
 * to outlive us. `executable` is the real path. (G1)
 */
export function bubblewrapArguments(executable: string): readonly string[] {
  const home = dirname(executable) === '/' ? executable : dirname(executable);
  const readable = READ_ONLY.some(path => home === path || home.startsWith(`${path}/`))
    ? READ_ONLY
    : [...READ_ONLY, home];
  return [
    '--unshare-all',
    '--unshare-user',
    ...['--uid', NOBODY, '--gid', NOBODY],
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    '--clearenv',
    ...['--setenv', 'PATH', '/usr/bin:/bin', '--setenv', 'HOME', INNER_HOME],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...MACHINE.flatMap(path => ['--ro-bind-try', path, path]),
    ...['--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp', '--dir', INNER_HOME],
    // After /tmp, so that a Chromium that is kept there is seen.
    ...readable.flatMap(path => ['--ro-bind-try', path, path]),
    ...['--chdir', INNER_HOME],
    ...['--info-fd', String(INFO_FD)],
  ];
}

const GIVE_UP_MS = 3000;

/**
 * Kills a process that leads a group, and all of the group. Resolves when the last of those who hold
 * its standard error is gone: a zombie that nobody collects still counts as a process, but holds nothing.
 */
export async function killProcessGroup(child: ChildProcess, clock: Clock): Promise<void> {
  const {pid} = child;
  if (pid === undefined) return;
  let cancel: () => void = () => {};
  const ended = new Promise<void>(resolve => {
    if (child.stderr?.closed) resolve();
    else child.stderr?.once('close', resolve);
    cancel = clock.after(GIVE_UP_MS, resolve);
  });
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // There is no such group any more.
  }
  await ended;
  cancel();
}

/**
 * Ruling G1, second layer: whatever leaves by a way that cannot be intercepted finds it closed. Names
 * resolve to nothing, and what needs no name goes to a proxy that is not there.
 */
const CONTAINMENT_FLAGS = [
  // Covers IP literals too.
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://127.0.0.1:9',
  // Without it, loopback bypasses the proxy.
  '--proxy-bypass-list=<-loopback>',
  // The --force-… flag of the same meaning has no effect.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-domain-reliability',
  '--disable-breakpad',
  '--disable-back-forward-cache',
] as const;

/** Only the last --disable-features counts, so there is one. */
const DISABLED_FEATURES = [
  // Everything in a page belongs to the page: no process that starts before it is looked at.
  'IsolateSandboxedIframes',
  'IsolateOrigins',
  'site-per-process',
  // Requests of the browser's own.
  'ServiceWorkerAutoPreload',
  'Prerender2',
  'BackForwardCache',
  'FedCm',
  'AcceptCHFrame',
  'MediaRouter',
  'DialMediaRouteProvider',
  'OptimizationHints',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'NetworkTimeServiceQuerying',
  'InterestFeedContentSuggestions',
  'SegmentationPlatform',
  'Translate',
  // http stays http: which address is fetched is decided by the guard.
  'HttpsUpgrades',
  'HttpsFirstBalancedMode',
  'HttpsFirstBalancedModeAutoEnable',
];

const FUNCTIONAL_FLAGS = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-startup-window',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-default-apps',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  '--disable-site-isolation-trials',
  // No process of its own for what is never shown.
  '--in-process-gpu',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--mute-audio',
  '--password-store=basic',
  '--lang=en-US',
  '--window-size=1280,1024',
  // A page may not take all the memory there is.
  '--js-flags=--max-old-space-size=1024',
] as const;

interface FlagSettings {
  /** FR-WF-BROWSER-ISO-01: a directory that nobody has used before. */
  readonly profile: string;
  /** Chromium's own sandbox; off only where it cannot start. */
  readonly sandbox: boolean;
  /** The second layer. Off in the test that shows the first one holding alone. */
  readonly contained: boolean;
}

function chromiumFlags({profile, sandbox, contained}: FlagSettings): readonly string[] {
  return [
    ...FUNCTIONAL_FLAGS,
    ...(contained ? CONTAINMENT_FLAGS : []),
    ...(sandbox ? [] : ['--no-sandbox']),
    `--user-data-dir=${profile}`,
  ];
}
