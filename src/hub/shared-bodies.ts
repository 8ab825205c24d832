// Makes each body once for all replicas. One replica fetches, the others wait for it and check what comes.
import {createHash} from 'node:crypto';
import type {Clock} from '../core/clock.ts';
import type {SharedBodies as Bodies, Obtained, ObtainTerms, Turn} from '../core/replicas.ts';
import {END, OBTAIN, PUT, RENEW} from './body-scripts.ts';
import type {HubConnection} from './connection.ts';
import type {HubSettings} from './options.ts';
import type {HubValue} from './redis-client.ts';

const SHARDS = 16;
const TURN_MS = 15_000;
/** A message may get lost, so it is looked after that too. */
const LOOK_MS = 1000;
/** Whatever the engine says, it is not asked more often. */
const LEAST_LOOK_MS = 50;
/** Of one body. A larger page is not shared. */
const LARGEST = 8_388_608;

type Settings = Pick<HubSettings, 'budget_ms' | 'max_bytes' | 'required'>;
type Ending = 'stored' | 'none';

/** Bodies by name, of which each is made once for all replicas. What comes out is a stranger's: check it. */
export class SharedBodies implements Bodies {
  readonly #hub: HubConnection;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #listening = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, Set<(ending: Ending) => void>>();
  readonly #turns = new Set<() => Promise<void>>();
  readonly #shardBytes: number;
  readonly #largest: number;

  constructor(hub: HubConnection, settings: Settings, owner: string, clock: Clock) {
    this.#hub = hub;
    this.#settings = settings;
    this.#owner = owner;
    this.#clock = clock;
    this.#shardBytes = Math.floor(settings.max_bytes / SHARDS);
    this.#largest = Math.min(LARGEST, Math.floor(this.#shardBytes / 4));
  }

