// Applies the sections of a patch over a picture of the files. Nothing is written.

import {yieldAfter} from '../../core/async.ts';
import type {Deadline} from '../../core/deadline.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {nextTurn} from '../../system/errors.ts';
import {type FileChange, type FileState, fileState, withExecutable} from '../change/file-change.ts';
import {hashInTurns, inTurns, overdue, type Turns} from '../open-file.ts';
import {quotePath, type WritablePath} from '../workspace-path.ts';
import {
  applyHunks,
  type FileHistory,
  type FileVersion,
  type HunkProblem,
  type LineNumbers,
} from './apply-hunks.ts';
import {countLines} from './changed-window.ts';
import {
  type ByteString,
  bytesOf,
  hunkProblem,
  type PatchProblem,
  type PatchSection,
  patchFailure,
  pathProblem,
} from './patch.ts';
import {joined} from './place-hunks.ts';
import {TextLines} from './text-lines.ts';

/** The files a patch is applied over. Nothing is written. */
export interface PatchTree {
  readonly resolve: (path: string) => Result<WritablePath>;
  /** Undefined for nothing there; a failure for what is no file that may be written. */
  readonly read: (path: WritablePath) => Promise<Result<FileState | undefined>>;
  readonly lineNumbers?: (path: WritablePath, state: FileState) => LineNumbers;
  /** A file that stands where a new path needs a directory. */
  readonly blockingFile: (path: WritablePath) => WritablePath | undefined;
}

/** A hunk that was found elsewhere than its header says. */
export interface AppliedOffset {
  readonly path: WritablePath;
  /** 1-based, in its section. */
  readonly hunk: number;
  /** 1-based line where it was applied. */
  readonly line: number;
  readonly offset: number;
}

/** What the caller is told of a hunk that was not found by its exact text. */
export interface PatchNote {
  readonly path: WritablePath;
  readonly hunk: number;
  readonly text: string;
}

export interface OverlayResult {
  /** In the order in which the patch first names them. Only what differs in the end. */
  readonly changes: readonly FileChange[];
  readonly offsets: readonly AppliedOffset[];
  readonly notes: readonly PatchNote[];
  readonly histories: readonly FileHistory[];
}

interface OpenFileHistory {
  readonly initial: ByteString | undefined;
  final: ByteString | undefined;
  readonly versions: FileVersion[];
}

/** What a section makes of a file; it is hashed when all sections are done. */
type Draft = Pick<FileState, 'content' | 'mode'>;

interface Entry extends OverlayEntry {
  current: Draft | undefined;
  origin: WritablePath | undefined;
  history: OpenFileHistory | undefined;
  /** A section for it failed; what later ones would say about it means nothing. */
  failed: boolean;
}

/** Bytes of files gone through for all sections, a line counting as 8 more; one big file a thousand times is refused. */
const MAX_WORK = 256 * 1024 * 1024;
/** Bytes of all files together, as they are held in memory until the commit. */
const MAX_LOADED = 256 * 1024 * 1024;

/** Sections that are applied before everything else has its turn. */
const TURN_AFTER = 64;

/**
 * Applies the sections in order over a picture of the files, so that a section sees what earlier ones
 * did. All problems are reported together (`path_escape`, `file_not_found`, `patch_hunk_fail`).
 */
export async function overlayPatch(
  tree: PatchTree,
  sections: readonly PatchSection[],
  deadline?: Deadline,
): Promise<Result<OverlayResult>> {
  const overlay = new Overlay(tree);
  for (const [order, section] of sections.entries()) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    // One section is bounded work; many are not.
    if (order % TURN_AFTER === TURN_AFTER - 1) await nextTurn();
    const applied = await overlay.apply(section, order, deadline);
    if (!applied.ok) return applied;
  }
  const [first, ...others] = overlay.problems;
  if (first !== undefined) return patchFailure([first, ...others]);
  const changes: FileChange[] = [];
  for (const {draft, ...change} of netChanges(overlay.entries)) {
    const settled = draft === undefined ? ok(undefined) : await settle(draft, deadline);
    if (!settled.ok) return settled;
    changes.push({...change, new: settled.value});
  }
  const {offsets, notes, histories} = overlay;
  return ok({changes, offsets, notes, histories});
}

async function settle({content, mode}: Draft, deadline: Deadline | undefined): Promise<Result<FileState>> {
  const bytes = bytesOf(content);
  await yieldAfter(bytes.length);
  const hash = await inTurns(hashInTurns(bytes), deadline);
  return hash.ok ? ok(fileState(bytes, hash.value, {mode}, content)) : hash;
}

class Overlay {
  readonly entries = new Map<WritablePath, Entry>();
  readonly problems: PatchProblem[] = [];
  readonly offsets: AppliedOffset[] = [];
  readonly notes: PatchNote[] = [];
  readonly histories: OpenFileHistory[] = [];
  readonly #tree: PatchTree;
  /** Directories that new files of this patch need. */
  readonly #directories = new Set<string>();
  #work = 0;
  #loaded = 0;

  constructor(tree: PatchTree) {
    this.#tree = tree;
  }

