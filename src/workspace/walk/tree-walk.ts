// Walks a tree in bytewise order, and obeys .gitignore.
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, ok, type Result} from '../../core/result.ts';
import {nextTurn} from '../../system/errors.ts';
import type {Workspace} from '../jail/jail.ts';
import type {DirectoryEntry, OpenDirectory} from '../jail/read-entries.ts';
import {overdue} from '../open-file.ts';
import {isProtectedName, pathNames, type WorkspacePath} from '../workspace-path.ts';
import {extendScope, type IgnoreScope} from './gitignore.ts';
import type {Glob} from './glob.ts';

export interface WalkRules {
  /** Holds below the root of the walk. */
  readonly glob?: Pick<Glob, 'matchesDirectory' | 'matchesFile'> | undefined;
  /**
   * What becomes of the files that .gitignore files ignore: `left-out`; `counted`, which leaves them out and says
   * how many fit; `marked`, which says of the files below an ignored directory that they are. Default: nothing.
   */
  readonly ignored?: 'left-out' | 'counted' | 'marked' | undefined;
  readonly leaveOutHidden?: boolean | undefined;
  readonly deadline?: Deadline | undefined;
}

/** Files of one directory that follow each other in the order of the walk. */
export interface FileRun {
  /** Open until the next run is asked for. */
  readonly directory: OpenDirectory;
  /** What leads to it from the root of the walk: nothing, or names and a slash at the end. */
  readonly prefix: string;
  readonly names: readonly string[];
  /** With `marked`: what leads to the outermost ignored directory that they lie in. */
  readonly ignoredRoot: string | undefined;
}

/** A directory that is being gone through. */
interface Level {
  /** Undefined where it was let go, as there are too many below it. */
  directory: OpenDirectory | undefined;
  readonly path: WorkspacePath;
  readonly prefix: string;
  /** Names of files, and of directories with a slash behind them, which is how paths are compared. */
  readonly keys: readonly string[];
  next: number;
  /** Undefined where nothing is ignored, or everything. */
  readonly scope: IgnoreScope | undefined;
  readonly ignoredRoot: string | undefined;
  /** The names that lead to an entry, from the root of the walk and from that of the workspace; the last one is set. */
  readonly names: string[];
  readonly fullNames: string[];
}

type Entered = Result<Level>;

/** Directories held at once. A descriptor each, and there are trees of any depth. */
const MAX_HELD = 64;
const LONGEST_RUN = 1000;
/** Entries between two turns of the event loop. */
const ENTRIES_A_TURN = 2000;

/**
 * W3: the regular files below a directory; nothing in `.git`, no links, no devices. Goes through the tree in
 * the bytewise order of the paths, each directory by the handle of the one above it (W1).
 */
export class TreeWalk {
  /** Why it ended before its end. */
  failure: Err<Failure> | undefined;
  /** With `counted`: how many files fit and are ignored. */
  ignoredFiles = 0;
  /** Directories that may not be read. */
  unreadable = 0;
  readonly #workspace: Pick<Workspace, 'resolve' | 'openDirectory' | 'openFile'>;
  readonly #root: WorkspacePath;
  readonly #rules: WalkRules;
  #untilTurn = ENTRIES_A_TURN;

  constructor(
    workspace: Pick<Workspace, 'resolve' | 'openDirectory' | 'openFile'>,
    root: WorkspacePath,
    rules: WalkRules,
  ) {
    this.#workspace = workspace;
    this.#root = root;
    this.#rules = rules;
  }

