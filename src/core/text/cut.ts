// Cuts text and UTF-8 bytes without breaking a character.

/** Says how many of how many UTF-16 units are missing. */
export type CutMarker = (left: number, total: number) => string;

const plainMarker: CutMarker = left => `\n[… ${left} characters left out …]\n`;

/**
 * A text of at most `max` UTF-16 units: the head and the tail of one that is too long, and between them what
 * is missing. What was said last often matters most, so the end stays.
 */
export function cutMiddle(text: string, max: number, marker: CutMarker = plainMarker): string {
  if (text.length <= max) return text;
  const room = Math.max(0, max - marker(text.length, text.length).length);
  const head = takeStart(text, Math.ceil(room / 2));
  const tail = takeEnd(text, Math.floor(room / 2));
  return `${head}${marker(text.length - head.length - tail.length, text.length)}${tail}`;
}

/** At most `max` UTF-16 units from the end of a text, begun between two characters. */
export function takeEnd(text: string, max: number): string {
  return text.length <= max ? text : text.slice(boundaryAfter(text, text.length - max));
}

/** At most `max` UTF-16 units from the start of a text, ended between two characters. */
export function takeStart(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, boundaryBefore(text, max));
}

/** The start of a text of more than `max` UTF-16 units, cut between code points, and an ellipsis. */
export function cutEnd(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, betweenCodePoints(text, max, -1))}…`;
}

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
function boundaryAfter(text: string, index: number): number {
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

/** Bytes at the start that continue a UTF-8 sequence begun before them. */
export function incompleteHead(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}

/** Bytes at the end that begin a UTF-8 sequence and do not finish it. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Bytes of the UTF-8 sequence that begins with `lead`. */
export function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
