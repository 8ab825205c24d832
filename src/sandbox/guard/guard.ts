// Keeps `.git` and protected paths from commands, and checks what was really mounted.
import type {Clock} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import {ok, type Result} from '../../core/result.ts';
import {WORKSPACE_MOUNT} from '../../core/tool.ts';
import {ifRefused} from '../../system/errors.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';
import {type GitAccess, type HeldGit, holdGit, mendGit, NO_REPOSITORY} from './hold-git.ts';
import {
  type GuardedMount,
  type GuardedTree,
  guardedMount,
  holdProtected,
  removePlaceHolder,
} from './hold-protected.ts';
import {type RootIdentity, WorkspaceUsers} from './users.ts';

interface GuardedWorkspace {
  /** Absolute path, without symbolic links. */
  readonly workspace: string;
  /** What lay there when the session began; undefined if nothing did. */
  readonly root: RootIdentity | undefined;
  readonly git: GitAccess;
  /** Absolute paths that commands may not change, existing or not; those outside the workspace are out of reach. */
  readonly protectedPaths: readonly string[];
  /** Where the sessions of this user say that they are there. Made where it is missing. */
  readonly sessions: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** Keeps `.git` and the policy from commands that may write everything else in the workspace. */
export class WorkspaceGuard {
  readonly #plan: GuardedWorkspace;
  readonly #users: WorkspaceUsers | undefined;
  readonly #placeHolders = new Map<string, HeldGit['placeHolders'][number]>();

  #hasLooked = false;

  constructor(plan: GuardedWorkspace) {
    this.#plan = plan;
    this.#users = plan.root && new WorkspaceUsers(plan.root, plan.sessions);
  }

  /** Before the first look: no other session that is just ending takes away what this one is to rely on. */
  async enter(): Promise<void> {
    const release = await this.#users?.lock(this.#plan.clock);
    try {
      this.#users?.enter();
    } finally {
      release?.();
    }
  }

  /** Looks at the workspace as it is before a command, by handles below the directory the session began with. */
  look(): Result<GuardedTree> {
    const {workspace, git, protectedPaths} = this.#plan;
    const root = this.#holdRoot();
    if (root === undefined) {
      return sandboxFailure({
        problem: `${JSON.stringify(workspace)} is not the directory any more that this session began with`,
        remedy: 'put it back in its place, or begin a new session on what is there now.',
      });
    }
    try {
      this.#users?.enter();
      this.#hasLooked = true;
      const mended = git === 'commit' ? mendGit(root) : ok(undefined);
      if (!mended.ok) return mended;
      const held = holdGit(root, workspace, git);
      if (!held.ok) return held;
      for (const made of held.value.placeHolders) {
        this.#placeHolders.set(`${made.directory}/${made.holder.name}`, made);
      }
      const mounts = holdProtected(root, workspace, protectedPaths, held.value.mounts);
      if (!mounts.ok) return mounts;
      return ok([guardedMount('', root.info, true), ...mounts.value]);
    } finally {
      root.close();
    }
  }

  /** After a command, for the git of a person. What cannot be mended is refused by the next look. */
  mend(): void {
    if (this.#plan.git !== 'commit' || !this.#hasLooked) return;
    // The command has run: what the system refuses now is no failure of it.
    ifRefused(() => {
      const root = this.#holdRoot();
      if (root === undefined) return;
      try {
        mendGit(root);
      } finally {
        root.close();
      }
    });
  }

  /** Takes the place holders away, if no other session needs them. */
  async close(): Promise<void> {
    const release = await this.#users?.lock(this.#plan.clock);
    try {
      const isLast = this.#users?.leave() ?? false;
      // Without the lock another process may just be entering: what is held stays.
      if (isLast && release !== undefined) this.#removePlaceHolders();
    } finally {
      release?.();
    }
  }

  #removePlaceHolders(): void {
    const root = this.#holdRoot();
    if (root === undefined) return;
    try {
      for (const {directory, holder} of this.#placeHolders.values()) {
        if (holder === NO_REPOSITORY && isBareRepository(root)) this.#warnOfRepository();
        else this.#remove(root, directory, holder);
      }
      this.#placeHolders.clear();
    } finally {
      root.close();
    }
  }

