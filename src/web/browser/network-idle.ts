// Tells when a page has stopped loading, and what of it is still in flight.

import type {Clock} from '../../core/clock.ts';
import {REDIRECT_STATUSES} from '../page.ts';
import type {CdpConnection, EndedLoad, PausedRequest} from './cdp.ts';
import {type Answer, isEventStream} from './requests.ts';

const QUIET_MS = 500;
/** A timer that is later than this was kept from running; so were the messages of Chromium. */
const LATE_MS = 50;

/** FR-WF-11e: DOMContentLoaded, then nothing in flight for half a second without a break. */
export class NetworkIdle {
  readonly #clock: Clock;
  #inFlight = 0;
  #domReady = false;
  #quiet = false;
  #closed = false;
  #cancelTimer: () => void = () => {};
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request has been made. */
  begin(): void {
    this.#inFlight += 1;
    this.#update();
  }

  /** It has been answered, in whatever way. */
  end(): void {
    this.#inFlight -= 1;
    this.#update();
  }

  documentReady(): void {
    this.#domReady = true;
    this.#update();
  }

  /** Another document takes the place of this one. */
  documentReplaced(): void {
    this.#domReady = false;
    this.#update();
  }

  reached(): Promise<void> {
    if (this.#quiet) return Promise.resolve();
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  /** Requests that end later start no timer. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    this.#waiting = [];
  }

  #update(): void {
    this.#cancelTimer();
    this.#quiet = false;
    if (this.#closed || !this.#domReady || this.#inFlight > 0) return;
    this.#wait(QUIET_MS);
  }

  #wait(ms: number): void {
    const due = this.#clock.monotonic() + ms;
    this.#cancelTimer = this.#clock.after(ms, () => {
      // A process that was held up hears its timers before what Chromium has sent meanwhile.
      if (this.#clock.monotonic() - due > LATE_MS) return this.#wait(LATE_MS);
      this.#quiet = true;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }
}

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
