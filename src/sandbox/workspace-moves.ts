import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';
import {sandboxFailure} from './sandbox-failure.ts';

/** review R1: what a sandbox has mounted was not what was looked at, time and again. */
export function workspaceMoves(path: string): Err<Failure> {
  return sandboxFailure({
    problem: `${JSON.stringify(path)} in the workspace is moved or replaced while it is being mounted`,
    remedy: 'end what moves it (a command of another session, a build outside), and call again.',
  });
}
