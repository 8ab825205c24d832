import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import type {Clock} from '../../../core/clock.ts';
import type {ControlGroup} from '../../../system/control-group.ts';
import {holdOpen} from '../../../system/hold-open.ts';
import {JOIN} from '../../../system/join-script.ts';
import {requireStarted} from '../../../system/require-started.ts';
import {CdpConnection} from '../cdp/cdp-connection.ts';
import {bubblewrapArguments, INFO_FD, INNER_HOME} from './bubblewrap.ts';
import {chromiumFlags} from './flags.ts';
import {killProcessGroup} from './process-group.ts';

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
