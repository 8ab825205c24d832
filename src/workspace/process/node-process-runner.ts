import {type ChildProcess, spawn} from 'node:child_process';
import {pipeline} from 'node:stream/promises';
import type {Clock} from '../../core/clock.ts';
import {errorCode, errorReason} from '../../system/error-code.ts';
import type {ProcessEnd, ProcessRequest, ProcessRunner} from './process-runner.ts';

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

function killGroup({pid}: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: no process is left. EPERM: what is left belongs to another process.
    if (errorCode(error) === undefined) throw error;
  }
}
