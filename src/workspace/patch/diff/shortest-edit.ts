import type {LineEdit, Span} from './line-edit.ts';

/** Steps of the search for one span; lines times edits stays below it. */
const MAX_STEPS = 4_000_000;
const MAX_EDITS = 256;

/**
 * Myers' greedy search for the shortest list of edits; undefined where it has more than a bounded
 * number of them. Memory is quadratic in that bound, not in the lines.
 */
export function shortestEdit(before: Int32Array, after: Int32Array, span: Span): LineEdit[] | undefined {
  const {oldFrom, newFrom} = span;
  const oldCount = span.oldTo - oldFrom;
  const newCount = span.newTo - newFrom;
  const lines = oldCount + newCount;
  const limit = Math.min(lines, MAX_EDITS, Math.max(16, Math.floor(MAX_STEPS / lines)));
  const middle = limit + 1;
  const reach = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(reach.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = reach[middle + diagonal + 1] ?? 0;
      const right = reach[middle + diagonal - 1] ?? 0;
      let x = diagonal === -edits || (diagonal !== edits && right < down) ? down : right + 1;
      let y = x - diagonal;
      while (x < oldCount && y < newCount && before[oldFrom + x] === after[newFrom + y]) {
        x += 1;
        y += 1;
      }
      reach[middle + diagonal] = x;
      if (x >= oldCount && y >= newCount) return walkBack(trace, span);
    }
  }
  return undefined;
}

/** Follows the trace from the end to the start and joins neighbouring edits. */
function walkBack(trace: readonly Int32Array[], span: Span): LineEdit[] {
  const edits: LineEdit[] = [];
  let x = span.oldTo - span.oldFrom;
  let y = span.newTo - span.newFrom;
  // The edit being joined, as its end; it begins where the walk is.
  let end: {x: number; y: number} | undefined;
  const close = (): void => {
    if (end === undefined) return;
    edits.push({
      oldStart: span.oldFrom + x,
      oldCount: end.x - x,
      newStart: span.newFrom + y,
      newCount: end.y - y,
    });
    end = undefined;
  };
  for (let count = trace.length - 1; count > 0; count -= 1) {
    const reach = trace[count];
    const at = (diagonal: number): number => reach?.[diagonal + count + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -count || (diagonal !== count && at(diagonal - 1) < at(diagonal + 1));
    const previousX = down ? at(diagonal + 1) : at(diagonal - 1);
    const previousY = previousX - (down ? diagonal + 1 : diagonal - 1);
    const editX = down ? previousX : previousX + 1;
    const editY = down ? previousY + 1 : previousY;
    if (x > editX) {
      close();
      x = editX;
      y = editY;
    }
    end ??= {x: editX, y: editY};
    x = previousX;
    y = previousY;
  }
  close();
  return edits.reverse();
}
