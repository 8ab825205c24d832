// Keeps a small shell that starts GNU patch quickly.
import {type ChildProcessByStdio, spawn} from 'node:child_process';
import type {Readable, Writable} from 'node:stream';
import {killGroup} from '../../system/errors.ts';
import {holdOpen} from '../../system/process.ts';

/**
 * A directory a line, an exit code a line. Descriptor 3 keeps the pipe open in what is started: it is closed when all
 * of it has ended.
 */
const SCRIPT = [
  'exec 3>&1',
  'while IFS= read -r directory',
  'do (cd "$directory/files" && exec "$@" <../hunks >/dev/null 2>&1); echo $?',
  'done',
].join('\n');

/** Runs the program in `files` of a directory, with its `hunks` as input: whether it ended with success. */
type AskPatch = (directory: string) => Promise<boolean>;

interface Shell {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Told the exit code, and '' where there is none to come. */
  answer: (said: string) => void;
}

/**
 * A fork server for GNU patch. Node starts a program by a copy of itself: milliseconds in which nothing else runs, and
 * more of them the more memory it has. The shell that is kept here is small. It ends with `close`, and with this process.
 */
export class PatchServer {
  readonly #program: readonly [string, ...string[]];
  #shell: Shell | undefined;
  #state: 'unasked' | 'free' | 'busy' | 'closed' = 'unasked';

  constructor(...program: readonly [string, ...string[]]) {
    this.#program = program;
  }

  /** Undefined for the first one, which may be the only one, and for one beside another: they are for Node to start. */
  take(signal: AbortSignal): AskPatch | undefined {
    if (this.#state === 'free') return directory => this.#ask(directory, signal);
    if (this.#state === 'unasked') this.#state = 'free';
    return undefined;
  }

  /** Its shell is gone then. */
  async close(): Promise<void> {
    this.#state = 'closed';
    const child = this.#shell?.child;
    if (child === undefined) return;
    this.#end();
    holdOpen(child, true);
    await new Promise(resolve => child.once('close', resolve));
  }

  async #ask(directory: string, signal: AbortSignal): Promise<boolean> {
    // A line break would make two of it.
    if (this.#state !== 'free' || signal.aborted || directory.includes('\n')) return false;
    this.#shell ??= this.#start();
    const shell = this.#shell;
    if (shell === undefined) return false;
    this.#state = 'busy';
    const abort = (): void => this.#end();
    signal.addEventListener('abort', abort, {once: true});
    const said = await new Promise<string>(resolve => {
      shell.answer = resolve;
      holdOpen(shell.child, true);
      shell.child.stdin.write(`${directory}\n`);
    });
    signal.removeEventListener('abort', abort);
    holdOpen(shell.child, false);
    if (this.#state === 'busy') this.#state = 'free';
    return said === '0\n';
  }

  #start(): Shell | undefined {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...this.#program], {
      cwd: '/',
      env: {PATH: '/dev/null', TMPDIR: '.', LC_ALL: 'C'},
      stdio: ['pipe', 'pipe', 'ignore'],
      // A group of its own, so that what it starts dies with it.
      detached: true,
    });
    // Without a number it was not started; with one, this is a kill that came too late.
    child.on('error', () => {});
    if (child.pid === undefined) return undefined;
    const shell: Shell = {child, answer: () => {}};
    child.stdout.on('data', said => shell.answer(String(said)));
    child.on('close', () => {
      if (this.#shell === shell) this.#shell = undefined;
      shell.answer('');
    });
    for (const pipe of [child.stdin, child.stdout]) pipe.on('error', () => killGroup(child));
    return shell;
  }

  #end(): void {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell !== undefined) killGroup(shell.child);
  }
}

/** GNU patch as it is asked: an absolute path, as nothing is looked up in a `PATH`, and its arguments. */
export const GNU_PATCH = '/usr/bin/patch';
export const PATCH_ARGUMENTS = [
  '-p1',
  '-u',
  '--force',
  '--fuzz=0',
  '--no-backup-if-mismatch',
  '--silent',
] as const;
