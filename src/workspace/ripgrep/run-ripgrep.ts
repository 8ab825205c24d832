import {dirname} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/take-start.ts';
import type {ProcessEnd, ProcessRequest, ProcessRunner} from '../process/process-runner.ts';

/** How ripgrep is run. */
export interface Ripgrep {
  /** Absolute path of the program. */
  readonly command: string;
  readonly processes: ProcessRunner;
}

export type RipgrepRun = Pick<ProcessRequest, 'args' | 'stdin' | 'onStdout' | 'signal'> & {
  /** Default: a bound for those who keep it. */
  readonly maxStdoutBytes?: number;
};

const MAX_STDOUT_BYTES = 256 * 1024 * 1024;
const SHOWN_CHARACTERS = 2000;

/**
 * Every run: no configuration file (it could name a program to execute), no environment. `stopped` where
 * `onStdout` had enough, `aborted` where the signal fired.
 */
export async function runRipgrep(
  {command, processes}: Ripgrep,
  {args, stdin, onStdout, signal, maxStdoutBytes = MAX_STDOUT_BYTES}: RipgrepRun,
): Promise<Result<'complete' | 'stopped' | 'aborted'>> {
  const end = await processes.run({
    command,
    args: ['--no-config', '--color=never', ...args],
    // It gets what it searches on stdin. Where it is run does not matter, so not in the workspace.
    cwd: dirname(command),
    stdin,
    onStdout,
    maxStdoutBytes,
    signal,
  });
  switch (end.end) {
    case 'exited':
      return readExit(end, end.stderr.trim());
    case 'stopped':
    case 'aborted':
      return ok(end.end);
    case 'capped':
      return refused(`its output exceeded ${MAX_STDOUT_BYTES} bytes`, null);
    case 'broken':
      return refused(`the connection to it failed (${end.error})`, null);
    case 'not_started':
      return fail('ripgrep_unavailable', `ripgrep could not be started: ${end.error}. Install it anew.`, {
        error: end.error,
      });
  }
}

type ExitedProcess = Extract<ProcessEnd, {readonly end: 'exited'}>;

/** 0 is for matches, 1 for none, 2 for an error. */
function readExit({exitCode, unread}: ExitedProcess, stderr: string): Result<'complete'> {
  if (exitCode === 0 || exitCode === 1) {
    // What it did not read it did not search.
    return unread === undefined
      ? ok('complete')
      : refused(`the connection to it failed (${unread})`, exitCode);
  }
  if (exitCode === null) return refused('it was killed by a signal', exitCode);
  return refused(stderr.replace(/^rg: /, '') || `it ended with exit code ${exitCode}`, exitCode);
}

function refused(error: string, exitCode: number | null): Err<Failure> {
  const words = takeStart(error, SHOWN_CHARACTERS);
  return fail('ripgrep_error', `ripgrep refused the search: ${words}\nCorrect the query.`, {
    error: words,
    exit_code: exitCode,
  });
}
