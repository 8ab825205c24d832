import type {Socket} from 'node:net';

/**
 * Review R18: who has shown no token holds no place for long. Connections are taken at once, and the oldest that
 * has not sent a token goes when there are too many of them; those that have are counted by themselves.
 */
export class ConnectionPlaces {
  readonly #mostUnproven: number;
  /** Oldest first. */
  readonly #unproven = new Set<Socket>();

  constructor(mostUnproven: number) {
    this.#mostUnproven = mostUnproven;
  }

  add(socket: Socket): void {
    this.#unproven.add(socket);
    socket.once('close', () => this.#unproven.delete(socket));
    const [oldest] = this.#unproven;
    if (this.#unproven.size > this.#mostUnproven) oldest?.destroy();
  }

  /** The connection has sent the token. */
  prove(socket: Socket): void {
    this.#unproven.delete(socket);
  }
}
