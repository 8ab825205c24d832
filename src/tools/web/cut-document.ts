import {boundaryBefore} from '../../core/text/text-boundary.ts';

export interface DocumentRoom {
  /** Characters that the caller wants, the mark included. */
  readonly maxLength: number;
  /** Bytes of the text as a JSON string. */
  readonly maxBytes: number;
  readonly document: string;
}

export interface CutDocument {
  readonly text: string;
  readonly truncated: boolean;
}

/** A mark needs company: where there is room for less text than this beside it, there is none. */
const LEAST_TEXT = 200;

/**
 * The document itself where it fits. Else its beginning, up to the end of a block or at
 * least of a line, and a last line that says how much is missing and how to get it.
 */
export function cutDocument({document, maxLength, maxBytes}: DocumentRoom): CutDocument {
  if (document.length <= maxLength && jsonBytes(document) <= maxBytes)
    return {text: document, truncated: false};
  const longest = markOf(document.length, document.length, maxLength, maxBytes);
  const room = maxLength - longest.length;
  const isMarked = room >= LEAST_TEXT && maxBytes - jsonBytes(longest) >= LEAST_TEXT;
  const end = isMarked
    ? breakBefore(document, fittingLength(document, room, maxBytes - jsonBytes(longest)))
    : boundaryBefore(document, fittingLength(document, maxLength, maxBytes));
  const kept = document.slice(0, end);
  return {text: isMarked ? kept + markOf(end, document.length, maxLength, maxBytes) : kept, truncated: true};
}

function markOf(shown: number, total: number, maxLength: number, maxBytes: number): string {
  const advice =
    total > maxLength
      ? 'Call again with a larger maxLength for more.'
      : `An answer has at most ${maxBytes} bytes here (tools.output.max_bytes, or what the request allows).`;
  return `\n\n[Cut here: ${shown} of ${total} characters are above. ${advice}]`;
}

/** The longest beginning that keeps both limits. */
function fittingLength(document: string, maxLength: number, maxBytes: number): number {
  let low = 0;
  let high = Math.min(maxLength, document.length);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonBytes(document.slice(0, middle)) <= maxBytes) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The last end of a block, else of a line, else of a word; never so early that half of the room is empty. */
function breakBefore(document: string, end: number): number {
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = document.lastIndexOf(mark, end);
    if (at > end / 2) return boundaryBefore(document, at);
  }
  return boundaryBefore(document, end);
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
