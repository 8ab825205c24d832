import type {BigIntStats} from 'node:fs';
import {lchown, lstat, mkdir, open, rm, rmdir, stat} from 'node:fs/promises';
import {join, relative, sep} from 'node:path';
import type {Log} from '../core/log.ts';
import {ok, type Result} from '../core/result.ts';
import {sandboxFailure} from './sandbox-failure.ts';

/** A part of the workspace that is mounted onto itself, so that it can be neither replaced nor moved. */
export interface GuardedMount {
  /** Relative to the workspace. */
  readonly path: string;
  readonly writable: boolean;
  /** Differs when another process has replaced what was mounted. */
  readonly identity: string;
}

export interface GuardedParts {
  /** The workspace itself, as `GuardedMount.identity`. */
  readonly identity: string;
  /** What to mount over the writable workspace, outer parts first. */
  readonly mounts: readonly GuardedMount[];
  /** Names that may not be there after the run. */
  readonly absent: readonly string[];
}

export interface GuardedWorkspace {
  /** Absolute path, without symbolic links. */
  readonly workspace: string;
  /** Absolute paths of files that commands may not change; those outside the workspace are out of reach. */
  readonly protectedPaths: readonly string[];
  readonly log: Log;
}

/** What git executes or believes, below `.git`. */
const READ_ONLY = ['hooks', 'config', 'config.worktree', 'commondir', 'modules', 'worktrees'];

/** Would redirect git to hooks and settings of the command's making, and cannot be held free by a mount. */
const MAY_NOT_APPEAR = ['config.worktree', 'commondir'];

/**
 * Keeps `.git/hooks`, `.git/config` and the policy from commands that may write everything else. What
 * does not exist yet is guarded too: an empty place holder keeps its place until `close`.
 */
export class WorkspaceGuard {
  readonly #workspace: string;
  readonly #protectedPaths: readonly string[];
  readonly #log: Log;
  readonly #placeholders = new Map<string, 'directory' | 'file'>();

  constructor({workspace, protectedPaths, log}: GuardedWorkspace) {
    this.#workspace = workspace;
    this.#protectedPaths = protectedPaths;
    this.#log = log;
  }

  /** Looks at the workspace as it is before a run. */
  async look(): Promise<Result<GuardedParts>> {
    const repository = await this.#repository();
    if (!repository.ok) return repository;
    const mounts = new Map(repository.value.mounts.map(mount => [mount.path, mount]));
    for (const path of this.#protectedPaths) {
      const inside = relative(this.#workspace, path);
      if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) continue;
      const parts = inside.split(sep);
      for (let length = 1; length <= parts.length; length++) {
        const part = parts.slice(0, length).join(sep);
        const info = await this.#look(part);
        if (info === undefined || info.isSymbolicLink()) {
          return sandboxFailure({
            problem: `The protected path ${JSON.stringify(path)} is missing or leads through a symbolic link`,
            remedy: 'create it as a regular file, or move it out of the workspace.',
          });
        }
        const known = mounts.get(part);
        const isLast = length === parts.length;
        if (known === undefined || (isLast && known.writable)) mounts.set(part, mountOf(part, info, !isLast));
      }
    }
    const outerFirst = [...mounts.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const root = await stat(this.#workspace, {bigint: true});
    return ok({identity: identityOf(root), mounts: outerFirst, absent: repository.value.absent});
  }

  /** Removes what may not have appeared during a run. */
  async sweep({absent}: GuardedParts): Promise<void> {
    for (const path of absent) {
      if ((await this.#look(path)) === undefined) continue;
      await rm(join(this.#workspace, path), {recursive: true, force: true});
      this.#log({level: 'warn', event: 'sandbox_removed_path', path});
    }
  }

  /** Takes the place holders away that nobody has filled. */
  async close(): Promise<void> {
    for (const [path, kind] of [...this.#placeholders].reverse()) {
      const absolute = join(this.#workspace, path);
      const remove = kind === 'directory' ? rmdir(absolute) : removeEmpty(absolute);
      await remove.catch(() => {});
    }
    this.#placeholders.clear();
  }

  async #repository(): Promise<Result<Omit<GuardedParts, 'identity'>>> {
    const git = (await this.#look('.git')) ?? (await this.#hold('.git', 'directory'));
    if (git.isSymbolicLink()) {
      return sandboxFailure({
        problem: 'The .git of the workspace is a symbolic link, which a command could replace',
        remedy: 'put the directory in its place, or a file with the line "gitdir: PATH".',
      });
    }
    const locked = ok({mounts: [mountOf('.git', git, false)], absent: []});
    // A file points to a repository elsewhere; a directory without HEAD is none.
    if (!git.isDirectory() || (await this.#look('.git/HEAD')) === undefined) return locked;

    const mounts = [mountOf('.git', git, true)];
    const absent: string[] = [];
    const found = await Promise.all(READ_ONLY.map(name => this.#look(`.git/${name}`)));
    for (const [at, name] of READ_ONLY.entries()) {
      const path = `.git/${name}`;
      let info = found[at];
      if (info === undefined && name === 'hooks') info = await this.#hold(path, 'directory');
      if (info === undefined && name === 'config') info = await this.#hold(path, 'file');
      if (info === undefined) {
        if (MAY_NOT_APPEAR.includes(name)) absent.push(path);
        continue;
      }
      // Links cannot be mounted over, so the whole repository is for reading.
      if (info.isSymbolicLink()) return locked;
      mounts.push(mountOf(path, info, false));
    }
    return ok({mounts, absent});
  }

  async #look(path: string): Promise<BigIntStats | undefined> {
    return lstat(join(this.#workspace, path), {bigint: true}).catch(() => undefined);
  }

  async #hold(path: string, kind: 'directory' | 'file'): Promise<BigIntStats> {
    const absolute = join(this.#workspace, path);
    try {
      if (kind === 'directory') await mkdir(absolute, {mode: 0o755});
      else await (await open(absolute, 'wx', 0o644)).close();
      this.#placeholders.set(path, kind);
      const owner = await stat(this.#workspace);
      if (process.getuid?.() === 0) await lchown(absolute, owner.uid, owner.gid);
    } catch (error) {
      // Another run, or a person, was faster.
      const info = await this.#look(path);
      if (info === undefined) throw error;
      return info;
    }
    return lstat(absolute, {bigint: true});
  }
}

function mountOf(path: string, info: BigIntStats, writable: boolean): GuardedMount {
  return {path, writable, identity: identityOf(info)};
}

/** The number of a removed file is given out again, so its birth counts too; where that is unknown, a file's last change. */
function identityOf(info: BigIntStats): string {
  const {dev, ino, birthtimeNs, ctimeNs} = info;
  return `${dev}:${ino}:${birthtimeNs}${info.isFile() ? `:${ctimeNs}` : ''}`;
}

async function removeEmpty(path: string): Promise<void> {
  const info = await lstat(path);
  if (info.isFile() && info.size === 0) await rm(path);
}