  #remove(root: HeldDirectory, directory: string, holder: HeldGit['placeHolders'][number]['holder']): void {
    const place = holdDirectory(root.at(directory));
    if (place === undefined) return;
    removePlaceHolder(place, holder);
    place.close();
  }

  /** review R7: while the place holder stands, no git of a person runs what a command has laid out here. */
  #warnOfRepository(): void {
    const message = `A command has made HEAD, objects and refs in ${JSON.stringify(this.#plan.workspace)}: git would take them for a repository and run what they say. The file .git keeps it from that. Remove them, then the file.`;
    this.#plan.log({level: 'warn', event: 'sandbox_repository_in_root', message});
  }

  /** review R4: the name may lead elsewhere by now. */
  #holdRoot(): HeldDirectory | undefined {
    const {workspace, root} = this.#plan;
    const held = holdDirectory(workspace);
    if (held !== undefined && held.info.dev === root?.dev && held.info.ino === root.ino) return held;
    held?.close();
    return undefined;
  }
}

function isBareRepository(root: HeldDirectory): boolean {
  return ['HEAD', 'objects', 'refs'].every(name => root.look(name) !== undefined);
}

/** The last line of a report. */
export const REPORTED = 'ready';

/**
 * review R1, R4: a shell function of a sandbox, for before a command is in it. It says what lies at each of its arguments, and then
 * what is mounted: a mount that is there afterwards was there before, as none comes back. Its programs are those
 * of the system, as `PATH` may name a directory of the workspace.
 */
export const REPORT_MOUNTS = `
report_mounts() (
  PATH=/usr/sbin:/usr/bin:/sbin:/bin
  read -r boot </proc/sys/kernel/random/boot_id
  echo "kernel $boot"
  if command -v stat >/dev/null; then stat -c 'at %d:%i' "$@"; else echo 'no stat'; fi
  cat /proc/self/mountinfo
  echo ${REPORTED}
)
`;

/** The arguments: where the guarded parts are inside. */
export function mountPoints(tree: GuardedTree): readonly string[] {
  return tree.map(mountPoint);
}

function mountPoint({path}: GuardedMount): string {
  return path === '' ? WORKSPACE_MOUNT : `${WORKSPACE_MOUNT}/${path}`;
}

export type MountCheck =
  | {readonly kind: 'as_planned'}
  | {readonly kind: 'differs'; readonly path: string}
  /** The image has no `stat`. */
  | {readonly kind: 'no_stat'}
  /** A daemon in a virtual machine: its devices and inodes are not ours. */
  | {readonly kind: 'other_kernel'};

/** Whether the mounts of a sandbox are the entries that were looked at, and for reading where they should be. */
export function checkMounts(tree: GuardedTree, lines: readonly string[], bootId: string): MountCheck {
  const after = (prefix: string): readonly string[] =>
    lines.filter(line => line.startsWith(prefix)).map(line => line.slice(prefix.length));
  const [kernel] = after('kernel ');
  if (kernel !== undefined && kernel !== bootId) return {kind: 'other_kernel'};
  if (lines.includes('no stat')) return {kind: 'no_stat'};
  const places = after('at ');
  const options = new Map(lines.map(mountOptions));
  const wrong = tree.findIndex((mount, at) => {
    const found = options.get(mountPoint(mount));
    return places[at] !== mount.place || found === undefined || (!mount.writable && !found.includes('ro'));
  });
  if (wrong < 0 && places.length === tree.length) return {kind: 'as_planned'};
  return {kind: 'differs', path: tree[wrong]?.path || '.'};
}

/** proc_pid_mountinfo(5): the fifth field is the mount point, with blanks as octal numbers; the sixth its options. */
function mountOptions(line: string): readonly [string, readonly string[]] {
  const [, , , , point = '', options = ''] = line.split(' ');
  return [
    point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    options.split(','),
  ];
}
