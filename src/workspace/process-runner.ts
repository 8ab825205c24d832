// Runs helper programs. Nothing that they started outlives the call.
import {type ChildProcess, spawn} from 'node:child_process';
import {pipeline} from 'node:stream/promises';
import type {Clock} from '../core/clock.ts';
import {errorCode, errorReason, killGroup} from '../system/errors.ts';

/** A program to run, with everything it gets. */
export interface ProcessRequest {
  /** An absolute path: nothing is looked up in a `PATH`. */
  readonly command: string;
  /** Handed over as they are; there is no shell. */
  readonly args: readonly string[];
  /** Working directory, absolute. */
  readonly cwd: string;
  /** The whole environment; nothing is inherited. Default: empty. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Without it, stdin is closed from the start. */
  readonly stdin?: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | undefined;
  /** Given each part of stdout as it comes; `false` says that it is enough, and ends the process. */
  readonly onStdout: (part: Uint8Array) => boolean | undefined;
  /** More than this ends the process. */
  readonly maxStdoutBytes: number;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

/** How a program came to its end. */
export type ProcessEnd =
  | {
      readonly end: 'exited';
      /** `null` where a signal killed it that was not ours. */
      readonly exitCode: number | null;
      /** The first 16 KiB. */
      readonly stderr: string;
      /** Why it did not read all of its input, where it did not. */
      readonly unread?: string;
    }
  /** Killed by us: the reader had enough, there was too much, or the call was aborted. */
  | {readonly end: 'stopped' | 'capped' | 'aborted'}
  | {
      /** `broken`: a pipe to or from it failed, so that something of its input or output is missing. */
      readonly end: 'not_started' | 'broken';
      /** The code of the operating system. */
      readonly error: string;
    };

/** Runs programs for tools. Nothing that a program started outlives `run`. (ADR 08) */
export interface ProcessRunner {
  /** Resolves when the program has ended; never rejects. */
  readonly run: (request: ProcessRequest) => Promise<ProcessEnd>;
}

const MAX_STDERR_BYTES = 16 * 1024;
/** What is in a pipe when its process ends arrives well within this. */
const DRAIN_MS = 1000;

/** Programs as process groups of their own, which are killed whole. */
export function nodeProcessRunner(clock: Clock): ProcessRunner {
  return {run: request => runProcess(request, clock)};
}

async function runProcess(request: ProcessRequest, clock: Clock): Promise<ProcessEnd> {
  if (request.signal.aborted) return {end: 'aborted'};
  let child: ChildProcess;
  try {
    child = start(request);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return {end: 'not_started', error: code};
  }
  const fed = feed(child, request);
  // A bug in what feeds it is reported at the end; until then it must not count as unhandled.
  fed.catch(() => killGroup(child));
  const end = await follow(child, request, clock);
  child.stdin?.destroy();
  const unfed = await fed;
  if (unfed === undefined || end.end !== 'exited') return end;
  return unfed.isGone ? {...end, unread: unfed.code} : {end: 'broken', error: unfed.code};
}

function start({command, args, cwd, env = {}, stdin}: ProcessRequest): ChildProcess {
  return spawn(command, args, {
    cwd,
    env,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    shell: false,
    // A group of its own, so that what it starts dies with it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

interface Unfed {
  readonly code: string;
  /** It has ended, or closed its input. */
  readonly isGone: boolean;
}

/** The value is what kept it from getting all of its input. */
async function feed(child: ChildProcess, {stdin}: ProcessRequest): Promise<Unfed | undefined> {
  if (stdin === undefined || child.stdin === null) return undefined;
  try {
    await pipeline(stdin, child.stdin);
    return undefined;
  } catch (error) {
    // It may end before it has read everything, or never have been started.
    const gone = ['EPIPE', 'ECONNRESET', 'ENOTCONN', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];
    const code = errorReason(error);
    if (gone.includes(code)) return {code, isGone: true};
    if (errorCode(error) === undefined) throw error;
    killGroup(child);
    return {code, isGone: false};
  }
}

function follow(child: ChildProcess, request: ProcessRequest, clock: Clock): Promise<ProcessEnd> {
  const {onStdout, maxStdoutBytes, signal} = request;
  return new Promise((resolve, reject) => {
    let ended: 'stopped' | 'capped' | 'aborted' | undefined;
    let broken: string | undefined;
    let exitCode: number | null = null;
    let stdoutBytes = 0;
    let stderrBytes = 0;
    const stderr: Uint8Array[] = [];
    let cancelDrain = (): void => {};

    const stop = (why: 'stopped' | 'capped' | 'aborted'): void => {
      ended ??= why;
      killGroup(child);
    };
    const onAbort = (): void => stop('aborted');
    const settle = (end: ProcessEnd): void => {
      cancelDrain();
      signal.removeEventListener('abort', onAbort);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(end);
    };
    const finish = (): void => {
      if (ended !== undefined) settle({end: ended});
      else if (broken !== undefined) settle({end: 'broken', error: broken});
      else settle({end: 'exited', exitCode, stderr: Buffer.concat(stderr).toString('utf8')});
    };

    signal.addEventListener('abort', onAbort, {once: true});
    child.stdout?.on('data', (part: Uint8Array) => {
      if (ended !== undefined) return;
      stdoutBytes += part.length;
      if (stdoutBytes > maxStdoutBytes) return stop('capped');
      try {
        if (onStdout(part) === false) stop('stopped');
      } catch (error) {
        stop('stopped');
        reject(error);
      }
    });
    child.stderr?.on('data', (part: Uint8Array) => {
      const room = MAX_STDERR_BYTES - stderrBytes;
      if (room > 0) stderr.push(part.subarray(0, room));
      stderrBytes += part.length;
    });
    for (const pipe of [child.stdout, child.stderr]) {
      pipe?.on('error', error => {
        broken ??= errorCode(error) ?? error.name;
        killGroup(child);
      });
    }
    child.on('error', error => {
      // With a number it was started, and this is a kill that came too late.
      if (child.pid !== undefined) return;
      const code = errorCode(error);
      if (code === undefined) reject(error);
      else settle({end: 'not_started', error: code});
    });
    child.on('exit', code => {
      exitCode = code;
      // `close` waits for everybody who holds the pipes, so what is left of the group goes first.
      killGroup(child);
      cancelDrain = clock.after(DRAIN_MS, finish);
    });
    child.on('close', finish);
  });
}
