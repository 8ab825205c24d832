// Answers a balancer and a monitor: `/healthz`, `/readyz` and `/metrics`.
import type {IncomingMessage} from 'node:http';
import {isIPv4, isIPv6} from 'node:net';
import type {Clock} from '../../core/clock.ts';
import {gauge, type Metric, metricText} from '../metrics.ts';
import {carriesToken} from './access.ts';

export interface PlainAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

interface ReplicaDeps {
  readonly token: string;
  /** Whether a `Host` is one of the names that are served. */
  readonly isOurHost: (host: string | undefined) => boolean;
  readonly metrics: () => readonly Metric[];
  /** Exchanges, those among them that are no standing streams, and sessions of older revisions. */
  readonly open: () => number;
  readonly underWay: () => number;
  readonly sessions: () => number;
  readonly clock: Clock;
}

/** Whoever looks at `/readyz` looks again within this; else it has gone. */
const NOTICE_MS = 5000;
const TEXT = 'text/plain; charset=utf-8';

/** What a balancer and a monitor ask of one replica of several. */
export class ReplicaState {
  readonly #deps: ReplicaDeps;
  readonly #statuses = new Map<number, number>();
  #draining = false;
  #isWatched = false;
  #onNoticed: () => void = () => {};
  #onIdle: () => void = () => {};

  constructor(deps: ReplicaDeps) {
    this.#deps = deps;
  }

  /**
   * `/healthz` and `/readyz` say a word to everyone but web pages (`isOurHost` knows the names), `/metrics` more to who has the token. `undefined` for
   * what is none of them.
   */
  answer({url, method, headers}: IncomingMessage): PlainAnswer | undefined {
    const path = url?.split('?', 1)[0];
    if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return undefined;
    // A browser says where a request comes from; nothing else that asks here is one.
    if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
      return plain(403, 'forbidden');
    // After DNS rebinding it does not say so; but then the page has a name. Balancers call by address, or send no name.
    if (path !== '/metrics' && !isAddress(headers.host) && !this.#deps.isOurHost(headers.host))
      return plain(421, 'add this host name to the allowed hosts of the server');
    if (method !== 'GET' && method !== 'HEAD') return plain(405, 'use GET');
    if (path === '/healthz') return plain(200, 'ok');
    if (path === '/readyz') {
      this.#isWatched = true;
      if (!this.#draining) return plain(200, 'ready');
      this.#onNoticed();
      return plain(503, 'draining');
    }
    if (!carriesToken(headers.authorization, this.#deps.token))
      return plain(401, 'the token of this server is needed');
    return {status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: metricText(this.#metrics())};
  }

  /** An answer of the service itself was sent. */
  countAnswer(status: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }

  /** An exchange has ended, or is a standing stream. */
  ended(): void {
    if (this.#deps.underWay() === 0) this.#onIdle();
  }

  /**
   * From now on this replica is not ready, and goes on serving. Resolves when nothing is under way and whoever watches
   * had the time to see it, or after `limitMs`.
   */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    if (limitMs <= 0) return;
    const {clock, underWay} = this.#deps;
    let cancel: () => void = () => {};
    const limit = new Promise<void>(resolve => {
      cancel = clock.after(limitMs, resolve);
    });
    const noticed = new Promise<void>(resolve => {
      this.#onNoticed = resolve;
      if (!this.#isWatched) resolve();
    });
    const waited = clock.after(NOTICE_MS, () => this.#onNoticed());
    const quiet = async (): Promise<void> => {
      await noticed;
      while (underWay() > 0) {
        await new Promise<void>(resolve => {
          this.#onIdle = resolve;
        });
      }
    };
    await Promise.race([limit, quiet()]);
    cancel();
    waited();
  }

  #metrics(): readonly Metric[] {
    const {metrics, open, sessions} = this.#deps;
    return [
      ...metrics(),
      {
        name: 'forge_tools_http_answers_total',
        type: 'counter',
        help: 'Answers of the service, by status.',
        samples: [...this.#statuses].map(([status, value]) => ({labels: {status: String(status)}, value})),
      },
      gauge('forge_tools_http_open', 'Exchanges under way, open streams included.', open()),
      gauge('forge_tools_legacy_sessions', 'Sessions of clients that began with initialize.', sessions()),
      gauge('forge_tools_draining', '1 once this replica takes its leave.', this.#draining ? 1 : 0),
      gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
    ];
  }
}

function isAddress(host: string | undefined): boolean {
  if (host === undefined) return true;
  const [, inBrackets, name = ''] = /^(?:\[(.*)\]|([^:]*))(?::\d+)?$/.exec(host) ?? [];
  return inBrackets === undefined ? isIPv4(name) : isIPv6(inBrackets);
}

function plain(status: number, word: string): PlainAnswer {
  return {status, type: TEXT, text: `${word}\n`};
}