  async obtain(what: string, terms: ObtainTerms): Promise<Obtained> {
    const {signal, waitMs, above = 0, anew = false} = terms;
    const place = this.#placeOf(what);
    const deadline = this.#clock.monotonic() + waitMs;
    for (;;) {
      // Listened for before it is asked, so that no ending comes between.
      const hearing = this.#hear(place.name);
      try {
        const answer = await this.#ask(place, above, anew);
        if (answer.kind !== 'follow') return answer;
        await this.#listen(place.shard);
        const lookMs = Math.max(LEAST_LOOK_MS, Math.min(answer.heldMs, LOOK_MS));
        const leftMs = Math.min(lookMs, deadline - this.#clock.monotonic());
        if (signal.aborted || leftMs <= 0) return {kind: 'alone', unavailable: false};
        // What nobody could store is made by each: to take turns would only be slower.
        if ((await this.#wait(hearing.ending, leftMs, signal)) === 'none')
          return {kind: 'alone', unavailable: false};
      } finally {
        hearing.leave();
      }
    }
  }

  /** Ends the turns that are still held. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#turns, end => end()));
  }

  async #ask(
    place: Place,
    above: number,
    anew: boolean,
  ): Promise<Obtained | {readonly kind: 'follow'; readonly heldMs: number}> {
    const {body, turn, lru, fence} = place;
    const running = this.#hub.runBuffers(
      OBTAIN,
      [body, turn, lru, fence],
      [place.name, this.#owner, TURN_MS, above, this.#largest, anew ? 1 : 0],
    );
    const late = Symbol('late');
    let cancel: () => void = () => {};
    const timer = new Promise<typeof late>(resolve => {
      cancel = this.#clock.after(this.#settings.budget_ms, () => resolve(late));
    });
    const answer = await Promise.race([running, timer]);
    cancel();
    if (answer === late) {
      // A turn that comes too late is given back, or others would wait for nothing.
      void running.then(async given => {
        const read = given.ok ? this.#read(given.value, place, anew) : undefined;
        if (read?.kind === 'turn') await read.turn.end();
      });
      return {kind: 'alone', unavailable: false};
    }
    if (answer.ok) return this.#read(answer.value, place, anew);
    return this.#settings.required
      ? {kind: 'failed', error: answer.error}
      : {kind: 'alone', unavailable: true};
  }

  #read(
    answer: HubValue<Buffer>,
    place: Place,
    anew: boolean,
  ): Obtained | {readonly kind: 'follow'; readonly heldMs: number} {
    const [kind, first, second, third] = Array.isArray(answer) ? (answer as readonly HubValue<Buffer>[]) : [];
    switch (String(kind)) {
      case 'found': {
        const fence = Number(String(second));
        if (!Buffer.isBuffer(first) || first.length > this.#largest || !(fence > 0)) break;
        return {
          kind: 'found',
          bytes: first,
          fence,
          leftMs: typeof third === 'number' ? Math.max(0, third) : 0,
        };
      }
      case 'follow':
        return {kind: 'follow', heldMs: typeof first === 'number' ? first : 0};
      case 'turn':
        return {kind: 'turn', turn: this.#turn(place, String(first), anew)};
    }
    return {kind: 'alone', unavailable: false};
  }

  #turn(place: Place, fence: string, anew: boolean): Turn {
    const mine = `${this.#owner}:${fence}`;
    let ending: Ending = 'none';
    let ended: Promise<void> | undefined;
    let cancel: () => void = () => {};
    const renew = (): void => {
      cancel = this.#clock.after(TURN_MS / 3, () => {
        if (ended) return;
        void this.#hub.run(RENEW, [place.turn], [mine, TURN_MS]);
        renew();
      });
    };
    const end = (): Promise<void> => {
      cancel();
      this.#turns.delete(end);
      ended ??= anew
        ? Promise.resolve()
        : this.#hub
            .run(END, [place.turn], [mine, this.#channel(place.shard), `${place.name}:${ending}`])
            .then(() => {});
      return ended;
    };
    if (!anew) {
      this.#turns.add(end);
      renew();
    }
    return {
      put: async (bytes, ttlMs) => {
        if (bytes.length > this.#largest || !(ttlMs >= 1)) return false;
        const {body, lru, sizes, sum, prefix, name} = place;
        const stored = await this.#hub.run(
          PUT,
          [body, lru, sizes, sum],
          [name, fence, Math.floor(ttlMs), this.#shardBytes, Buffer.from(bytes), prefix],
        );
        const isKept = stored.ok && stored.value === 1;
        if (isKept && bytes.length > 0) ending = 'stored';
        return isKept;
      },
      end,
    };
  }

  #placeOf(what: string): Place {
    const name = createHash('sha256').update(what).digest('hex');
    const shard = `s${name[0]}`;
    const key = (...parts: readonly string[]): string => this.#hub.key(shard, ...parts);
    return {
      name,
      shard,
      prefix: `${key('b')}:`,
      body: key('b', name),
      turn: key('f', name),
      lru: key('lru'),
      sizes: key('sizes'),
      sum: key('sum'),
      fence: key('fence'),
    };
  }

  #channel(shard: string): string {
    return this.#hub.key(shard, 'ends');
  }

  #listen(shard: string): Promise<unknown> {
    const known = this.#listening.get(shard);
    if (known) return known;
    const listening = this.#hub.subscribe(this.#channel(shard), message => {
      const [name = '', ending] = message.slice(0, 100).split(':');
      for (const tell of this.#waiting.get(name) ?? []) tell(ending === 'none' ? 'none' : 'stored');
    });
    this.#listening.set(shard, listening);
    return listening;
  }

  #hear(name: string): {readonly ending: Promise<Ending>; readonly leave: () => void} {
    const tellers = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, tellers);
    let teller: (ending: Ending) => void = () => {};
    const ending = new Promise<Ending>(resolve => {
      teller = resolve;
    });
    tellers.add(teller);
    return {
      ending,
      leave: () => {
        tellers.delete(teller);
        if (tellers.size === 0 && this.#waiting.get(name) === tellers) this.#waiting.delete(name);
      },
    };
  }

  async #wait(ending: Promise<Ending>, ms: number, signal: AbortSignal): Promise<Ending | undefined> {
    let wake: () => void = () => {};
    const over = new Promise<undefined>(resolve => {
      wake = () => resolve(undefined);
    });
    const cancel = this.#clock.after(Math.ceil(ms), wake);
    signal.addEventListener('abort', wake, {once: true});
    try {
      return await Promise.race([ending, over]);
    } finally {
      cancel();
      signal.removeEventListener('abort', wake);
    }
  }
}

/** Where the engine keeps what is under a name. All keys of a place lie together. */
interface Place {
  readonly name: string;
  readonly shard: string;
  readonly prefix: string;
  readonly body: string;
  readonly turn: string;
  readonly lru: string;
  readonly sizes: string;
  readonly sum: string;
  readonly fence: string;
}
