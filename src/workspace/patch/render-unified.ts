import {type ByteString, byteString, readable} from './byte-string.ts';
import {diffLines, type LineEdit} from './diff-lines.ts';
import {type FileChange, isExecutable} from './file-change.ts';
import {quoteName} from './quoted-name.ts';
import {splitLines} from './split-lines.ts';

/** The unified diff of one file. */
export interface FileDiff {
  readonly path: string;
  /** With git headers; exact to the byte. */
  readonly text: ByteString;
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;

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
  const {text, added, removed} = render({oldPath: path, newPath: path, oldText, newText, header: []});
  return {diff: readable(text), added, removed};
}

/** The diff of a change, which `parsePatch` reads back to the same change. */
export function renderFileChange(change: FileChange): FileDiff {
  const oldPath = change.kind === 'rename' ? change.from : change.path;
  const oldState = change.kind === 'create' ? undefined : change.old;
  const newState = change.kind === 'delete' ? undefined : change.new;
  const header: string[] = [];
  if (oldState === undefined) {
    header.push(`new file mode ${newState !== undefined && isExecutable(newState) ? '100755' : '100644'}`);
  } else if (newState === undefined) {
    header.push(`deleted file mode ${isExecutable(oldState) ? '100755' : '100644'}`);
  } else if (isExecutable(oldState) !== isExecutable(newState)) {
    const modes = ['100644', '100755'];
    if (isExecutable(oldState)) modes.reverse();
    header.push(`old mode ${modes[0]}`, `new mode ${modes[1]}`);
  }
  if (change.kind === 'rename') {
    header.push(`rename from ${quoteName(change.from)}`, `rename to ${quoteName(change.path)}`);
  }
  return render({
    oldPath,
    newPath: change.path,
    oldText: oldState?.content,
    newText: newState?.content,
    header,
  });
}

interface Sides {
  readonly oldPath: string;
  readonly newPath: string;
  readonly oldText: ByteString | undefined;
  readonly newText: ByteString | undefined;
  readonly header: readonly ByteString[];
}

function render({oldPath, newPath, oldText, newText, header}: Sides): FileDiff {
  const oldLines = splitLines(oldText ?? '');
  const newLines = splitLines(newText ?? '');
  const edits = diffLines(oldLines, newLines);
  const oldName = quoteName(`a/${oldPath}`);
  const newName = quoteName(`b/${newPath}`);
  const out: ByteString[] = [`diff --git ${oldName} ${newName}\n`, ...header.map(line => `${line}\n`)];
  if (edits.length > 0) {
    out.push(oldText === undefined ? '--- /dev/null\n' : `--- ${oldName}${blankGuard(oldName)}\n`);
    out.push(newText === undefined ? '+++ /dev/null\n' : `+++ ${newName}${blankGuard(newName)}\n`);
    for (const group of hunkGroups(edits)) renderHunk(out, oldLines, newLines, group);
  }
  const count = (side: 'oldCount' | 'newCount'): number => edits.reduce((sum, edit) => sum + edit[side], 0);
  return {path: newPath, text: out.join(''), added: count('newCount'), removed: count('oldCount')};
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

function renderHunk(
  out: ByteString[],
  oldLines: readonly ByteString[],
  newLines: readonly ByteString[],
  group: readonly [LineEdit, ...LineEdit[]],
): void {
  const [first] = group;
  const last = group.at(-1) ?? first;
  const lead = Math.min(CONTEXT, first.oldStart);
  const oldEnd = Math.min(oldLines.length, last.oldStart + last.oldCount + CONTEXT);
  const newEnd = Math.min(newLines.length, last.newStart + last.newCount + CONTEXT);
  const oldStart = first.oldStart - lead;
  const newStart = first.newStart - lead;
  out.push(`@@ -${hunkRange(oldStart, oldEnd - oldStart)} +${hunkRange(newStart, newEnd - newStart)} @@\n`);
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
