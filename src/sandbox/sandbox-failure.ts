// Failures of sandboxes, each with its remedy.
import {type Err, type Failure, fail} from '../core/result.ts';

interface SandboxTrouble {
  /** One sentence, without its full stop. */
  readonly problem: string;
  /** The line that fixes it. */
  readonly remedy: string;
  /** The words of the program that refused. */
  readonly error?: string | undefined;
  readonly tried?: readonly string[];
}

const MAX_ERROR_CHARS = 500;

/** Ruling W8: nothing was run, and the line that changes that. */
export function sandboxFailure({problem, remedy, error, tried}: SandboxTrouble): Err<Failure> {
  return fail('sandbox_error', `${problem}. Nothing was run. To fix it: ${remedy}`, {
    error: error?.trim().slice(0, MAX_ERROR_CHARS) || problem,
    remedy,
    tried,
  });
}

const REMEDY = 'install and start Docker; tools.run.sandbox = "docker" or "auto" takes it.';

/** bubblewrap is Linux alone. Nothing was run. */
export function unsupportedPlatform(platform: string, tried?: readonly string[]): Err<Failure> {
  return fail(
    'unsupported_platform',
    `Without Docker there is no sandbox here: bubblewrap needs Linux on x86-64 or ARM64, this is ${platform}. Nothing was run. To fix it: ${REMEDY}`,
    {platform, remedy: REMEDY, tried},
  );
}

/** review R1: what a sandbox has mounted was not what was looked at, time and again. */
export function workspaceMoves(path: string): Err<Failure> {
  return sandboxFailure({
    problem: `${JSON.stringify(path)} in the workspace is moved or replaced while it is being mounted`,
    remedy: 'end what moves it (a command of another session, a build outside), and call again.',
  });
}
