// Plans replace_in_files on contents that are held in memory.

import {isUtf8} from 'node:buffer';
import {yieldAfter} from '../../core/async.ts';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import {inTurns, overdue} from '../open-file.ts';
import {fileTooLarge, MAX_WHOLE_FILE_BYTES} from '../refusals.ts';
import {findMatches} from '../search/find-matches.ts';
import type {Query, Ripgrep} from '../search/ripgrep.ts';
import {TreeText} from '../search/tree-text.ts';
import type {Glob} from '../walk/glob.ts';
import {TreeWalk} from '../walk/tree-walk.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';
import {changeTo, type FileChange, type FileState, readState} from './file-change.ts';
import {type FoundPlace, findReplacements, replaceText} from './replacements.ts';

/** Why a file that matches is not changed. */
export type LeftOutReason = 'not_utf8' | 'protected' | 'hard_linked' | 'too_large';

export interface LeftOut {
  readonly path: string;
  readonly reason: LeftOutReason;
}

export interface LoadedFile {
  readonly path: WritablePath;
  readonly bytes: Buffer;
  readonly state: FileState;
}

interface Loaded {
  readonly files: readonly LoadedFile[];
  readonly leftOut: readonly LeftOut[];
  /** The files have more than `maxBytes` together; some are missing. */
  readonly tooMuch: boolean;
}

/** The files that may be changed, with their contents, and why the others may not. */
export async function loadFiles(
  workspace: Workspace,
  paths: readonly WorkspacePath[],
  maxBytes: number,
  deadline: Deadline,
): Promise<Result<Loaded>> {
  const files: LoadedFile[] = [];
  const leftOut: LeftOut[] = [];
  let room = maxBytes;
  for (const found of paths) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const path = workspace.resolveForWrite(found);
    if (!path.ok) {
      leftOut.push({path: found, reason: 'protected'});
      continue;
    }
    const loaded = await load(workspace, path.value, deadline);
    if (!loaded.ok) return loaded;
    if (typeof loaded.value === 'string') {
      leftOut.push({path: found, reason: loaded.value});
      continue;
    }
    room -= loaded.value.bytes.length;
    if (room < 0) return ok({files, leftOut, tooMuch: true});
    files.push(loaded.value);
  }
  return ok({files, leftOut, tooMuch: false});
}

async function load(
  workspace: Workspace,
  path: WritablePath,
  deadline: Deadline,
): Promise<Result<LoadedFile | LeftOutReason>> {
  const state = await readState(workspace, path, deadline);
  if (!state.ok) {
    const {code, details} = state.error;
    if (code === 'file_too_large') return ok('too_large');
    return details?.['kind'] === 'hard_linked' ? ok('hard_linked') : state;
  }
  const {buffer, byteOffset, byteLength} = state.value.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  // Text has no NUL, as for search.
  return ok(isUtf8(bytes) && !bytes.includes(0) ? {path, bytes, state: state.value} : 'not_utf8');
}

export interface ReplaceRequest {
  readonly query: Query;
  readonly replacement: string;
  /** The replacement names groups of the query. */
  readonly hasGroups: boolean;
  /** A file, or a directory and all below it. */
  readonly where: WorkspacePath;
  readonly glob: Glob | undefined;
}

export interface ReplacePlan {
  readonly changes: readonly FileChange[];
  readonly files: readonly {readonly path: string; readonly count: number}[];
  readonly count: number;
  /** Files that match and are not changed. */
  readonly leftOut: readonly LeftOut[];
  /** Text files that were looked at, and files that are no text. */
  readonly searched: number;
  readonly notText: number;
  /** Files and directories that may not be read, so that nobody knows whether something matches there. */
  readonly unreadable: number;
}

interface Parts {
  readonly workspace: Workspace;
  readonly ripgrep: Ripgrep;
  readonly time: Deadline;
}

