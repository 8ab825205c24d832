// Cuts an answer so that it fits its limit, and says so.

import {fail, ok, type Result} from '../core/result.ts';
import {
  type FetchChunk,
  type FetchResponse,
  NOTE_ORDER,
  type Note,
  TRUNCATION_PRECEDENCE,
  type TruncationReason,
} from './page.ts';

/** A response before it is known whether it has to be cut. `truncated` and its reason follow from `notes`. */
export type UnfittedResponse = Omit<FetchResponse, 'truncated' | 'truncation_reason'>;

/**
 * FR-WF-OUT-01, rulings E6 and E7: keeps as many chunks from the start as fit into `maxBytes` bytes of
 * compact JSON; if not even the first fits, as much of its text as does. Every chunk is serialised once at
 * most, and none beyond the limit. `internal`/`tool_output_limit` if nothing fits (FR-WF-OUT-02).
 */
export function fitToBudget(
  unfitted: UnfittedResponse,
  maxBytes: number,
  countTokens: (text: string) => number,
): Result<FetchResponse> {
  const {chunks} = unfitted;
  const whole = new Envelope(unfitted, unfitted.notes);
  const cut = new Envelope(unfitted, [...unfitted.notes, 'tool_output_limit']);

  let bytes = 0;
  let seen = 0;
  let fitting = 0;
  while (whole.bytes + bytes <= maxBytes) {
    if (cut.bytes + bytes <= maxBytes) fitting = seen;
    const chunk = chunks[seen];
    if (chunk === undefined) return ok(whole.around(chunks));
    bytes += Buffer.byteLength(JSON.stringify(chunk)) + (seen > 0 ? 1 : 0);
    seen += 1;
  }
  if (fitting > 0) return ok(cut.around(chunks.slice(0, fitting)));

  const [first] = chunks;
  const rest = first && truncateText(first, maxBytes - cut.bytes, countTokens);
  if (rest) return ok(cut.around([rest]));
  return fail(
    'internal',
    'tool_output_limit',
    {error: 'tool_output_limit', max_bytes: maxBytes},
    {retryable: false},
  );
}

/** The response but for its chunks. */
class Envelope {
  readonly bytes: number;
  readonly #response: FetchResponse;

  constructor(unfitted: UnfittedResponse, notes: readonly Note[]) {
    const reason = truncationReason(notes);
    const {requested_url, final_url, fetched_at, title, language, rendering_method} = unfitted;
    const head = {
      requested_url,
      final_url,
      fetched_at,
      ...(title === undefined ? {} : {title}),
      ...(language === undefined ? {} : {language}),
    };
    const tail = {
      rendering_method,
      truncated: reason !== undefined,
      ...(reason === undefined ? {} : {truncation_reason: reason}),
      // FR-WF-03d: always there, if only as [].
      notes: orderNotes(notes),
    };
    this.#response = {...head, chunks: [], ...tail};
    this.bytes = Buffer.byteLength(JSON.stringify(this.#response));
  }

  around(chunks: readonly FetchChunk[]): FetchResponse {
    // Spreading keeps the place of `chunks` among the fields.
    return {...this.#response, chunks};
  }
}

/**
 * FR-WF-TRUNC-REASON-02: the reason of highest precedence among the notes. Every reason is a note too,
 * so the notes say both whether and why a response is truncated.
 */
function truncationReason(notes: readonly Note[]): TruncationReason | undefined {
  return TRUNCATION_PRECEDENCE.find(reason => notes.includes(reason));
}

/** FR-WF-NOTES-ORDER-01: each note once, by pipeline stage. */
export function orderNotes(notes: readonly Note[]): Note[] {
  return NOTE_ORDER.filter(note => notes.includes(note));
}

/**
 * FR-WF-OUT-01 step 4: `chunk` with the longest prefix of its text, cut between code points, whose JSON
 * takes at most `maxBytes` bytes; `undefined` if it is too large even with an empty text.
 */
export function truncateText(
  chunk: FetchChunk,
  maxBytes: number,
  countTokens: (text: string) => number,
): FetchChunk | undefined {
  // All but the text and the digits of its token count, which shrinks along with it.
  const frame = Buffer.byteLength(JSON.stringify({...chunk, text: '', token_count: 0})) - 1;
  for (let digits = 1; frame + digits <= maxBytes; digits++) {
    const text = chunk.text.slice(0, prefixWithin(chunk.text, maxBytes - frame - digits));
    const token_count = countTokens(text);
    // Prefixes grow by a byte at least, so with fewer digits to spare the next shorter one is the longest.
    if (String(token_count).length <= digits) return {...chunk, text, token_count};
  }
  return undefined;
}

/** Where the longest prefix ends that JSON spells in at most `maxBytes` bytes. */
function prefixWithin(text: string, maxBytes: number): number {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += jsonBytes(character.codePointAt(0) as number);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return end;
}

/** As `JSON.stringify` writes it: a lone surrogate and most controls as \uXXXX. */
function jsonBytes(codePoint: number): number {
  if (codePoint < 0x20) return codePoint >= 0x08 && codePoint <= 0x0d && codePoint !== 0x0b ? 2 : 6;
  if (codePoint < 0x80) return codePoint === 0x22 || codePoint === 0x5c ? 2 : 1;
  if (codePoint < 0x800) return 2;
  if (codePoint > 0xffff) return 4;
  return codePoint >= 0xd800 && codePoint <= 0xdfff ? 6 : 3;
}