  async *runs(): AsyncGenerator<FileRun> {
    const levels: Level[] = [];
    try {
      const first = await this.#enterRoot();
      if (!this.#push(levels, first)) return;
      for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
        if (this.#untilTurn <= 0) await this.#rest();
        this.failure = overdue(this.#rules.deadline);
        if (this.failure !== undefined) return;
        const names = this.#takeFiles(level);
        if (names.length > 0) {
          const directory = this.#hold(level);
          if (directory.ok)
            yield {directory: directory.value, prefix: level.prefix, names, ignoredRoot: level.ignoredRoot};
          else if (!this.#passesOver(directory)) return;
          continue;
        }
        const key = level.keys[level.next];
        level.next += 1;
        if (key === undefined) levels.pop()?.directory?.close();
        else if (!this.#push(levels, await this.#enterBelow(level, key.slice(0, -1)))) return;
      }
    } finally {
      for (const {directory} of levels) directory?.close();
    }
  }

  async #rest(): Promise<void> {
    await nextTurn();
    this.#untilTurn = ENTRIES_A_TURN;
  }

  /** False where the walk has to end. */
  #push(levels: Level[], entered: Entered | undefined): boolean {
    if (entered === undefined) return true;
    if (!entered.ok) return levels.length > 0 ? this.#passesOver(entered) : this.#fail(entered);
    levels.push(entered.value);
    const far = levels.at(-1 - MAX_HELD);
    far?.directory?.close();
    if (far !== undefined) far.directory = undefined;
    return true;
  }

  #passesOver(failure: Err<Failure>): boolean {
    if (!canSkip(failure.error)) return this.#fail(failure);
    if (isUnreadable(failure.error)) this.unreadable += 1;
    return true;
  }

  #fail(failure: Err<Failure>): false {
    this.failure = failure;
    return false;
  }

  #hold(level: Level): Result<OpenDirectory> {
    if (level.directory !== undefined) return ok(level.directory);
    const opened = this.#workspace.openDirectory(level.path);
    if (opened.ok) level.directory = opened.value;
    return opened;
  }

  /** The files up to the next directory, `LONGEST_RUN` at most. */
  #takeFiles(level: Level): readonly string[] {
    const {glob, ignored} = this.#rules;
    const {keys, names, fullNames, scope} = level;
    const isCounted = ignored === 'counted';
    const isBelowIgnored = isCounted && level.ignoredRoot !== undefined;
    const taken: string[] = [];
    const end = Math.min(keys.length, level.next + LONGEST_RUN);
    this.#untilTurn -= 1;
    // Without a file in a run of files that are left out, the next one is taken from.
    for (; level.next < end || (taken.length === 0 && level.next < keys.length); level.next += 1) {
      const key = keys[level.next] ?? '';
      if (key.endsWith('/')) break;
      this.#untilTurn -= 1;
      names[names.length - 1] = key;
      fullNames[fullNames.length - 1] = key;
      const isIgnored = isBelowIgnored || (ignored !== 'marked' && scope?.ignores(fullNames, false) === true);
      if (isIgnored && !isCounted) continue;
      if (glob !== undefined && !glob.matchesFile(names)) continue;
      if (isIgnored) this.ignoredFiles += 1;
      else taken.push(key);
    }
    return taken;
  }

  async #enterRoot(): Promise<Entered> {
    const above = pathNames(this.#root);
    const opened = this.#workspace.openDirectory(this.#root);
    if (!opened.ok) return opened;
    const scope = this.#rules.ignored ? await scopeAbove(this.#workspace, above) : undefined;
    const ignoredRoot = undefined;
    return this.#enter(opened.value, {prefix: '', names: [], fullNames: above, scope, ignoredRoot});
  }

  /** Undefined where nothing is looked for below it. */
  async #enterBelow(level: Level, name: string): Promise<Entered | undefined> {
    const {names, fullNames, scope, prefix} = level;
    names[names.length - 1] = name;
    fullNames[fullNames.length - 1] = name;
    const isIgnored = scope?.ignores(fullNames, true) === true;
    if (isIgnored && this.#rules.ignored === 'left-out') return undefined;
    if (this.#rules.glob?.matchesDirectory(names) === false) return undefined;
    const held = this.#hold(level);
    if (!held.ok) return held;
    const opened = held.value.openDirectory(name);
    if (!opened.ok) return opened;
    const below = `${prefix}${name}/`;
    const place = {prefix: below, names, fullNames};
    return this.#enter(
      opened.value,
      isIgnored
        ? {...place, scope: undefined, ignoredRoot: below}
        : {...place, scope, ignoredRoot: level.ignoredRoot},
    );
  }

  /** Closes the directory unless it becomes a level. */
  async #enter(
    directory: OpenDirectory,
    {
      prefix,
      names,
      fullNames,
      scope,
      ignoredRoot,
    }: {
      prefix: string;
      names: readonly string[];
      fullNames: readonly string[];
      scope: IgnoreScope | undefined;
      ignoredRoot: string | undefined;
    },
  ): Promise<Entered> {
    let entered: Level | undefined;
    try {
      const listed = await directory.entries();
      if (!listed.ok) return listed;
      this.#untilTurn -= listed.value.length;
      const reads = this.#rules.ignored !== undefined && ignoredRoot === undefined;
      const own = reads ? await ownScope(directory, listed.value, fullNames.length, scope) : undefined;
      entered = {
        directory,
        path: directory.path,
        prefix,
        keys: this.#keysOf(listed.value),
        next: 0,
        scope: own,
        ignoredRoot,
        names: [...names, ''],
        fullNames: [...fullNames, ''],
      };
      return ok(entered);
    } finally {
      if (entered === undefined) directory.close();
    }
  }

  #keysOf(entries: readonly DirectoryEntry[]): readonly string[] {
    const keys: string[] = [];
    for (const {name, kind} of entries) {
      if (kind !== 'file' && kind !== 'directory') continue;
      if (isProtectedName(name) || (this.#rules.leaveOutHidden && name.startsWith('.'))) continue;
      keys.push(kind === 'directory' ? `${name}/` : name);
    }
    return sortBytewise(keys);
  }
}

