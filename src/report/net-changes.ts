// Works out what a run made of each file, from its first change to its last.
import {createHash} from 'node:crypto';
import type {Json} from '../core/result.ts';
import {parsePatch} from '../workspace/patch/parse-patch.ts';
import {byteString, type PatchSection, readable, splitLines} from '../workspace/patch/patch.ts';
import {renderUnifiedDiff} from '../workspace/patch/unified.ts';
import {readArtifact} from './artifacts.ts';
import {listIn, type NamedArtifact, objectIn, type RecordedCall, textIn} from './run-history.ts';

/** What a run made of one file, from the state that its first change found to the one that its last change left. */
export interface NetChange {
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted';
  /** The steps that changed it, the first one first. */
  readonly steps: readonly number[];
  /** `undefined` where the run does not hold both contents as text. */
  readonly diff: {readonly text: string; readonly added: number; readonly removed: number} | undefined;
}

export interface NetChanges {
  /** In the order in which the files were changed first. */
  readonly files: readonly NetChange[];
  /** Files that were changed beyond the most that are compared. */
  readonly more: number;
}

const MOST_FILES = 300;

interface Touched {
  readonly path: string;
  readonly steps: number[];
  readonly first: string | undefined;
  last: string | undefined;
  /** The call that left `last`, and the hash of what it found. */
  call: RecordedCall;
  found: string | undefined;
}

/**
 * The net change of a run, one entry a file, from the records that undo works with: what commands wrote in the
 * sandbox is not in them. A file that is at the end as it was at the beginning is left out.
 */
export async function netChanges(run: string, calls: Iterable<RecordedCall>): Promise<NetChanges> {
  const touched = new Map<string, Touched>();
  for (const call of calls) {
    if (call.status !== 'success') continue;
    for (const file of await changedFiles(run, call)) take(touched, call, file);
  }
  const changed = [...touched.values()].filter(({first, last}) => first !== last);
  const files: NetChange[] = [];
  for (const file of changed.slice(0, MOST_FILES)) files.push(await compare(run, file));
  return {files, more: changed.length - files.length};
}

function take(touched: Map<string, Touched>, call: RecordedCall, file: Json): void {
  const path = textIn(file, 'path');
  if (path === undefined) return;
  const found = textIn(objectIn(file, 'before'), 'sha256');
  const left = textIn(objectIn(file, 'after'), 'sha256');
  const known = touched.get(path);
  if (known === undefined) {
    touched.set(path, {path, steps: [call.step], first: found, last: left, call, found});
  } else {
    known.steps.push(call.step);
    Object.assign(known, {last: left, call, found});
  }
}

async function changedFiles(run: string, call: RecordedCall): Promise<readonly Json[]> {
  const record = artifact(call, '.undo.json');
  if (record === undefined) return [];
  const {text} = await readArtifact(run, record);
  try {
    return text === undefined ? [] : listIn(JSON.parse(text) as Json, 'files');
  } catch {
    return [];
  }
}

async function compare(run: string, file: Touched): Promise<NetChange> {
  const {path, steps, first, last} = file;
  const kind = first === undefined ? 'created' : last === undefined ? 'deleted' : 'changed';
  const before = first === undefined ? undefined : await contentOf(run, first);
  const after =
    last === undefined ? undefined : ((await contentOf(run, last)) ?? (await lastContent(run, file)));
  const isMissing =
    (first !== undefined && before === undefined) || (last !== undefined && after === undefined);
  if (isMissing) return {path, kind, steps, diff: undefined};
  const {diff, added, removed} = renderUnifiedDiff(bytes(before), bytes(after), path);
  return {path, kind, steps, diff: {text: diff, added, removed}};
}

/** Kept by the step that replaced it. */
async function contentOf(run: string, sha256: string): Promise<string | undefined> {
  const {text, altered} = await readArtifact(run, {path: `old/${sha256}`, sha256});
  return altered || text === undefined || digest(text) !== sha256 ? undefined : text;
}

/** Nothing replaced it, so it is worked out from what its step found and from the patch that takes the step back. */
async function lastContent(run: string, {path, call, found, last}: Touched): Promise<string | undefined> {
  const patch = artifact(call, '.undo.patch');
  const {text} = patch === undefined ? {text: undefined} : await readArtifact(run, patch);
  const parsed = text === undefined ? undefined : parsePatch(text);
  if (parsed?.ok !== true) return undefined;
  const section = parsed.value.sections.find(one => (one.kind === 'rename' ? one.from : one.path) === path);
  if (section === undefined) return undefined;
  const source = section.kind === 'rename' ? await foundAt(run, call, section.path) : found;
  const before = source === undefined ? '' : await contentOf(run, source);
  if (before === undefined) return undefined;
  const content = readable(forwardContent(byteString(Buffer.from(before)), section));
  return digest(content) === last ? content : undefined;
}

/** The hash of what a step found at a path. */
async function foundAt(run: string, call: RecordedCall, path: string): Promise<string | undefined> {
  const file = (await changedFiles(run, call)).find(one => textIn(one, 'path') === path);
  return textIn(objectIn(file, 'before'), 'sha256');
}

function artifact({artifacts}: RecordedCall, end: string): NamedArtifact | undefined {
  return artifacts.find(({path}) => path.startsWith('diffs/') && path.endsWith(end));
}

function bytes(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : Buffer.from(text);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The content that a step left, from the one that it found and from the part of its undo patch that takes the file
 * back. The value is only as good as the record: compare its hash.
 */
function forwardContent(before: string, {hunks}: PatchSection): string {
  const old = splitLines(before);
  const now: string[] = [];
  let at = 0;
  for (const {oldStart = 1, lines} of hunks) {
    const hasOld = lines.some(({kind}) => kind !== '+');
    const start = hasOld ? oldStart - 1 : oldStart;
    while (now.length < start && at < old.length) now.push(old[at++] ?? '');
    for (const {kind, text} of lines) {
      if (kind !== '+') now.push(text);
      if (kind !== '-') at += 1;
    }
  }
  return now.concat(old.slice(at)).join('');
}
