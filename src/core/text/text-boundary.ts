/** No character that a person writes is longer; what claims to be is cut between its code points. */
const WINDOW = 64;

/** Made when a text is cut for the first time: it takes 9 ms, which a start that cuts nothing need not wait for. */
let graphemes: Intl.Segmenter | undefined;

/** The last place at or before `index` that is between two characters as a reader counts them. */
export function boundaryBefore(text: string, index: number): number {
  const cluster = clusterAt(text, index);
  if (cluster === undefined) return index;
  return cluster.start > cluster.from ? cluster.start : betweenCodePoints(text, index, -1);
}

/** The first such place at or after `index`. */
export function boundaryAfter(text: string, index: number): number {
  const cluster = clusterAt(text, index);
  if (cluster === undefined || cluster.start === index) return index;
  return cluster.end < cluster.to ? cluster.end : betweenCodePoints(text, index, 1);
}

interface Cluster {
  readonly start: number;
  readonly end: number;
  /** The part of the text that was looked at. */
  readonly from: number;
  readonly to: number;
}

/** `undefined` where nothing can be cut in two: at the edges, and between plain letters. */
function clusterAt(text: string, index: number): Cluster | undefined {
  if (index <= 0 || index >= text.length) return undefined;
  if (isPlain(text.charCodeAt(index - 1)) && isPlain(text.charCodeAt(index))) return undefined;
  const from = betweenCodePoints(text, Math.max(0, index - WINDOW), 1);
  const to = betweenCodePoints(text, Math.min(text.length, index + WINDOW), -1);
  graphemes ??= new Intl.Segmenter(undefined, {granularity: 'grapheme'});
  const found = graphemes.segment(text.slice(from, to)).containing(index - from);
  if (found === undefined) return undefined;
  const start = from + found.index;
  return {start, end: start + found.segment.length, from: from === 0 ? -1 : from, to};
}

/** Below U+0300 nothing joins its neighbour but CR and LF. */
function isPlain(unit: number): boolean {
  return unit < 0x300 && unit !== 0x0d;
}

function betweenCodePoints(text: string, index: number, step: -1 | 1): number {
  const splitsPair = isHighSurrogate(text, index - 1) && isLowSurrogate(text, index);
  return splitsPair ? index + step : index;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
