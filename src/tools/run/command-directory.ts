import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../../workspace/jail/jail.ts';
import type {WorkspacePath} from '../../workspace/workspace-path.ts';

/** Where commands can be run. */
export type CommandPlaces = Pick<Workspace, 'resolve' | 'openDirectory'>;

/**
 * W1: the directory that a call names, if it is one below the workspace that no link leads to; `undefined` for the
 * root. A sandbox enters it by name, where a name that somebody swaps leads nowhere but into the sandbox.
 */
export function commandDirectory(
  cwd: string | undefined,
  workspace: CommandPlaces | undefined,
): Result<WorkspacePath | undefined> {
  if (cwd === undefined) return ok(undefined);
  if (workspace === undefined) {
    const reason = 'there is no workspace to look it up in';
    return fail('invalid_params', `"cwd" cannot be used: ${reason}. Leave it out.`, {field: 'cwd', reason});
  }
  const resolved = workspace.resolve(cwd);
  if (!resolved.ok) return resolved;
  const opened = workspace.openDirectory(resolved.value);
  if (!opened.ok) return opened;
  opened.value.close();
  return ok(resolved.value === '.' ? undefined : resolved.value);
}
