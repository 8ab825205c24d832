import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {FetchChunk, FetchResponse, Note} from '../page.ts';
import {orderNotes} from './order-notes.ts';
import {truncateText} from './truncate-text.ts';
import {truncationReason} from './truncation-reason.ts';

/** A response before it is known whether it has to be cut. `truncated` and its reason follow from `notes`. */
export type UnfittedResponse = Omit<FetchResponse, 'truncated' | 'truncation_reason'>;

export interface FittedResponse {
  readonly response: FetchResponse;
  /** The response as compact JSON, of at most `maxBytes` bytes of UTF-8. */
  readonly json: string;
}

/**
 * FR-WF-OUT-01, rulings E6 and E7: keeps as many chunks from the start as fit into `maxBytes`; if not
 * even the first fits, as much of its text as does. Every chunk is serialised once at most, and none
 * beyond the limit. `internal`/`tool_output_limit` if nothing fits (FR-WF-OUT-02).
 */
export function fitToBudget(
  unfitted: UnfittedResponse,
  maxBytes: number,
  countTokens: (text: string) => number,
): Result<FittedResponse> {
  const {chunks} = unfitted;
  const whole = new Envelope(unfitted, unfitted.notes);
  const cut = new Envelope(unfitted, [...unfitted.notes, 'tool_output_limit']);

  const serialised: string[] = [];
  let bytes = 0;
  let fitting = 0;
  for (const chunk of chunks) {
    const json = JSON.stringify(chunk);
    bytes += Buffer.byteLength(json) + (serialised.length > 0 ? 1 : 0);
    if (whole.bytes + bytes > maxBytes) break;
    serialised.push(json);
    if (cut.bytes + bytes <= maxBytes) fitting = serialised.length;
  }
  if (serialised.length === chunks.length && whole.bytes + bytes <= maxBytes) {
    return ok(whole.around(chunks, serialised));
  }
  if (fitting > 0) return ok(cut.around(chunks.slice(0, fitting), serialised.slice(0, fitting)));

  const [first] = chunks;
  const rest = first && truncateText(first, maxBytes - cut.bytes, countTokens);
  if (rest) return ok(cut.around([rest], [JSON.stringify(rest)]));
  return fail('internal', 'tool_output_limit', {max_bytes: maxBytes}, {retryable: false});
}

/** The response but for its chunks. */
class Envelope {
  readonly bytes: number;
  readonly #response: FetchResponse;
  readonly #before: string;
  readonly #after: string;

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
    this.#before = `${JSON.stringify(head).slice(0, -1)},"chunks":[`;
    this.#after = `],${JSON.stringify(tail).slice(1)}`;
    this.bytes = Buffer.byteLength(this.#before) + Buffer.byteLength(this.#after);
  }

  around(chunks: readonly FetchChunk[], serialised: readonly string[]): FittedResponse {
    return {
      // Spreading keeps the place of `chunks` among the fields.
      response: {...this.#response, chunks},
      json: this.#before + serialised.join(',') + this.#after,
    };
  }
}
