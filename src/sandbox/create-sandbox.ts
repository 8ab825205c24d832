// Chooses a sandbox by the settings, and watches what commands leave in the workspace.
import {type Err, type Failure, ok, type Result} from '../core/result.ts';
import {errorCode, ifRefusedLater} from '../system/errors.ts';
import {BubblewrapSandbox} from './bubblewrap/driver.ts';
import {DockerSandbox} from './docker/driver.ts';
import {WorkspaceGuard} from './guard/guard.ts';
import {appeared, changedSettings, RepositoryWatch, type Snapshot} from './guard/repository-watch.ts';
import {rootIdentity} from './guard/users.ts';
import type {RunOptions} from './options.ts';
import type {
  RunOutcome,
  Sandbox,
  SandboxCommand,
  SandboxDriver,
  SandboxHost,
  SandboxKind,
  SandboxReport,
} from './sandbox.ts';
import {sandboxFailure, unsupportedPlatform} from './sandbox-failure.ts';
import {UnconfinedSandbox} from './unconfined.ts';

interface Choice {
  readonly sandbox: SandboxDriver;
  readonly report: SandboxReport;
}

/**
 * Ruling W8: the sandbox that the settings ask for. It is chosen and probed once, with the first
 * command or by `probe`; a refusal is tried again with the next one.
 */
export function createSandbox(options: RunOptions, host: SandboxHost): Sandbox {
  const {workspace, root = rootIdentity(workspace), protectedPaths, sessions, log} = host;
  const guard = new WorkspaceGuard({
    workspace,
    root,
    git: options.git,
    protectedPaths,
    sessions,
    log,
    clock: host.clock,
  });
  const candidates: Readonly<Record<SandboxKind, () => SandboxDriver>> = {
    docker: () => new DockerSandbox(options, host, guard),
    bubblewrap: () => new BubblewrapSandbox(options, host, guard),
    none: () => new UnconfinedSandbox(options, host, guard),
  };
  const watch = new RepositoryWatch(workspace, host.clock);
  let lastLook: Snapshot | undefined;
  let choosing: Promise<Result<Choice>> | undefined;

  const choose = async (): Promise<Result<Choice>> => {
    // Never "none": that is asked for by its name.
    const kinds: readonly SandboxKind[] =
      options.sandbox === 'auto' ? ['docker', 'bubblewrap'] : [options.sandbox];
    const refusals: {readonly kind: SandboxKind; readonly error: Failure}[] = [];
    if (options.sandbox !== 'none') await guard.enter();
    for (const kind of kinds) {
      const sandbox = candidates[kind]();
      const report = await sandbox.probe();
      if (report.ok) {
        log({level: 'info', event: 'sandbox_chosen', sandbox: kind, message: report.value.description});
        return ok({sandbox, report: report.value});
      }
      await sandbox.close();
      refusals.push({kind, error: report.error});
    }
    return refusalOf(refusals);
  };

  const chosen = (): Promise<Result<Choice>> => {
    choosing ??= orRefused(choose).then(choice => {
      // What is missing may be there the next time.
      if (!choice.ok) choosing = undefined;
      return choice;
    });
    return choosing;
  };

  /** What a person makes between two commands is named with the second one: who made it cannot be seen. */
  const runWatched = async (sandbox: SandboxDriver, command: SandboxCommand): Promise<Result<RunOutcome>> => {
    const before = lastLook ?? (await watch.look());
    const ran = await sandbox.run(command).finally(() => guard.mend());
    if (!ran.ok) return ran;
    // The command has run: that the tree cannot be looked at now is no failure of it.
    lastLook = await ifRefusedLater(() => watch.look(), {...before, complete: false});
    return ok({
      ...ran.value,
      repositories: appeared(before, lastLook),
      gitSettings: changedSettings(before, lastLook),
    });
  };

  return {
    probe: async () => {
      const choice = await chosen();
      return choice.ok ? ok(choice.value.report) : choice;
    },
    run: async command => {
      const choice = await chosen();
      return choice.ok ? orRefused(() => runWatched(choice.value.sandbox, command)) : choice;
    },
    close: async () => {
      const choice = await choosing;
      if (choice?.ok) await choice.value.sandbox.close();
      await guard.close();
    },
  };
}

const FORBIDDEN: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
/** Places that a command must not make, such as `.git`, are made before it starts. */
const INACCESSIBLE = {
  problem: 'The command could not be started, as this user has no full access to the workspace',
  remedy: 'give this user read and write access to it.',
};
const EXHAUSTED = {
  problem: 'The command could not be started',
  remedy: 'retry; if it stays, see whether the machine is out of memory, processes or descriptors.',
};

/** What the system refuses, such as one more descriptor, is no bug, and no command began. */
async function orRefused<Value>(work: () => Promise<Result<Value>>): Promise<Result<Value>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return sandboxFailure({
      ...(FORBIDDEN.has(errorCode(error) ?? '') ? INACCESSIBLE : EXHAUSTED),
      error: error.message,
    });
  }
}

function refusalOf(refusals: readonly {readonly kind: SandboxKind; readonly error: Failure}[]): Err<Failure> {
  const [only, ...others] = refusals;
  if (only !== undefined && others.length === 0) return {ok: false, error: only.error};
  const tried = refusals.map(({kind, error}) => `${kind}: ${error.message}`);
  const unsupported = refusals.find(({error}) => error.code === 'unsupported_platform');
  if (unsupported !== undefined) {
    return unsupportedPlatform(String(unsupported.error.details['platform']), tried);
  }
  return sandboxFailure({
    problem: 'Neither Docker nor bubblewrap can be used here',
    // That of what takes the least to be there.
    remedy: String(refusals.at(-1)?.error.details['remedy']),
    tried,
  });
}