const MAX_PLACES = 50_000;
const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** replace_in_files: what would become of every file, worked out on contents that are held in memory. */
export async function planReplacement(request: ReplaceRequest, parts: Parts): Promise<Result<ReplacePlan>> {
  const {time} = parts;
  const searched = await candidates(request, parts);
  if (!searched.ok) return searched;
  const {paths, ...seen} = searched.value;
  if (paths.length > MAX_FILES)
    return refuse(`query matches in ${paths.length} files, more than ${MAX_FILES}`);
  const loaded = await loadFiles(parts.workspace, paths, MAX_BYTES, time);
  if (!loaded.ok) return loaded;
  const {files, leftOut, tooMuch} = loaded.value;
  if (tooMuch) return refuse(`the files in which query matches have more than ${MAX_BYTES} bytes together`);
  const found = await findIn(files, request, parts);
  if (!found.ok) return time.spent ? time.failure() : found;
  const changes: FileChange[] = [];
  const counts: {path: string; count: number}[] = [];
  let total = 0;
  for (const [index, {path, state, bytes}] of files.entries()) {
    if (time.spent) return time.failure();
    const places = found.value[index] ?? [];
    const grown = places.reduce((sum, {length, replacement}) => sum + replacement.length - length, 0);
    if (bytes.length + grown > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, bytes.length + grown);
    const replaced = await inTurns(replaceText(bytes, places), time);
    if (!replaced.ok) return replaced;
    const {content, count} = replaced.value;
    total += content.length;
    if (total > 2 * MAX_BYTES)
      return refuse(`the new contents have more than ${2 * MAX_BYTES} bytes together`);
    if (count === 0) continue;
    const change = await changeTo(path, state, content, time);
    if (!change.ok) return change;
    changes.push(change.value);
    counts.push({path, count});
    await yieldAfter(content.length);
  }
  const count = counts.reduce((sum, file) => sum + file.count, 0);
  return ok({changes, files: counts, count, leftOut, ...seen});
}

interface Candidates extends Pick<ReplacePlan, 'searched' | 'notText' | 'unreadable'> {
  readonly paths: readonly WorkspacePath[];
}

/** W4: the files in which something matches; what .gitignore files ignore is left out, unless it is named. */
async function candidates(
  {query, where, glob}: ReplaceRequest,
  {workspace, ripgrep, time}: Parts,
): Promise<Result<Candidates>> {
  const there = workspace.inspect(where);
  if (!there.ok) return there;
  if (there.value.kind !== 'directory') return ok({paths: [where], searched: 1, notText: 0, unreadable: 0});
  const walk = new TreeWalk(workspace, where, {glob, ignored: 'left-out', deadline: time});
  const text = new TreeText(walk, time.signal);
  const found = await findMatches(ripgrep, query, text, MAX_PLACES, time.signal);
  if (time.spent) return time.failure();
  if (!found.ok) return found;
  if (text.failure !== undefined) return text.failure;
  const {lines, total} = found.value;
  if (total > MAX_PLACES) return refuse(`query matches in ${total} lines, more than ${MAX_PLACES}`);
  const paths = [...new Set(lines.map(({path}) => path))];
  return ok({paths, searched: text.files, notText: text.notText, unreadable: text.unreadable});
}

/** The places of each file, as bytes of it. */
async function findIn(
  files: readonly LoadedFile[],
  {query, replacement, hasGroups}: ReplaceRequest,
  {ripgrep, time}: Parts,
): Promise<Result<readonly (readonly FoundPlace[])[]>> {
  const newline = Buffer.from('\n');
  // A mark at the beginning of a file is no part of its first line.
  const marks = files.map(({bytes}) => (bytes.subarray(0, 3).equals(BOM) ? BOM.length : 0));
  const pieces = files.flatMap(({bytes}, index) => {
    const text = bytes.subarray(marks[index]);
    return text.at(-1) === 0x0a ? [text] : [text, newline];
  });
  const text = Buffer.concat(pieces);
  const limits = {places: MAX_PLACES, bytes: 2 * MAX_BYTES};
  const search = {text, query, replacement, hasGroups, signal: time.signal};
  const found = await findReplacements(ripgrep, search, limits);
  if (!found.ok) return found;
  let next = 0;
  let start = 0;
  return ok(
    files.map(({bytes}, index) => {
      const mark = marks[index] ?? 0;
      const length = bytes.length - mark;
      const end = start + length + (bytes.at(-1) === 0x0a ? 0 : 1);
      const places: FoundPlace[] = [];
      for (let place = found.value[next]; place !== undefined && place.at < end; place = found.value[next]) {
        places.push({...place, at: place.at - start + mark});
        next += 1;
      }
      start = end;
      return places;
    }),
  );
}

const BOM = Buffer.from('\ufeff');

function refuse(reason: string): Err<Failure> {
  return fail(
    'invalid_params',
    `${reason[0]?.toUpperCase()}${reason.slice(1)}. Narrow it with glob or path.`,
    {
      field: 'query',
      reason,
    },
  );
}
