// Finds repositories and git settings that a command made or changed.
import {type BigIntStats, type Dirent, readdirSync} from 'node:fs';
import type {Clock} from '../../core/clock.ts';
import {ifRefused} from '../../system/errors.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';
import {CLOSED} from './hold-git.ts';

/** What a command has left in the tree. */
export interface FoundPaths {
  /** Relative to the workspace, in order; the first ones where there are many. */
  readonly paths: readonly string[];
  /** False where the tree was too large to be looked at as a whole. */
  readonly complete: boolean;
}

export interface Snapshot {
  /** When the directory that holds it was last changed. */
  readonly repositories: ReadonlyMap<string, number>;
  /** W11: what git executes or is configured by in repositories below the root. */
  readonly settings: ReadonlyMap<string, FileStamp>;
  readonly complete: boolean;
  readonly takenAt: number;
}

/** The kernel sets `ctimeNs`, and a command cannot choose it. */
interface FileStamp {
  readonly ino: bigint;
  readonly ctimeNs: bigint;
}

const MAX_PATHS = 20;
const MAX_FILES = 200;
const MAX_DIRECTORIES = 20_000;
/** Each one is a descriptor as long as one below it is looked at. */
const MAX_DEPTH = 100;
const MAX_MS = 250;
/** In `modules` and `worktrees`: what a git directory has beside others like it. */
const NOT_GITS: ReadonlySet<string> = new Set([
  'hooks',
  'info',
  'logs',
  'lfs',
  'modules',
  'objects',
  'refs',
  'worktrees',
]);
/** Of blocking at a time; others are answered in between. */
const SLICE_MS = 10;
/** A directory that was changed as shortly before it was read may change again with the same time stamp. */
const SETTLED_MS = 100;

interface Listing {
  readonly directories: readonly string[];
  readonly hasGit: boolean;
  /** HEAD, objects and refs: git takes such a directory for a repository. */
  readonly isBare: boolean;
}

/**
 * review R7: a repository that a command leaves in the tree is one that a git of a person runs programs of. They
 * are looked for by handles, no link followed. What was listed is kept, so that a second look costs three system
 * calls for each directory that has not changed.
 */
export class RepositoryWatch {
  readonly #workspace: string;
  readonly #clock: Clock;
  #listings = new Map<string, Listing>();

  constructor(workspace: string, clock: Clock) {
    this.#workspace = workspace;
    this.#clock = clock;
  }

  async look(): Promise<Snapshot> {
    const root = holdDirectory(this.#workspace);
    const takenAt = this.#clock.now();
    if (root === undefined) return {repositories: new Map(), settings: new Map(), complete: false, takenAt};
    const walk: Walk = {
      takenAt,
      repositories: new Map(),
      settings: new Map(),
      listings: new Map(),
      giveUpAt: this.#clock.monotonic() + MAX_MS,
      yieldAt: this.#clock.monotonic() + SLICE_MS,
      complete: true,
      seen: 0,
    };
    await this.#walk(root, '', 0, walk);
    this.#listings = walk.listings;
    return walk;
  }

  async #walk(directory: HeldDirectory, path: string, depth: number, walk: Walk): Promise<void> {
    try {
      const {directories, hasGit, isBare} = this.#list(directory, walk);
      // In the root .git keeps git from a bare one; it is said all the same. A file there is our place holder, and a
      // directory that a command makes in its place says that the mount over it was gone.
      const isRepository = hasGit && (path !== '' || directory.look('.git')?.isDirectory() === true);
      if (isBare || isRepository) walk.repositories.set(path || '.', changedAt(directory.info));
      if (isBare) await this.#lookAtSettings(directory, path, depth, walk);
      if (hasGit && path !== '') await this.#lookAtGit(directory, path, depth, walk);
      if (depth === MAX_DEPTH && directories.length > 0) {
        walk.complete = false;
        return;
      }
      for (const name of directories) {
        if (!(await this.#mayGoOn(walk))) return;
        const child = enter(directory, name);
        if (child !== undefined) await this.#walk(child, below(path, name), depth + 1, walk);
      }
    } finally {
      directory.close();
    }
  }

  async #lookAtGit(directory: HeldDirectory, path: string, depth: number, walk: Walk): Promise<void> {
    const git = directory.look('.git');
    if (git?.isDirectory() !== true) {
      if (git !== undefined) walk.settings.set(`${path}/.git`, git);
      return;
    }
    await this.#within(directory, '.git', depth, walk, held =>
      this.#lookAtSettings(held, `${path}/.git`, depth + 1, walk),
    );
  }

