import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {
  type FetchChunk,
  type FetchResponse,
  type Note,
  TRUNCATION_PRECEDENCE,
  type TruncationReason,
} from '../page.ts';
import {orderNotes} from './order-notes.ts';
import {truncateText} from './truncate-text.ts';

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
