import type {Environment} from '../../config/environment.ts';
import {startedIn} from '../../create-toolbox/started-in.ts';
import {UsageError} from '../flags/usage-error.ts';

/** An entry that nobody gave a directory must not open the home of the user, and all that is above it, to a model. */
export function requireProject(environment: Environment): void {
  if (startedIn(environment).length > 0) return;
  throw new UsageError(
    'This is your home directory, or one above it. Name the directory that the tools see with --workspace DIR.',
  );
}