  /** What is wrong with the section is among the problems; the failure is that of the deadline. */
  async apply(
    section: PatchSection,
    order: number,
    deadline: Deadline | undefined,
  ): Promise<Result<undefined>> {
    const target = await this.#enter(section.path, section.line);
    const source = section.kind === 'rename' ? await this.#enter(section.from, section.line) : target;
    if (target === undefined || source === undefined || target.failed || source.failed) return ok();
    const done = await inTurns(
      section.kind === 'create'
        ? this.#create(section, target, order)
        : this.#change(section, source, target, order),
      deadline,
    );
    if (!done.ok) return done;
    target.failed = !done.value;
    source.failed = !done.value;
    return ok();
  }

  *#create(section: PatchSection & {kind: 'create'}, entry: Entry, order: number): Turns<boolean> {
    if (entry.current !== undefined) {
      return this.#refuse(
        section,
        `${quotePath(entry.path)} exists already, so the patch cannot create it. Send a change of it instead.`,
      );
    }
    if (!this.#placeable(section, entry)) return false;
    const added = section.hunks.flatMap(hunk => hunk.lines);
    const content = yield* joined(added.map(line => line.text));
    entry.current = {content, mode: section.executable ? 0o755 : undefined};
    // A file that is created empty has no hunk that could be shown to `patch`.
    entry.history = {initial: added.length > 0 ? undefined : '', final: content, versions: []};
    if (added.length > 0)
      entry.history.versions.push({kind: 'create', hunks: [{at: 0, offset: 0, lines: added}], order});
    this.histories.push(entry.history);
    return true;
  }

  *#change(
    section: Exclude<PatchSection, {kind: 'create'}>,
    source: Entry,
    target: Entry,
    order: number,
  ): Turns<boolean> {
    const before = source.current;
    if (before === undefined) return this.#missing(section, source);
    if (section.kind === 'rename') {
      if (target.current !== undefined) {
        return this.#refuse(
          section,
          `${quotePath(target.path)} exists already, so nothing can be renamed to it.`,
        );
      }
      if (!this.#placeable(section, target)) return false;
    }
    const content = yield* this.#patched(section, source, before, order);
    if (content === undefined) return false;
    source.current = undefined;
    if (section.kind === 'delete') {
      if (content !== '' && section.whole !== true) {
        const left = yield* countLines(content);
        return this.#refuse(
          section,
          `The deletion of ${quotePath(source.path)} leaves ${left} of its lines. Put the whole file into the hunk as "-" lines.`,
        );
      }
      if (section.hunks.length > 0 && source.history !== undefined) source.history.final = undefined;
      source.history = undefined;
      source.origin = undefined;
      return true;
    }
    const {history, origin} = source;
    source.history = undefined;
    source.origin = undefined;
    target.current = {content, mode: withExecutable(before.mode, section.executable)};
    target.history = history;
    target.origin = origin;
    return true;
  }

  /** The content after the hunks of the section; undefined if one of them fails. */
  *#patched(
    section: PatchSection,
    source: Entry,
    before: Draft,
    order: number,
  ): Turns<ByteString | undefined> {
    if (section.hunks.length === 0) return before.content;
    if (this.#work > MAX_WORK) {
      this.#refuse(
        section,
        `The patch goes through ${quotePath(source.path)} too often. Put all changes of a file into one section.`,
      );
      return undefined;
    }
    const file = yield* TextLines.of(before.content);
    this.#work += before.content.length + 8 * file.count;
    const numbers = this.#lineNumbers(source, before);
    const {content, located, problems, notes} = yield* applyHunks(file, section.hunks, numbers);
    this.problems.push(...hunkProblems(source.path, problems));
    if (problems.length > 0) return undefined;
    for (const {at, offset, number} of located) {
      if (offset !== 0) this.offsets.push({path: source.path, hunk: number, line: at + 1, offset});
    }
    for (const note of notes) this.notes.push({path: source.path, ...note});
    if (source.history === undefined) {
      source.history = {initial: before.content, final: content, versions: []};
      this.histories.push(source.history);
    }
    source.history.final = content;
    source.history.versions.push({
      kind: section.kind === 'delete' ? 'delete' : 'modify',
      hunks: located,
      order,
    });
    return content;
  }

  #lineNumbers({origin}: Entry, state: Draft): LineNumbers {
    const read = origin === undefined ? undefined : this.entries.get(origin);
    if (read?.original === undefined) return 'unread';
    const numbers = this.#tree.lineNumbers?.(read.path, read.original) ?? 'unread';
    // What an earlier section made of it nobody was shown.
    return numbers === 'as_read' && state !== read.original ? 'unread' : numbers;
  }

  /** Reports a file in the way of the directories that a new path needs, or the reverse. */
  #placeable(section: PatchSection, entry: Entry): boolean {
    const names = entry.path.split('/');
    const above = names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
    const inPatch = above.find(path => this.entries.get(path as WritablePath)?.current !== undefined);
    const blockingFile = inPatch ?? this.#tree.blockingFile(entry.path);
    if (blockingFile !== undefined) {
      return this.#refuse(
        section,
        `${quotePath(entry.path)} cannot be created: ${quotePath(blockingFile)} is a file.`,
      );
    }
    if (this.#directories.has(entry.path)) {
      return this.#refuse(
        section,
        `${quotePath(entry.path)} cannot be created: the patch has files below it.`,
      );
    }
    for (const path of above) this.#directories.add(path);
    return true;
  }

  #missing(section: PatchSection, entry: Entry): boolean {
    const gone = entry.original === undefined ? 'There is no' : 'An earlier section removed';
    const advice = 'Look the path up with list_files or glob; a new file needs "--- /dev/null".';
    const message = `${gone} ${quotePath(entry.path)} (patch line ${section.line}). ${advice}`;
    this.problems.push(pathProblem(fail('file_not_found', message, {path: entry.path}).error, section.line));
    return false;
  }

  #refuse(section: PatchSection, message: string): false {
    this.problems.push(hunkProblem(message, section.line, [{path: section.path}]));
    return false;
  }

  async #enter(path: string, line: number): Promise<Entry | undefined> {
    const resolved = this.#tree.resolve(path);
    if (!resolved.ok) {
      this.problems.push(pathProblem(resolved.error, line));
      return undefined;
    }
    const known = this.entries.get(resolved.value);
    if (known !== undefined) return known;
    const read = await this.#tree.read(resolved.value);
    if (!read.ok) this.problems.push(pathProblem(read.error, line));
    else this.#loaded += read.value?.bytes.length ?? 0;
    if (this.#loaded > MAX_LOADED) {
      const message = `The files that the patch changes have more than ${MAX_LOADED} bytes together. Split the patch.`;
      const details = {path: resolved.value, size: this.#loaded, max_bytes: MAX_LOADED};
      this.problems.push(pathProblem(fail('file_too_large', message, details).error, line));
      return undefined;
    }
    const original = read.ok ? read.value : undefined;
    const entry: Entry = {
      path: resolved.value,
      original,
      current: original,
      history: undefined,
      origin: original === undefined ? undefined : resolved.value,
      failed: !read.ok,
    };
    this.entries.set(resolved.value, entry);
    return entry;
  }
}

