// Opens what the tools of one session share: workspace, read tracker, journal, ripgrep and GNU patch.
import {rememberSuccess} from '../../core/async.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ChangeOptions, Recovery} from '../../workspace/change/change-workspace.ts';
import {openWorkspace, type Workspace} from '../../workspace/jail/jail.ts';
import {GNU_PATCH, PATCH_ARGUMENTS, PatchServer} from '../../workspace/patch/patch-server.ts';
import {nodeProcessRunner, type ProcessRunner} from '../../workspace/process-runner.ts';
import {ReadTracker} from '../../workspace/read-tracker.ts';
import type {Ripgrep} from '../../workspace/search/ripgrep.ts';

export interface WorkspaceSessionOptions {
  /** The directory that the tools work in. */
  readonly root: string;
  /** For locks, journals and copies: outside the workspace, the same for all processes that change it. */
  readonly stateDirectory: string;
  /** The directories of the operator's `PATH`, for `rg`. */
  readonly programDirectories: readonly string[];
  /** Absolute paths of what no tool writes to, such as the configuration. */
  readonly protectedPaths?: readonly string[] | undefined;
  readonly clock: Clock;
  /** Default: real processes. */
  readonly processes?: ProcessRunner | undefined;
}

export interface WorkspaceSession {
  readonly workspace: Workspace;
  readonly tracker: ReadTracker;
  readonly processes: ProcessRunner;
  /** Asks GNU patch at little cost; undefined where the caller has processes of its own. */
  readonly patchServer: PatchServer | undefined;
  readonly clock: Clock;
  readonly journal: ChangeOptions;
  /** Looked for when it is first needed; `ripgrep_unavailable` is no answer for ever. */
  readonly ripgrep: () => Promise<Result<Ripgrep>>;
  /** Brings back the old state of what a crash interrupted, once; to be called before anything else. */
  readonly recover: () => Promise<Result<Recovery>>;
  /** Lets go of the root and ends what is kept. To be called when no call is under way any more. */
  readonly close: () => Promise<void>;
}

/** Opens a workspace, to be closed. Looks at its root and at nothing else. */
export function openWorkspaceSession(options: WorkspaceSessionOptions): Result<WorkspaceSession> {
  const {root, stateDirectory, programDirectories, protectedPaths = [], clock} = options;
  const {processes = nodeProcessRunner(clock)} = options;
  const opened = openWorkspace(root, {protectedPaths});
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const journal: ChangeOptions = {directory: stateDirectory, clock};
  const patchServer =
    options.processes === undefined ? new PatchServer(GNU_PATCH, ...PATCH_ARGUMENTS) : undefined;
  let command: string | undefined;
  return ok({
    workspace,
    tracker: new ReadTracker(),
    processes,
    patchServer,
    clock,
    journal,
    close: async () => {
      workspace.close();
      await patchServer?.close();
    },
    // The holder of the lock may be gone at the next call.
    recover: rememberSuccess(async () => {
      // Engines are loaded when they are first needed: listing the tools waits for none of them.
      const {recoverWorkspace} = await import('../../workspace/change/change-workspace.ts');
      return recoverWorkspace(workspace, journal);
    }),
    ripgrep: async () => {
      if (command === undefined) {
        const {findRipgrep} = await import('../../workspace/search/ripgrep.ts');
        const found = await findRipgrep({
          directories: programDirectories,
          workspaceRoot: workspace.root,
          protectedPaths,
        });
        if (!found.ok) return found;
        command = found.value;
      }
      return ok({command, processes});
    },
  });
}
