import type {ByteString} from '../byte-string.ts';
import type {LineEdit, Span} from './line-edit.ts';
import {shortestEdit} from './shortest-edit.ts';
import {uniqueAnchors} from './unique-anchors.ts';

/** Levels of anchors within anchors. Below it the shortest edit, or a replacement, is good enough. */
const MAX_DEPTH = 24;

/**
 * What differs between two lists of lines, in order. Patience diff: lines that occur once on both sides
 * hold the parts together, Myers' shortest edit fills the gaps, and a gap that would cost too much is
 * replaced whole. Always exact, and n log n in the worst case.
 */
export function diffLines(oldLines: readonly ByteString[], newLines: readonly ByteString[]): LineEdit[] {
  const numbers = new Map<ByteString, number>();
  const number = (line: ByteString): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const before = Int32Array.from(oldLines, number);
  const after = Int32Array.from(newLines, number);

  const edits: LineEdit[] = [];
  const pending: {span: Span; depth: number}[] = [
    {span: {oldFrom: 0, oldTo: before.length, newFrom: 0, newTo: after.length}, depth: 0},
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const span = trim(before, after, next.span);
    if (span.oldFrom === span.oldTo || span.newFrom === span.newTo) {
      if (span.oldFrom !== span.oldTo || span.newFrom !== span.newTo) edits.push(replacement(span));
      continue;
    }
    const anchors = next.depth < MAX_DEPTH ? uniqueAnchors(before, after, span) : [];
    if (anchors.length === 0) {
      edits.push(...(shortestEdit(before, after, span) ?? [replacement(span)]));
      continue;
    }
    // Pushed from the last to the first, so that they are taken from the first to the last.
    let {oldTo, newTo} = span;
    for (const [oldAt, newAt] of anchors.toReversed()) {
      pending.push({span: {oldFrom: oldAt + 1, oldTo, newFrom: newAt + 1, newTo}, depth: next.depth + 1});
      oldTo = oldAt;
      newTo = newAt;
    }
    pending.push({span: {oldFrom: span.oldFrom, oldTo, newFrom: span.newFrom, newTo}, depth: next.depth + 1});
  }
  return edits;
}

function trim(before: Int32Array, after: Int32Array, span: Span): Span {
  let {oldFrom, oldTo, newFrom, newTo} = span;
  while (oldFrom < oldTo && newFrom < newTo && before[oldFrom] === after[newFrom]) {
    oldFrom += 1;
    newFrom += 1;
  }
  while (oldFrom < oldTo && newFrom < newTo && before[oldTo - 1] === after[newTo - 1]) {
    oldTo -= 1;
    newTo -= 1;
  }
  return {oldFrom, oldTo, newFrom, newTo};
}

function replacement({oldFrom, oldTo, newFrom, newTo}: Span): LineEdit {
  return {oldStart: oldFrom, oldCount: oldTo - oldFrom, newStart: newFrom, newCount: newTo - newFrom};
}