/** Hunks of a file that fail alike are one problem. */
function hunkProblems(path: WritablePath, problems: readonly HunkProblem[]): readonly PatchProblem[] {
  const alike = new Map<string, HunkProblem[]>();
  for (const problem of problems) {
    const others = alike.get(problem.why);
    if (others === undefined) alike.set(problem.why, [problem]);
    else others.push(problem);
  }
  return [...alike].map(([why, group]) => {
    const places = group.map(({line, own}) => `(patch line ${line}${own ? `; ${own}` : ''})`);
    const hunks = group.map(({hunk}, at) => `${hunk} ${places[at]}`).join(', ');
    const [first] = group;
    const name = quotePath(path);
    const which =
      group.length === 1 ? `Hunk ${first?.hunk} of ${name} ${places[0]}` : `Hunks ${hunks} of ${name}`;
    const sentences = [`${which}: ${why}${why.endsWith('.') ? '' : '.'}`, first?.example ?? ''];
    const message = sentences.filter(sentence => sentence !== '').join(' ');
    const details = group.map(({hunk, line, detail}) => ({path, hunk, patch_line: line, ...detail}));
    return hunkProblem(message, first?.line ?? 0, details);
  });
}

/** A path of the overlay, before the patch and after the sections so far; undefined for no file. */
interface OverlayEntry {
  readonly path: WritablePath;
  readonly original: FileState | undefined;
  readonly current: Draft | undefined;
  /** Where the content of `current` lay before the patch. */
  readonly origin: WritablePath | undefined;
}

type NetChange = Omit<FileChange, 'new'> & {readonly draft: Draft | undefined};

/**
 * What differs in the end. A content that has moved from a path that is free now to one that was free
 * before is a rename, however many sections that took; each path is in one change.
 */
function netChanges(entries: ReadonlyMap<WritablePath, OverlayEntry>): NetChange[] {
  const moved = new Map<WritablePath, OverlayEntry>();
  for (const entry of entries.values()) {
    const source = entry.origin === undefined ? undefined : entries.get(entry.origin);
    const isMove = source !== undefined && source !== entry && source.current === undefined;
    if (isMove && entry.original === undefined) moved.set(source.path, entry);
  }
  const changes: NetChange[] = [];
  for (const entry of entries.values()) {
    const {path, original: old, current} = entry;
    if (current === undefined) {
      if (old !== undefined && !moved.has(path)) changes.push({path, old, draft: undefined});
    } else if (old !== undefined) {
      const mode = current.mode ?? withExecutable(old.mode, false);
      if (old.content === current.content && old.mode === mode) continue;
      changes.push({path, old, draft: {content: current.content, mode}});
    } else {
      const from = entry.origin === undefined ? undefined : entries.get(entry.origin);
      if (from?.original !== undefined && moved.get(from.path) === entry) {
        changes.push({path, from: from.path, old: from.original, draft: current});
      } else changes.push({path, old: undefined, draft: current});
    }
  }
  return changes;
}
