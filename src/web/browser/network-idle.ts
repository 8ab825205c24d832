import type {Clock} from '../../core/clock.ts';

const QUIET_MS = 500;

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
    this.#cancelTimer = this.#clock.after(QUIET_MS, () => {
      this.#quiet = true;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }
}
