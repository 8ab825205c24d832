import type {Budget} from '../../../core/budget.ts';
import {ok, type Result} from '../../../core/result.ts';
import type {HttpRequest, HttpResponse} from '../../page.ts';
import type {Exchange} from '../exchange.ts';
import {networkFailure} from '../network-failure.ts';
import {bodyFraming} from './body-framing.ts';
import {readBody} from './read-body.ts';

export interface SentRequest {
  readonly host: string;
  readonly exchange: Exchange;
  readonly budget: Budget;
  readonly method: HttpRequest['method'];
}

/** Waits for the head of the response and hands it out with the ways to read the body. */
export async function openResponse(sent: SentRequest): Promise<Result<HttpResponse>> {
  const {host, exchange, budget, method} = sent;
  const head = await exchange.head;
  if (budget.aborted) return budget.failure();
  if (!head.ok) return networkFailure(host, head.error);

  const {status, statusText, headers} = head.value;
  const framing = bodyFraming(head.value, method);
  const declaredBytes = framing.ok && framing.value.kind === 'length' ? framing.value.length : undefined;
  const source = {host, headers, exchange, budget, declaredBytes};
  let taken = false;
  const take = (): void => {
    if (taken) throw new Error('Expected the body of a response to be read once.');
    taken = true;
  };

  return ok({
    status,
    statusText,
    headers,
    read: async maxBytes => {
      take();
      const body = await readBody(source, {maxBytes, beyond: 'refuse'});
      return body.ok ? ok(body.value.bytes) : body;
    },
    readPrefix: async maxBytes => {
      take();
      return readBody(source, {maxBytes, beyond: 'cut'});
    },
    discard: () => {
      taken = true;
      exchange.abandon();
    },
  });
}
