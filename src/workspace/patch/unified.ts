// Renders changes as unified diffs, and the patch that takes them back.
import {type FileChange, isExecutable} from '../change/file-change.ts';
import {atOnce, type Turns} from '../open-file.ts';
import {type ChangedWindow, changedWindow, countLines} from './changed-window.ts';
import {diffLines, type LineEdit} from './diff-lines.ts';
import {quoteName} from './names.ts';
import {type ByteString, byteString, bytesOf, readable, splitLines} from './patch.ts';

/** The unified diff of one file. */
export interface FileDiff {
  readonly path: string;
  /** With git headers; exact to the byte, or a line that says how much it would be where that is more than 1 MiB. */
  readonly text: ByteString;
  readonly added: number;
  readonly removed: number;
  /** First and last line of each place, as numbered in the new file; none of a file that comes or goes. Where lines only went: the line that follows. */
  readonly lines: readonly (readonly [first: number, last: number])[];
}

const CONTEXT = 3;
/** Contents of so many bytes are gone through before others have their turn. */
const SMALL_BYTES = 262_144;
/** review R12: above it lines that stayed are not searched for between the first and the last that differ. */
const MAX_SEARCHED_LINES = 40_000;
/** Nobody reads a longer diff; undo works with the bytes. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/**
 * The diff between two states of a file, for people: what is not UTF-8 is shown as U+FFFD. Undefined
 * stands for a file that is not there; no difference gives an empty text.
 */
export function renderUnifiedDiff(
  oldBytes: Uint8Array | undefined,
  newBytes: Uint8Array | undefined,
  path: string,
): {readonly diff: string; readonly added: number; readonly removed: number} {
  const oldText = oldBytes === undefined ? undefined : byteString(oldBytes);
  const newText = newBytes === undefined ? undefined : byteString(newBytes);
  if (oldText === newText) return {diff: '', added: 0, removed: 0};
  const {text, added, removed} = atOnce(render({oldPath: path, newPath: path, oldText, newText, header: []}));
  return {diff: readable(text), added, removed};
}

/** The diff of a change, which `parsePatch` reads back to the same change. */
export function renderFileChange({path, from = path, old, new: fresh}: FileChange): Turns<FileDiff> {
  const header: string[] = [];
  const [oldMode, newMode] = [old, fresh].map(state => state && (isExecutable(state) ? '100755' : '100644'));
  if (oldMode === undefined) header.push(`new file mode ${newMode}`);
  else if (newMode === undefined) header.push(`deleted file mode ${oldMode}`);
  else if (oldMode !== newMode) header.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  if (from !== path) header.push(`rename from ${quoteName(from)}`, `rename to ${quoteName(path)}`);
  return render({oldPath: from, newPath: path, oldText: old?.content, newText: fresh?.content, header});
}

/** The diffs of several changes; one file after the other, so that many small ones do not hold up others either. */
export function* renderFileChanges(changes: readonly FileChange[]): Turns<readonly FileDiff[]> {
  const diffs: FileDiff[] = [];
  let size = 0;
  for (const change of changes) {
    diffs.push(yield* renderFileChange(change));
    size += (change.new ?? change.old)?.bytes.length ?? 0;
    if (size < SMALL_BYTES) continue;
    size = 0;
    yield;
  }
  return diffs;
}

interface Sides {
  readonly oldPath: string;
  readonly newPath: string;
  readonly oldText: ByteString | undefined;
  readonly newText: ByteString | undefined;
  readonly header: readonly ByteString[];
}

function* render({oldPath, newPath, oldText, newText, header}: Sides): Turns<FileDiff> {
  const oldName = quoteName(`a/${oldPath}`);
  const newName = quoteName(`b/${newPath}`);
  const out: ByteString[] = [`diff --git ${oldName} ${newName}\n`, ...header.map(line => `${line}\n`)];
  if (oldText === newText) return {path: newPath, text: out.join(''), added: 0, removed: 0, lines: []};
  const names = [
    oldText === undefined ? '--- /dev/null\n' : `--- ${oldName}${blankGuard(oldName)}\n`,
    newText === undefined ? '+++ /dev/null\n' : `+++ ${newName}${blankGuard(newName)}\n`,
  ];
  const window = yield* changedWindow(oldText ?? '', newText ?? '', CONTEXT);
  const lines = {
    removed: yield* countLines(window.oldText),
    added: yield* countLines(window.newText),
  };
  if (window.oldText.length + window.newText.length > MAX_SHOWN_BYTES) {
    const equal = window.equalFirst + window.equalLast;
    const removed = lines.removed - equal;
    const added = lines.added - equal;
    const at = window.linesBefore + window.equalFirst + 1;
    out.push(...names, `[not shown: from line ${at} on, ${removed} lines are replaced by ${added}]\n`);
    return {path: newPath, text: out.join(''), added, removed, lines: [[at, at + Math.max(added, 1) - 1]]};
  }
  const oldLines = splitLines(window.oldText);
  const newLines = splitLines(window.newText);
  const isSearched = lines.removed + lines.added <= MAX_SEARCHED_LINES;
  const edits = isSearched ? diffLines(oldLines, newLines) : [wholeEdit(window, lines)];
  if (edits.length > 0) out.push(...names);
  const {linesBefore} = window;
  for (const group of hunkGroups(edits)) renderHunk(out, {oldLines, newLines, linesBefore}, group);
  const count = (side: 'oldCount' | 'newCount'): number => edits.reduce((sum, edit) => sum + edit[side], 0);
  return {
    path: newPath,
    text: out.join(''),
    added: count('newCount'),
    removed: count('oldCount'),
    lines: (oldText === undefined || newText === undefined ? [] : edits).map(({newStart, newCount}) => {
      const at = linesBefore + newStart;
      return [at + 1, at + Math.max(newCount, 1)];
    }),
  };
}

