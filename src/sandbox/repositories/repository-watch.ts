import {type BigIntStats, readdirSync} from 'node:fs';
import type {Clock} from '../../core/clock.ts';
import {errorCode} from '../../system/error-code.ts';
import {type HeldDirectory, holdDirectory} from '../guard/held-directory.ts';

export interface AppearedRepositories {
  /** Relative to the workspace, in order, at most `MAX_PATHS`. */
  readonly paths: readonly string[];
  /** False where the tree was too large to be looked at as a whole. */
  readonly complete: boolean;
}

export interface Snapshot {
  /** When the directory that holds it was last changed. */
  readonly repositories: ReadonlyMap<string, number>;
  readonly complete: boolean;
  readonly takenAt: number;
}

const MAX_PATHS = 20;
const MAX_DIRECTORIES = 20_000;
/** Each one is a descriptor as long as one below it is looked at. */
const MAX_DEPTH = 100;
const MAX_MS = 250;
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
    if (root === undefined) return {repositories: new Map(), complete: false, takenAt};
    const walk: Walk = {
      takenAt,
      repositories: new Map(),
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
      if (depth === MAX_DEPTH && directories.length > 0) {
        walk.complete = false;
        return;
      }
      for (const name of directories) {
        if (!(await this.#mayGoOn(walk))) return;
        const child = enter(directory, name);
        if (child !== undefined)
          await this.#walk(child, path === '' ? name : `${path}/${name}`, depth + 1, walk);
      }
    } finally {
      directory.close();
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
export function appeared(before: Snapshot, after: Snapshot): AppearedRepositories {
  // Where not all of the tree was looked at then, what is seen for the first time may be old.
  const isNew = (at: number): boolean => before.complete || at > before.takenAt - SETTLED_MS;
  const paths = [...after.repositories]
    .filter(([path, at]) => !before.repositories.has(path) && isNew(at))
    .map(([path]) => path)
    .sort();
  return {
    paths: paths.slice(0, MAX_PATHS),
    complete: before.complete && after.complete && paths.length <= MAX_PATHS,
  };
}

interface Walk {
  readonly takenAt: number;
  readonly repositories: Map<string, number>;
  readonly listings: Map<string, Listing>;
  readonly giveUpAt: number;
  yieldAt: number;
  complete: boolean;
  seen: number;
}

/** Not what its owner has closed to us: a git of ours cannot enter it either. */
function enter(directory: HeldDirectory, name: string): HeldDirectory | undefined {
  try {
    return holdDirectory(directory.at(name));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

function changedAt({ctimeNs}: BigIntStats): number {
  return Number(ctimeNs / 1_000_000n);
}

function keyOf({dev, ino, ctimeNs}: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}`;
}

function readListing({address}: HeldDirectory): Listing {
  try {
    const entries = readdirSync(address, {withFileTypes: true});
    const names = new Set(entries.map(({name}) => name));
    return {
      hasGit: names.has('.git'),
      isBare: ['HEAD', 'objects', 'refs'].every(name => names.has(name)),
      directories: entries
        .filter(entry => entry.isDirectory() && entry.name !== '.git')
        .map(({name}) => name),
    };
  } catch (error) {
    // A directory that only a command of another user may read.
    if (errorCode(error) === undefined) throw error;
    return {hasGit: false, isBare: false, directories: []};
  }
}
