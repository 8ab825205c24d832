import type {HttpConnection} from './http-connection.ts';

const MAX_RESTING = 32;
const MAX_RESTING_PER_KEY = 6;
/** Shorter than the five seconds after which common servers hang up. */
const MAX_REST_MS = 4000;

/** Ruling A7: kept-alive connections, each for its own scheme, host, port and pinned address only. */
export class ConnectionPool {
  /** Longest at rest first. */
  readonly #resting = new Set<HttpConnection>();

  /** The most recently used connection for `key`. */
  take(key: string): HttpConnection | undefined {
    const found = [...this.#resting].findLast(connection => connection.key === key && connection.usable);
    if (found === undefined) return undefined;
    this.#resting.delete(found);
    found.wake();
    return found;
  }

  put(connection: HttpConnection): void {
    const sameKey = [...this.#resting].filter(resting => resting.key === connection.key);
    if (sameKey.length >= MAX_RESTING_PER_KEY) this.#evict(sameKey[0]);
    else if (this.#resting.size >= MAX_RESTING) this.#evict(this.#resting.values().next().value);
    connection.rest(MAX_REST_MS);
    this.#resting.add(connection);
  }

  /** Forgets a connection that has ended. */
  drop(connection: HttpConnection): void {
    this.#resting.delete(connection);
  }

  #evict(connection: HttpConnection | undefined): void {
    if (connection === undefined) return;
    this.#resting.delete(connection);
    connection.destroy();
  }
}
