import type {Clock} from '../../core/clock.ts';
import {REDIRECT_STATUSES} from '../page.ts';
import type {CdpConnection} from './cdp/cdp-connection.ts';
import type {EndedLoad, PausedRequest} from './cdp/cdp-protocol.ts';
import type {NetworkIdle} from './network-idle.ts';
import type {Answer} from './requests/answer.ts';
import {isEventStream} from './requests/is-event-stream.ts';

/** A worker that is ended in a gap takes its word with it: nobody says how its request ended. */
const LONGEST_GAP_MS = 5000;

interface Gap {
  readonly networkId: string | undefined;
  readonly close: () => void;
}

/**
 * FR-WF-11e: which requests are in flight. One that was answered with a redirect is, until Chromium asks for the
 * target: on a busy machine that takes longer than the quiet that counts as idle.
 */
export class InFlight {
  readonly #idle: NetworkIdle;
  readonly #clock: Clock;
  /** By the request that was redirected. */
  readonly #gaps = new Map<string, Gap>();
  #closed = false;

  constructor(idle: NetworkIdle, clock: Clock) {
    this.#idle = idle;
    this.#clock = clock;
  }

  /** Loads that end in a gap: not every redirect is one that its page or Chromium follows. */
  listen(connection: CdpConnection): void {
    const ended = ({requestId}: EndedLoad): void => {
      for (const {networkId, close} of [...this.#gaps.values()]) if (networkId === requestId) close();
    };
    connection.on('Network.loadingFailed', ended);
    connection.on('Network.loadingFinished', ended);
  }

  begin(paused: PausedRequest): void {
    if (isEventStream(paused)) return;
    this.#idle.begin();
    if (paused.redirectedRequestId !== undefined) this.#gaps.get(paused.redirectedRequestId)?.close();
  }

  /** Before the answer is given: what comes of a redirect may be heard before that it was taken. */
  answering(paused: PausedRequest, answer: Answer): void {
    const {requestId, networkId} = paused;
    if (this.#closed || isEventStream(paused) || !isRedirect(answer)) return;
    this.#idle.begin();
    const close = (): void => {
      cancel();
      this.#gaps.delete(requestId);
      this.#idle.end();
    };
    const cancel = this.#clock.after(LONGEST_GAP_MS, close);
    this.#gaps.set(requestId, {networkId, close});
  }

  /** The answer was given. Where Chromium did not wait for it any more, nothing comes of it. */
  end(paused: PausedRequest, taken: boolean): void {
    if (isEventStream(paused)) return;
    if (!taken) this.#gaps.get(paused.requestId)?.close();
    this.#idle.end();
  }

  close(): void {
    this.#closed = true;
    for (const {close} of [...this.#gaps.values()]) close();
  }
}

function isRedirect(answer: Answer): boolean {
  if ('refuse' in answer || !REDIRECT_STATUSES.has(answer.status)) return false;
  return answer.headers.some(({name}) => name.toLowerCase() === 'location');
}
