import type {Budget} from '../../../core/budget.ts';
import {fail} from '../../../core/failure/fail.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../../core/result.ts';
import type {HeaderMap} from '../../page.ts';
import {contentCodings} from '../coding/content-coding.ts';
import {ContentDecoder} from '../coding/content-decoder.ts';
import type {Exchange} from '../exchange.ts';
import {type NetworkProblem, networkFailure} from '../network-failure.ts';
import {ByteCollector} from './byte-collector.ts';

export interface BodySource {
  readonly host: string;
  readonly headers: HeaderMap;
  readonly exchange: Exchange;
  readonly budget: Budget;
  /** The length that the response declares, where its body has one. */
  readonly declaredBytes: number | undefined;
}

export interface BodyLimit {
  /** Decoded bytes, in every layer. */
  readonly maxBytes: number;
  /** What happens beyond: the body is refused, or its beginning is enough. */
  readonly beyond: 'refuse' | 'cut';
}

interface Body {
  readonly bytes: Uint8Array;
  /** There were more than `maxBytes`. */
  readonly cut: boolean;
}

/** FR-WF-10c, FR-WF-10e, FR-WF-19: reads, decodes and bounds a body while it arrives. */
export async function readBody(source: BodySource, limit: BodyLimit): Promise<Result<Body>> {
  const {host, headers, exchange, budget, declaredBytes} = source;
  const {maxBytes, beyond} = limit;
  budget.enter('body');

  const codings = contentCodings(headers);
  if (!codings.ok) return giveUp(networkFailure(host, {error: codings.error}));
  // Ruling C2: refused before the body is read.
  if (beyond === 'refuse' && declaredBytes !== undefined && declaredBytes > maxBytes) {
    return giveUp(tooLarge(host, declaredBytes, maxBytes));
  }

  const decoder = codings.value.length > 0 ? new ContentDecoder(codings.value, maxBytes) : undefined;
  const collector = new ByteCollector();
  try {
    let wireBytes = 0;
    for (;;) {
      const part = await exchange.next();
      if (budget.spent) return giveUp(budget.failure());
      if (!part.ok) return giveUp(networkFailure(host, part.error));
      wireBytes += part.value?.length ?? 0;

      const decoded = await decode(decoder, part.value);
      if (budget.spent) return giveUp(budget.failure());
      if (!decoded.ok) return giveUp(networkFailure(host, decoded.error));
      for (const bytes of decoded.value) collector.append(bytes);

      if (collector.length > maxBytes && beyond === 'cut') {
        exchange.abandon();
        return ok({bytes: collector.join().subarray(0, maxBytes), cut: true});
      }
      const largest = Math.max(wireBytes, collector.length);
      if (largest > maxBytes || decoder?.exceeded) {
        return giveUp(tooLarge(host, Math.max(largest, maxBytes + 1), maxBytes));
      }
      if (part.value === undefined) return ok({bytes: collector.join(), cut: false});
    }
  } finally {
    decoder?.destroy();
  }

  function giveUp(failure: Err<Failure>): Err<Failure> {
    exchange.abandon();
    return failure;
  }
}

async function decode(
  decoder: ContentDecoder | undefined,
  part: Buffer | undefined,
): Promise<Result<readonly Buffer[], NetworkProblem>> {
  if (decoder === undefined) return ok(part === undefined ? [] : [part]);
  return part === undefined ? decoder.finish() : decoder.feed(part);
}

function tooLarge(host: string, size: number, maxBytes: number): Err<Failure> {
  return fail(
    'response_too_large',
    `The document at "${host}" has at least ${size} bytes, more than the limit of ${maxBytes}. ` +
      'Fetch a smaller one, or raise tools.webfetch.max_download_bytes.',
    {size, max_bytes: maxBytes},
  );
}
