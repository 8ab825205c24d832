import type {PatchSection} from '../../workspace/patch/patch.ts';
import {splitLines} from '../../workspace/patch/split-lines.ts';

/**
 * The content that a step left, from the one that it found and from the part of its undo patch that takes the file
 * back. The value is only as good as the record: compare its hash.
 */
export function forwardContent(before: string, {hunks}: PatchSection): string {
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