  /** W11: what is closed in the repository of the root is named in all others. */
  async #lookAtSettings(git: HeldDirectory, path: string, depth: number, walk: Walk): Promise<void> {
    for (const {name} of CLOSED) {
      const info = git.look(name);
      const place = below(path, name);
      if (info === undefined) continue;
      if (!info.isDirectory()) walk.settings.set(place, info);
      else {
        const holdsGits = name === 'modules' || name === 'worktrees';
        await this.#within(git, name, depth, walk, held =>
          this.#lookBelow(held, place, depth + 1, walk, holdsGits),
        );
      }
    }
  }

  /** All files, or where it holds directories like `.git`, what git executes or is configured by in these. */
  async #lookBelow(
    directory: HeldDirectory,
    path: string,
    depth: number,
    walk: Walk,
    holdsGits: boolean,
  ): Promise<void> {
    if (holdsGits) await this.#lookAtSettings(directory, path, depth, walk);
    for (const entry of entriesOf(directory)) {
      const {name} = entry;
      const place = below(path, name);
      if (entry.isDirectory()) {
        if (holdsGits && NOT_GITS.has(name)) continue;
        await this.#within(directory, name, depth, walk, held =>
          this.#lookBelow(held, place, depth + 1, walk, holdsGits),
        );
      } else if (!holdsGits && !name.endsWith('.sample')) {
        const info = directory.look(name);
        if (info !== undefined) walk.settings.set(place, info);
      }
    }
  }

  async #within(
    directory: HeldDirectory,
    name: string,
    depth: number,
    walk: Walk,
    look: (held: HeldDirectory) => Promise<void>,
  ): Promise<void> {
    walk.seen++;
    if (depth >= MAX_DEPTH) walk.complete = false;
    if (!(await this.#mayGoOn(walk))) return;
    const held = enter(directory, name);
    try {
      if (held !== undefined) await look(held);
    } finally {
      held?.close();
    }
  }

  #list(directory: HeldDirectory, walk: Walk): Listing {
    const key = keyOf(directory.info);
    const listing = this.#listings.get(key) ?? readListing(directory);
    if (this.#clock.now() - changedAt(directory.info) > SETTLED_MS) walk.listings.set(key, listing);
    walk.seen++;
    return listing;
  }

  async #mayGoOn(walk: Walk): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (walk.seen >= MAX_DIRECTORIES || now >= walk.giveUpAt) walk.complete = false;
    if (walk.complete && now >= walk.yieldAt) {
      await new Promise<void>(resolve => setImmediate(resolve));
      walk.yieldAt = this.#clock.monotonic() + SLICE_MS;
    }
    return walk.complete;
  }
}

/** What is there now and was not there then. */
export function appeared(before: Snapshot, after: Snapshot): FoundPaths {
  const paths = [...after.repositories]
    .filter(([path, at]) => !before.repositories.has(path) && isNew(at, before))
    .map(([path]) => path);
  return foundPaths(paths, MAX_PATHS, before, after);
}

/** W11: what git executes or is configured by that is not as it was then, or is gone. */
export function changedSettings(before: Snapshot, after: Snapshot): FoundPaths {
  const changed = [...after.settings]
    .filter(([path, now]) => {
      const then = before.settings.get(path);
      if (then === undefined) return isNew(changedAt(now), before);
      return then.ino !== now.ino || then.ctimeNs !== now.ctimeNs;
    })
    .map(([path]) => path);
  const gone = after.complete ? [...before.settings.keys()].filter(path => !after.settings.has(path)) : [];
  return foundPaths([...changed, ...gone], MAX_FILES, before, after);
}

/** Where not all of the tree was looked at then, what is seen for the first time may be old. */
function isNew(at: number, before: Snapshot): boolean {
  return before.complete || at > before.takenAt - SETTLED_MS;
}

function foundPaths(paths: readonly string[], most: number, before: Snapshot, after: Snapshot): FoundPaths {
  return {
    paths: [...paths].sort().slice(0, most),
    complete: before.complete && after.complete && paths.length <= most,
  };
}

interface Walk {
  readonly takenAt: number;
  readonly repositories: Map<string, number>;
  readonly settings: Map<string, FileStamp>;
  readonly listings: Map<string, Listing>;
  readonly giveUpAt: number;
  yieldAt: number;
  complete: boolean;
  seen: number;
}

/** Not what its owner has closed to us: a git of ours cannot enter it either. */
function enter(directory: HeldDirectory, name: string): HeldDirectory | undefined {
  return ifRefused(() => holdDirectory(directory.at(name)));
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

function changedAt({ctimeNs}: FileStamp): number {
  return Number(ctimeNs / 1_000_000n);
}

function keyOf({dev, ino, ctimeNs}: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}`;
}

function readListing(directory: HeldDirectory): Listing {
  const entries = entriesOf(directory);
  const names = new Set(entries.map(({name}) => name));
  return {
    hasGit: names.has('.git'),
    isBare: ['HEAD', 'objects', 'refs'].every(name => names.has(name)),
    directories: entries.filter(entry => entry.isDirectory() && entry.name !== '.git').map(({name}) => name),
  };
}

/** None of a directory that only a command of another user may read. */
function entriesOf({address}: HeldDirectory): readonly Dirent[] {
  return ifRefused(() => readdirSync(address, {withFileTypes: true}), []);
}
