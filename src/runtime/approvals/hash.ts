// Hashes a call with its arguments and files, so that an approval holds for exactly that call.
import {createHash} from 'node:crypto';
import type {Json} from '../../core/result.ts';
import {nextTurn} from '../../system/errors.ts';

/** What a decision is bound to: the same tool, arguments and files, and nothing else. */
interface BoundCall {
  readonly tool: string;
  readonly params: Json;
  readonly fileHashes: {readonly [path: string]: string};
}

/** Characters that are hashed before others have a turn: some milliseconds of work. */
const CHARACTERS_A_TURN = 1_048_576;
/** Short pieces are joined: a hash takes each with a call of its own. */
const SHORTEST_UPDATE = 65_536;

/** SHA-256, lower-case hexadecimal. review R12: in turns, because the contents of a file may be among the arguments. */
export async function approvalHash({tool, params, fileHashes}: BoundCall): Promise<string> {
  const hash = createHash('sha256');
  let pending = '';
  let sinceTurn = 0;
  for (const piece of canonicalJson({tool, params, fileHashes})) {
    pending += piece;
    if (pending.length < SHORTEST_UPDATE) continue;
    hash.update(pending);
    sinceTurn += pending.length;
    pending = '';
    if (sinceTurn < CHARACTERS_A_TURN) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return hash.update(pending).digest('hex');
}

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
