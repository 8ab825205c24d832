import type {Json} from '../../core/json.ts';

/** A longer text is written in pieces, so that others have a turn in between. */
const LONGEST_PIECE = 1_048_576;

/**
 * Compact JSON with the keys of every object in code-unit order, so that equal values are equal text, in pieces
 * that make it up. The depth of what comes here is bounded by `nestedDeeperThan`.
 */
export function* canonicalJson(value: Json): Generator<string, undefined, undefined> {
  if (typeof value === 'string' && value.length > LONGEST_PIECE) {
    yield* longText(value);
  } else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      yield index === 0 ? '[' : ',';
      yield* canonicalJson(entry);
    }
    yield value.length === 0 ? '[]' : ']';
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries<Json>(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    for (const [index, [key, entry]] of entries.entries()) {
      yield `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
      yield* canonicalJson(entry);
    }
    yield entries.length === 0 ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}

/** A cut between the halves of a surrogate pair would write each as an escape. */
function* longText(text: string): Generator<string, undefined, undefined> {
  yield '"';
  for (let start = 0; start < text.length; ) {
    const end = Math.min(start + LONGEST_PIECE, text.length);
    const isSplit = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = text.slice(start, isSplit ? end - 1 : end);
    yield JSON.stringify(piece).slice(1, -1);
    start += piece.length;
  }
  yield '"';
}
