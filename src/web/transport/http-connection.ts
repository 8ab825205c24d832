import type {Socket} from 'node:net';
import type {HttpRequest} from '../page.ts';
import {socketProblem} from './connect/socket-problem.ts';
import {Exchange} from './exchange.ts';
import type {NetworkProblem} from './network-failure.ts';
import {ResponseParser} from './response/response-parser.ts';

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
