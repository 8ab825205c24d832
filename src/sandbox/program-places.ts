import type {ProgramPlaces} from '../system/find-program.ts';
import type {SandboxHost} from './sandbox.ts';

/** review R3: helpers are taken from the system first, and never from where commands write. */
export function programPlaces({env, workspace, programDirectories}: SandboxHost): ProgramPlaces {
  return {path: env['PATH'], untrustedTrees: [workspace], standard: programDirectories};
}