async function ownScope(
  directory: OpenDirectory,
  entries: readonly DirectoryEntry[],
  depth: number,
  above: IgnoreScope | undefined,
): Promise<IgnoreScope | undefined> {
  if (!entries.some(({name, kind}) => name === '.gitignore' && kind === 'file')) return above;
  return extendScope(above, depth, await directory.openFile('.gitignore'));
}

/** What the directories above the root of the walk say. Whether the root itself is ignored does not count. */
async function scopeAbove(
  workspace: Pick<Workspace, 'resolve' | 'openFile'>,
  names: readonly string[],
): Promise<IgnoreScope | undefined> {
  let scope: IgnoreScope | undefined;
  for (let depth = 0; depth < names.length; depth += 1) {
    const path = workspace.resolve([...names.slice(0, depth), '.gitignore'].join('/'));
    if (path.ok) scope = await extendScope(scope, depth, await workspace.openFile(path.value));
  }
  return scope;
}

const SKIPPED_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ESTALE']);

/**
 * W3: what vanished, was exchanged or may not be read while a tree is gone through is not there. Whatever
 * else fails, such as the disk, must not make half an answer look like a whole one.
 */
export function canSkip({code, details}: Failure): boolean {
  return code !== 'io_error' || SKIPPED_CODES.has(String(details['error']));
}

/** Of what is passed over: there is something, and it may not be read. */
export function isUnreadable({code, details}: Failure): boolean {
  return code === 'io_error' && details['error'] !== 'ESTALE';
}

/** W3: orders strings as their UTF-8 bytes do. UTF-16 units would put surrogate pairs before U+E000. */
export function bytewise(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Only from here on does the order of UTF-16 units differ from that of bytes. */
const HIGH_UNIT = /[\ud800-\uffff]/;

/** W3: sorts in place. The order built into the engine is several times faster, and nearly always right. */
export function sortBytewise<Text extends string>(texts: Text[]): Text[] {
  return texts.some(text => HIGH_UNIT.test(text)) ? texts.sort(bytewise) : texts.sort();
}