/** review R12: what differs as one piece, without a search for lines that stayed. */
function wholeEdit(
  {equalFirst, equalLast}: ChangedWindow,
  {removed, added}: {readonly removed: number; readonly added: number},
): LineEdit {
  const equal = equalFirst + equalLast;
  return {
    oldStart: equalFirst,
    oldCount: removed - equal,
    newStart: equalFirst,
    newCount: added - equal,
  };
}

/** A TAB ends a name with blanks, so that no reader takes part of it for a time stamp. */
function blankGuard(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? '\t' : '';
}

/** Edits so close to each other that their context would touch share a hunk. */
function hunkGroups(edits: readonly LineEdit[]): [LineEdit, ...LineEdit[]][] {
  const groups: [LineEdit, ...LineEdit[]][] = [];
  for (const edit of edits) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (
      group !== undefined &&
      last !== undefined &&
      edit.oldStart - last.oldStart - last.oldCount <= 2 * CONTEXT
    ) {
      group.push(edit);
    } else groups.push([edit]);
  }
  return groups;
}

interface ShownLines {
  readonly oldLines: readonly ByteString[];
  readonly newLines: readonly ByteString[];
  /** Lines of both files before those. */
  readonly linesBefore: number;
}

function renderHunk(
  out: ByteString[],
  {oldLines, newLines, linesBefore}: ShownLines,
  group: readonly [LineEdit, ...LineEdit[]],
): void {
  const [first] = group;
  const last = group.at(-1) ?? first;
  const lead = Math.min(CONTEXT, first.oldStart);
  const oldEnd = Math.min(oldLines.length, last.oldStart + last.oldCount + CONTEXT);
  const newEnd = Math.min(newLines.length, last.newStart + last.newCount + CONTEXT);
  const oldStart = first.oldStart - lead;
  const newStart = first.newStart - lead;
  const oldRange = hunkRange(linesBefore + oldStart, oldEnd - oldStart);
  const newRange = hunkRange(linesBefore + newStart, newEnd - newStart);
  out.push(`@@ -${oldRange} +${newRange} @@\n`);
  let copied = oldStart;
  const push = (kind: string, lines: readonly ByteString[], from: number, to: number): void => {
    for (let at = from; at < to; at += 1) out.push(hunkLine(kind, lines[at] ?? ''));
  };
  for (const edit of group) {
    push(' ', oldLines, copied, edit.oldStart);
    copied = edit.oldStart + edit.oldCount;
    push('-', oldLines, edit.oldStart, copied);
    push('+', newLines, edit.newStart, edit.newStart + edit.newCount);
  }
  push(' ', oldLines, copied, oldEnd);
}

/** `START,COUNT` of a hunk header; `from` is an index. Behind the line before it where it has no lines. */
export function hunkRange(from: number, count: number): string {
  const start = count === 0 ? from : from + 1;
  return count === 1 ? String(start) : `${start},${count}`;
}

/** A line of a hunk, with the marker of a missing newline. */
export function hunkLine(kind: string, line: ByteString): ByteString {
  return line.endsWith('\n') ? `${kind}${line}` : `${kind}${line}\n\\ No newline at end of file\n`;
}

/**
 * W7: the patch that takes changes back, from the real bytes. Bytes, not text: a file that is not UTF-8
 * survives only in this form. Applied with `planPatch`, it gives the old files byte for byte, with their
 * executable bit.
 */
export function* renderUndo(changes: readonly FileChange[]): Turns<Buffer> {
  const diffs = yield* renderFileChanges(changes.map(reversed));
  return bytesOf(diffs.map(({text}) => text).join(''));
}

function reversed({path, from, old, new: fresh}: FileChange): FileChange {
  return {path: from ?? path, ...(from !== undefined && {from: path}), old: fresh, new: old};
}

export interface DiffStat {
  readonly files: readonly Omit<FileDiff, 'text'>[];
  readonly added: number;
  readonly removed: number;
}

/** How many lines come and go, by file and in all. */
export function diffStat(diffs: readonly FileDiff[]): DiffStat {
  const files = diffs.map(({text: _, ...file}) => file);
  const sum = (pick: 'added' | 'removed'): number => files.reduce((total, file) => total + file[pick], 0);
  return {files, added: sum('added'), removed: sum('removed')};
}
