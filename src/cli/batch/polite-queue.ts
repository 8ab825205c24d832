// The queue of a batch, in the memory of this process. It keeps the delay of each host and the pauses that hosts ask
// for.
import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {LeasedUrl, Taken} from '../toolbox-services.ts';
import {LONGEST_PAUSE_MS} from './outcome.ts';
import type {FetchQueue, PageEnd} from './worker.ts';

/** Tries of one page whose host asks for a pause, before it counts as failed. */
const MOST_ATTEMPTS = 3;
/** Pauses that a host may ask for in a row before it is set aside. */
const MOST_REFUSALS = 6;
/** A page has its own limits of time; nobody else waits for it. */
const LEASE_MS = 2 ** 31 - 1;

export interface PoliteQueueSettings {
  /** Pages of one host under way at the same time. */
  readonly perHost: number;
  /** Least time between two starts at one host. */
  readonly delayMs: number;
  /** Addresses that wait; `offer` waits for room above that. */
  readonly room: number;
  readonly clock: Clock;
  /** A host is given up: what waits for it is dropped. `pauseMs` is what it asked for last. */
  readonly onAside: (host: string, pauseMs: number) => void;
}

interface Host {
  readonly waiting: {readonly url: string; readonly attempt: number}[];
  active: number;
  nextStart: number;
  pausedUntil: number;
  /** Times in a row that it asked for a pause. */
  refusals: number;
  isAside: boolean;
}

/**
 * Hands out addresses so that no host is asked too much at once, too often, or while it has asked for a pause.
 * Hosts take turns; what is ready is never held up by what is not. Times are those of the clock.
 */
export class PoliteQueue implements FetchQueue {
  readonly #settings: PoliteQueueSettings;
  /** In the order of their turns. */
  readonly #hosts = new Map<string, Host>();
  readonly #offerers: (() => void)[] = [];
  #more: () => void = () => {};
  #waiting = 0;
  #active = 0;
  #isClosed = false;

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
    return [...this.#hosts.values()].filter(host => host.waiting.length > 0 && host.pausedUntil > now).length;
  }

  onMore(look: () => void): void {
    this.#more = look;
  }

  /** Waits for room. What is offered for a host that was given up is dropped. */
  async offer(name: string, url: string): Promise<void> {
    while (this.#waiting >= this.#settings.room && !this.#isClosed) {
      await new Promise<void>(resolve => this.#offerers.push(resolve));
    }
    const host = this.#host(name);
    if (this.#isClosed || host.isAside) return;
    host.waiting.push({url, attempt: 1});
    this.#waiting += 1;
    this.#more();
  }

  /** Nothing more will be offered. */
  close(): void {
    this.#isClosed = true;
    this.#admit();
    this.#more();
  }

  async take(most: number): Promise<Result<Taken>> {
    const {clock, perHost, delayMs} = this.#settings;
    const now = clock.monotonic();
    const urls: LeasedUrl[] = [];
    let waitMs = Number.POSITIVE_INFINITY;
    // A host that was served moves to the end, where this loop meets it again.
    for (const [name, host] of this.#hosts) {
      if (urls.length === most) break;
      if (host.isAside) continue;
      const wait = Math.max(host.nextStart, host.pausedUntil) - now;
      if (wait > 0) waitMs = Math.min(waitMs, wait);
      // A host that nothing is known about any more takes no memory.
      else if (host.waiting.length === 0 && host.active === 0) this.#hosts.delete(name);
      if (wait > 0 || host.active >= perHost) continue;
      const next = host.waiting.shift();
      if (next === undefined) continue;
      this.#hosts.delete(name);
      this.#hosts.set(name, host);
      host.active += 1;
      host.nextStart = now + delayMs;
      this.#active += 1;
      this.#waiting -= 1;
      urls.push({
        ...{...next, host: name, depth: 0, epoch: '', fence: 0},
        get aside() {
          return host.isAside;
        },
      });
    }
    this.#admit();
    const isOver = this.#isClosed && this.#waiting === 0 && this.#active === 0;
    const terms = {leaseMs: LEASE_MS, depth: 0, tries: MOST_ATTEMPTS, sameSite: false};
    return ok({state: isOver ? 'finished' : 'running', waitMs, now: clock.now(), terms, urls});
  }

  /** Refusals of pages that were under way together count once. One that is tried again waits first in line. */
  async finish(ends: readonly PageEnd[]): Promise<Result<readonly boolean[]>> {
    const now = this.#settings.clock.monotonic();
    for (const {leased, outcome, refusalMs, asked} of ends) {
      const host = this.#host(leased.host);
      host.active -= 1;
      this.#active -= 1;
      if (refusalMs === undefined) {
        if (asked) host.refusals = 0;
        else host.nextStart = 0;
        continue;
      }
      if (host.pausedUntil <= now) host.refusals += 1;
      host.pausedUntil = Math.max(host.pausedUntil, now + Math.min(refusalMs, LONGEST_PAUSE_MS));
      if (outcome === 'again' && !host.isAside) {
        host.waiting.unshift({url: leased.url, attempt: leased.attempt + 1});
        this.#waiting += 1;
      }
      if (host.isAside || (outcome !== 'aside' && host.refusals < MOST_REFUSALS)) continue;
      host.isAside = true;
      this.#waiting -= host.waiting.splice(0).length;
      this.#settings.onAside(leased.host, refusalMs);
    }
    this.#admit();
    this.#more();
    return ok(ends.map(() => true));
  }

  #host(name: string): Host {
    const known = this.#hosts.get(name);
    if (known) return known;
    const host = {waiting: [], active: 0, nextStart: 0, pausedUntil: 0, refusals: 0, isAside: false};
    this.#hosts.set(name, host);
    return host;
  }

  #admit(): void {
    if (this.#waiting >= this.#settings.room && !this.#isClosed) return;
    for (const wake of this.#offerers.splice(0)) wake();
  }
}
