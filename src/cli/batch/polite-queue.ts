import type {Clock} from '../../core/clock.ts';

export interface PoliteQueueSettings {
  /** Items of one host under way at the same time. */
  readonly perHost: number;
  /** Least time between two starts at one host. */
  readonly delayMs: number;
  /** Items that wait; `offer` waits for room above that. */
  readonly room: number;
  readonly clock: Clock;
}

interface Host<Item> {
  readonly name: string;
  readonly waiting: Item[];
  active: number;
  nextStart: number;
  pausedUntil: number;
  /** Times in a row that it asked for a pause. */
  refusals: number;
  setAside: boolean;
  cancelTimer: (() => void) | undefined;
}

export interface Taken<Item> {
  readonly host: string;
  readonly item: Item;
}

/**
 * Hands out items so that no host is asked too much at once, too often, or while it has asked for a pause.
 * Hosts take turns; what is ready is never held up by what is not. Times are those of the clock.
 */
export class PoliteQueue<Item> {
  readonly #settings: PoliteQueueSettings;
  readonly #hosts = new Map<string, Host<Item>>();
  /** Hosts that may be asked now, in the order of their turns. */
  readonly #ready = new Set<Host<Item>>();
  readonly #takers: ((taken: Taken<Item> | undefined) => void)[] = [];
  readonly #offerers: (() => void)[] = [];
  #waiting = 0;
  #active = 0;
  #closed = false;
  #stopped = false;

  constructor(settings: PoliteQueueSettings) {
    this.#settings = settings;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Hosts that anything is known about. */
  get hosts(): number {
    return this.#hosts.size;
  }

  /** Hosts that have work waiting and have asked for a pause. */
  get paused(): number {
    const now = this.#settings.clock.monotonic();
    let paused = 0;
    for (const {waiting, pausedUntil} of this.#hosts.values()) {
      if (waiting.length > 0 && pausedUntil > now) paused += 1;
    }
    return paused;
  }

  /** Waits for room. False if the host was set aside, or everything has ended. */
  async offer(host: string, item: Item): Promise<boolean> {
    while (this.#waiting >= this.#settings.room && !this.#stopped) {
      await new Promise<void>(resolve => this.#offerers.push(resolve));
    }
    const found = this.#host(host);
    if (this.#stopped || found.setAside) return false;
    found.waiting.push(item);
    this.#waiting += 1;
    this.#settle(found);
    return true;
  }

  /** Nothing more will be offered. */
  close(): void {
    this.#closed = true;
    this.#serve();
  }

  /** The next item whose host may be asked; `undefined` when none is left. Each one taken needs a `done`. */
  take(): Promise<Taken<Item> | undefined> {
    return new Promise(resolve => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  /** An item that was taken is finished with. `asked` is false if its host was not disturbed at all. */
  done(name: string, asked: boolean): void {
    const host = this.#host(name);
    host.active -= 1;
    this.#active -= 1;
    if (asked) host.refusals = 0;
    else host.nextStart = 0;
    this.#settle(host);
  }

  /**
   * An item that was taken met a refusal: its host is left alone for a time. With `again`, the item waits
   * for another turn. Says how often the host has refused in a row; refusals of items that were under way
   * together count once.
   */
  refused(name: string, pauseMs: number, again: Item | undefined): number {
    const host = this.#host(name);
    const now = this.#settings.clock.monotonic();
    if (host.pausedUntil <= now) host.refusals += 1;
    host.pausedUntil = Math.max(host.pausedUntil, now + pauseMs);
    host.active -= 1;
    this.#active -= 1;
    if (again !== undefined) {
      host.waiting.unshift(again);
      this.#waiting += 1;
    }
    this.#settle(host);
    return host.refusals;
  }

  hasSetAside(name: string): boolean {
    return this.#hosts.get(name)?.setAside === true;
  }

  /** Gives a host up: what waits for it is dropped, and what is offered later refused. Says how many were dropped. */
  setAside(name: string): number {
    const host = this.#host(name);
    host.setAside = true;
    const dropped = host.waiting.splice(0).length;
    this.#waiting -= dropped;
    this.#settle(host);
    return dropped;
  }

  /** Nothing is handed out any more, and no timer is left. */
  stop(): void {
    this.#stopped = true;
    for (const host of this.#hosts.values()) host.cancelTimer?.();
    this.#serve();
  }

  #host(name: string): Host<Item> {
    const known = this.#hosts.get(name);
    if (known) return known;
    const host: Host<Item> = {
      name,
      waiting: [],
      active: 0,
      nextStart: 0,
      pausedUntil: 0,
      refusals: 0,
      setAside: false,
      cancelTimer: undefined,
    };
    this.#hosts.set(name, host);
    return host;
  }

  /** Puts a host where it belongs after a change: among the ready, to sleep, or away. */
  #settle(host: Host<Item>): void {
    this.#place(host);
    this.#serve();
  }

  #place(host: Host<Item>): void {
    const {clock, perHost} = this.#settings;
    host.cancelTimer?.();
    host.cancelTimer = undefined;
    this.#ready.delete(host);
    if (this.#stopped || host.setAside) return;
    const wait = Math.max(host.nextStart, host.pausedUntil) - clock.monotonic();
    if (wait > 0) host.cancelTimer = clock.after(Math.ceil(wait), () => this.#settle(host));
    else if (host.waiting.length > 0 && host.active < perHost) this.#ready.add(host);
    // A host that nothing is known about any more takes no memory.
    else if (host.waiting.length === 0 && host.active === 0) this.#hosts.delete(host.name);
  }

  #serve(): void {
    while (this.#takers.length > 0) {
      const [host] = this.#ready;
      const item = this.#stopped ? undefined : host?.waiting.shift();
      if (host === undefined || item === undefined) break;
      host.active += 1;
      this.#active += 1;
      this.#waiting -= 1;
      host.nextStart = this.#settings.clock.monotonic() + this.#settings.delayMs;
      this.#place(host);
      this.#takers.shift()?.({host: host.name, item});
    }
    if (this.#waiting < this.#settings.room || this.#stopped) {
      for (const wake of this.#offerers.splice(0)) wake();
    }
    const over = this.#closed && this.#waiting === 0 && this.#active === 0;
    if (!over && !this.#stopped) return;
    for (const host of this.#hosts.values()) host.cancelTimer?.();
    for (const take of this.#takers.splice(0)) take(undefined);
  }
}
