import {type Failure, fail} from '../../core/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {ProcessRequest, ProcessRunner} from '../process/process-runner.ts';

/** How ripgrep is run for one workspace. */
export interface Ripgrep {
  /** Absolute path of the program. */
  readonly command: string;
  readonly processes: ProcessRunner;
  /** The root of the workspace. */
  readonly cwd: string;
  /** For a file of ours, outside the workspace. Made if it is missing. */
  readonly scratchDirectory: string;
}

export type RipgrepRun = Pick<ProcessRequest, 'args' | 'stdin' | 'onStdout' | 'signal'>;

const MAX_STDOUT_BYTES = 256 * 1024 * 1024;
const SHOWN_CHARACTERS = 2000;

/**
 * Every run: no configuration file (it could name a program to execute), no environment. `stopped` where
 * `onStdout` had enough, `aborted` where the signal fired. Files that cannot be read are passed over.
 */
export async function runRipgrep(
  {command, processes, cwd}: Omit<Ripgrep, 'scratchDirectory'>,
  {args, stdin, onStdout, signal}: RipgrepRun,
): Promise<Result<'complete' | 'stopped' | 'aborted'>> {
  const end = await processes.run({
    command,
    args: ['--no-config', '--no-messages', '--color=never', ...args],
    cwd,
    stdin,
    onStdout,
    maxStdoutBytes: MAX_STDOUT_BYTES,
    signal,
  });
  switch (end.end) {
    case 'exited':
      return judgeExit(end.exitCode, end.stderr.trim());
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

/** 0 is for matches, 1 for none, 2 for an error: one that it has words for, or a file it could not read. */
function judgeExit(exitCode: number | null, stderr: string): Result<'complete'> {
  if (exitCode === 0 || exitCode === 1 || (exitCode === 2 && stderr === '')) return ok('complete');
  if (exitCode === null) return refused('it was killed by a signal', exitCode);
  return refused(stderr.replace(/^rg: /, '') || `it ended with exit code ${exitCode}`, exitCode);
}

function refused(error: string, exitCode: number | null): Err<Failure> {
  const words = error.slice(0, SHOWN_CHARACTERS);
  return fail('ripgrep_error', `ripgrep refused the search: ${words}\nCorrect the query.`, {
    error: words,
    exit_code: exitCode,
  });
}
