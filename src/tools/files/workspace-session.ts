import {rememberSuccess} from '../../core/async/remember-success.ts';
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ChangeOptions, Recovery} from '../../workspace/edit/change-workspace.ts';
import type {FileSystem} from '../../workspace/file-system.ts';
import {openWorkspace, type Workspace} from '../../workspace/jail/jail.ts';
import {jailedFileSystem} from '../../workspace/jail/jailed-file-system.ts';
import {GNU_PATCH, PATCH_ARGUMENTS} from '../../workspace/patch/apply/gnu-patch.ts';
import {nodeProcessRunner} from '../../workspace/process/node-process-runner.ts';
import {PatchServer} from '../../workspace/process/patch-server.ts';
import type {ProcessRunner} from '../../workspace/process/process-runner.ts';
import {ReadTracker} from '../../workspace/read/read-tracker.ts';
import type {Ripgrep} from '../../workspace/ripgrep/run-ripgrep.ts';

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

/** What the workspace tools of one session share. */
export interface WorkspaceSession {
  readonly workspace: Workspace;
  readonly files: FileSystem;
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
    files: jailedFileSystem(workspace),
    tracker: new ReadTracker(),
    processes,
    patchServer,
    clock,
    journal,
    close: async () => {
      workspace.close();
      await patchServer?.close();
    },
    // Whoever holds the lock now may be gone at the next call.
    recover: rememberSuccess(async () => {
      // Engines are loaded when they are first needed: listing the tools waits for none of them.
      const {recoverWorkspace} = await import('../../workspace/edit/change-workspace.ts');
      return recoverWorkspace(workspace, journal);
    }),
    ripgrep: async () => {
      if (command === undefined) {
        const {findRipgrep} = await import('../../workspace/ripgrep/find-ripgrep.ts');
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
