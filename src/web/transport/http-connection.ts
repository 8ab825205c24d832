// One HTTP/1.1 connection, and one exchange on it.

import type {Socket} from 'node:net';
import {ok, type Result} from '../../core/result.ts';
import type {HttpRequest} from '../page.ts';
import {type NetworkProblem, socketProblem} from './network-error.ts';
import type {ResponseHead} from './response-head.ts';
import {type ResponseHandler, ResponseParser} from './response-parser.ts';

/**
 * A connected socket that carries one exchange at a time.
 *
 *   free ── send ──▶ busy ── response complete, reusable ──▶ free
 *    │                └───── anything else ──▶ destroyed
 *    └── a byte, a FIN, an error or too long a rest ──▶ destroyed
 */
export class HttpConnection {
  /** Scheme, host, port and pinned address. */
  readonly key: string;
  readonly #socket: Socket;
  readonly #onFree: (connection: HttpConnection) => void;
  readonly #onGone: (connection: HttpConnection) => void;
  #exchange: Exchange | undefined;
  #parser: ResponseParser | undefined;

  constructor(
    socket: Socket,
    key: string,
    onFree: (connection: HttpConnection) => void,
    onGone: (connection: HttpConnection) => void,
  ) {
    this.key = key;
    this.#socket = socket;
    this.#onFree = onFree;
    this.#onGone = onGone;
    socket.on('data', bytes => this.#onData(bytes));
    socket.on('end', () => this.#onEnd());
    socket.on('error', error => this.#end(socketProblem(error)));
    socket.on('timeout', () => this.destroy());
    socket.on('close', () => {
      this.#end({error: 'connection_closed'});
      this.#onGone(this);
    });
    socket.resume();
  }

  get usable(): boolean {
    return this.#socket.writable && this.#exchange === undefined;
  }

  /** Sends a request. The connection must be free. */
  send(wire: string, method: HttpRequest['method']): Exchange {
    const socket = this.#socket;
    const exchange = new Exchange({
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      destroy: () => this.destroy(),
    });
    this.#exchange = exchange;
    this.#parser = new ResponseParser(method, {
      onHead: head => exchange.onHead(head),
      onData: bytes => exchange.onData(bytes),
      onComplete: reusable => this.#onComplete(exchange, reusable),
    });
    if (socket.destroyed) this.#end({error: 'connection_closed'});
    else socket.write(wire, 'latin1');
    return exchange;
  }

  /** Rests, without keeping the process alive, for at most `idleMs`. */
  rest(idleMs: number): void {
    this.#socket.setTimeout(idleMs);
    this.#socket.unref();
  }

  wake(): void {
    this.#socket.setTimeout(0);
    this.#socket.ref();
  }

  destroy(): void {
    this.#end({error: 'connection_closed'});
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    if (this.#exchange === undefined || this.#parser === undefined) {
      // Nobody asked: a late body, or an attempt to answer the next request in advance.
      this.destroy();
      return;
    }
    this.#exchange.answered = true;
    const error = this.#parser.push(bytes);
    if (error !== undefined) this.#end({error});
  }

  #onEnd(): void {
    const error = this.#parser?.end();
    if (error !== undefined) this.#end({error});
    this.#socket.destroy();
  }

  #onComplete(exchange: Exchange, reusable: boolean): void {
    this.#exchange = undefined;
    this.#parser = undefined;
    exchange.onComplete();
    if (reusable && this.usable) this.#onFree(this);
    else this.#socket.destroy();
  }

  #end(problem: NetworkProblem): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#parser = undefined;
    this.#socket.destroy();
    exchange.fail(problem);
  }
}

/** Body parts that wait for their reader before the socket is told to wait too. */
const MAX_WAITING_PARTS = 16;
const MAX_WAITING_BYTES = 262_144;

/** How an exchange slows, hurries and ends the connection it runs on. */
interface Flow {
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
