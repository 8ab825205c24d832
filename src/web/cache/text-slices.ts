const SLICE_UNITS = 65_536;

/**
 * A text in order, in slices that are encoded one after the other, so that a large one is never in memory as
 * a whole in every form it takes. No surrogate pair is cut.
 */
export function* textSlices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + SLICE_UNITS);
    if (isHighSurrogate(text.charCodeAt(to - 1)) && to < text.length) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
