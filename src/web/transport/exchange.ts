import {ok, type Result} from '../../core/result.ts';
import type {NetworkProblem} from './network-failure.ts';
import type {ResponseHead} from './response/parse-response-head.ts';
import type {ResponseHandler} from './response/response-parser.ts';

/** Body parts that wait for their reader before the socket is told to wait too. */
const MAX_WAITING_PARTS = 16;
const MAX_WAITING_BYTES = 262_144;

/** How an exchange slows, hurries and ends the connection it runs on. */
export interface Flow {
  readonly pause: () => void;
  readonly resume: () => void;
  readonly destroy: () => void;
}

/** One request and its response: the connection pushes, the reader pulls, and neither overruns the other. */
export class Exchange implements ResponseHandler {
  /** True from the first byte of the response on: until then a request may be sent again. */
  answered = false;
  /** The wire has nothing more to say. Parts may still wait to be read. */
  complete = false;
  readonly head: Promise<Result<ResponseHead, NetworkProblem>>;
  readonly #flow: Flow;
  readonly #parts: Buffer[] = [];
  #waitingBytes = 0;
  #paused = false;
  #problem: NetworkProblem | undefined;
  #settleHead: (head: Result<ResponseHead, NetworkProblem>) => void = () => {};
  #wake: (() => void) | undefined;
  #onSettled: () => void = () => {};

  constructor(flow: Flow) {
    this.#flow = flow;
    this.head = new Promise(resolve => {
      this.#settleHead = resolve;
    });
  }

  /** Calls back once, when the wire part has ended in whatever way. */
  whenSettled(callback: () => void): void {
    if (this.#settled) callback();
    else this.#onSettled = callback;
  }

  /** The next part of the body; `undefined` after the last. One reader at a time. */
  async next(): Promise<Result<Buffer | undefined, NetworkProblem>> {
    while (this.#parts.length === 0 && !this.#settled) {
      this.#resume();
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
    // FR-WF-19: a body that broke off is not delivered, not even what had arrived of it.
    if (this.#problem !== undefined) return {ok: false, error: this.#problem};
    const part = this.#parts.shift();
    if (part !== undefined) this.#waitingBytes -= part.length;
    return ok(part);
  }

  /** Nobody wants the rest. */
  abandon(): void {
    this.#parts.length = 0;
    if (!this.#settled) this.#flow.destroy();
  }

  onHead(head: ResponseHead): void {
    this.#settleHead(ok(head));
  }

  onData(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#parts.length >= MAX_WAITING_PARTS || this.#waitingBytes >= MAX_WAITING_BYTES) {
      this.#paused = true;
      this.#flow.pause();
    }
    this.#wake?.();
  }

  onComplete(): void {
    this.complete = true;
    this.#settle();
  }

  fail(problem: NetworkProblem): void {
    if (this.#settled) return;
    this.#problem = problem;
    this.#settleHead({ok: false, error: problem});
    this.#settle();
  }

  get #settled(): boolean {
    return this.complete || this.#problem !== undefined;
  }

  #settle(): void {
    this.#resume();
    this.#onSettled();
    this.#wake?.();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#flow.resume();
  }
}
