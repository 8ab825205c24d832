// Decides which replica may ask which host when. While the shared server is gone, each replica keeps to its share
// of the limits.
import type {Clock} from '../core/clock.ts';
import type {EnterTerms, HostGate as Gate, HostLease} from '../core/replicas.ts';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import type {HubConnection} from './connection.ts';
import {ENTER, LEAVE} from './host-scripts.ts';
import type {HubSettings} from './options.ts';

type Settings = Pick<HubSettings, 'max_per_host' | 'host_gap_ms' | 'required'>;

interface Host {
  /** The end of the line: only the first asks the engine. */
  line: Promise<unknown>;
  inLine: number;
  active: number;
  nextStart: number;
  pausedUntil: number;
}

const FIRST_LOOK_MS = 4;
const LONGEST_LOOK_MS = 64;
/** Longer than this no host is left alone. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Which replica may ask which host when. The engine decides; while it is gone, each replica takes its part of the
 * limits, by how many there were.
 */
export class HostGate implements Gate {
  readonly #hub: HubConnection;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #replicas: () => number;
  readonly #leaseName: () => string;
  readonly #hosts = new Map<string, Host>();
  readonly #leaving = new Set<Promise<unknown>>();

  constructor(
    hub: HubConnection,
    settings: Settings,
    deps: {readonly clock: Clock; readonly replicas: () => number; readonly owner: string},
  ) {
    this.#hub = hub;
    this.#settings = settings;
    this.#clock = deps.clock;
    this.#replicas = deps.replicas;
    let leases = 0;
    this.#leaseName = () => {
      leases += 1;
      return `${deps.owner}:${leases}`;
    };
  }

  /** Waits until the host may be asked. Fails with `host_busy`, `cancelled`, or `hub_unavailable` where it is required. */
  async enter(name: string, terms: EnterTerms): Promise<Result<HostLease>> {
    const host = this.#host(name);
    const deadline = this.#clock.monotonic() + terms.waitMs;
    host.inLine += 1;
    const before = host.line;
    let step: () => void = () => {};
    host.line = new Promise<void>(resolve => {
      step = resolve;
    });
    try {
      const isOurTurn = await this.#until(before, deadline, terms.signal);
      if (!isOurTurn) return this.#gaveUp(name, host, terms.signal);
      return await this.#enter(name, host, deadline, terms);
    } finally {
      host.inLine -= 1;
      // Whoever left the line early must not let those behind pass those before.
      void before.then(step);
      this.#forget(name, host);
    }
  }

  /** Waits until the engine knows of those that have left. */
  async close(): Promise<void> {
    await Promise.all(this.#leaving);
  }

  async #enter(
    name: string,
    host: Host,
    deadline: number,
    {signal, leaseMs}: EnterTerms,
  ): Promise<Result<HostLease>> {
    const {max_per_host: most, host_gap_ms: gap, required} = this.#settings;
    let lookMs = FIRST_LOOK_MS;
    for (;;) {
      if (signal.aborted) return this.#gaveUp(name, host, signal);
      const lease = this.#leaseName();
      // What was asked while the engine was gone counts in any case.
      const ownWait = Math.max(host.nextStart, host.pausedUntil) - this.#clock.monotonic();
      const answer =
        ownWait > 0
          ? undefined
          : await this.#hub.run(ENTER, this.#keys(name), [most, gap, Math.ceil(leaseMs), lease]);
      let wait: Wait | undefined;
      if (answer === undefined)
        wait = {ms: ownWait, why: host.pausedUntil > host.nextStart ? 'pause' : 'gap'};
      else if (answer.ok) wait = readWait(answer.value);
      else if (required) return answer;
      else wait = this.#waitAlone(host);
      if (wait === undefined) {
        const unavailable = answer !== undefined && !answer.ok;
        // Without the engine, this replica keeps its part of the limits. What it asked before counts then.
        host.nextStart = this.#clock.monotonic() + gap * (unavailable ? this.#replicas() : 1);
        return ok(this.#lease(name, host, lease, unavailable));
      }
      const left = deadline - this.#clock.monotonic();
      if (left <= 0 || (wait.why !== 'busy' && wait.ms > left)) return busy(name, wait);
      // A place may become free before the lease of whoever has it is over.
      const ms = wait.why === 'busy' ? Math.min(wait.ms, lookMs) : wait.ms;
      if (wait.why === 'busy') lookMs = Math.min(2 * lookMs, LONGEST_LOOK_MS);
      await this.#sleep(Math.min(ms, left), signal);
    }
  }

  #waitAlone(host: Host): Wait | undefined {
    const most = Math.max(1, Math.floor(this.#settings.max_per_host / this.#replicas()));
    return host.active >= most ? {ms: LONGEST_LOOK_MS, why: 'busy'} : undefined;
  }

  #lease(name: string, host: Host, lease: string, unavailable: boolean): HostLease {
    host.active += 1;
    let hasLeft = false;
    return {
      unavailable,
      leave: (pauseMs = 0) => {
        if (hasLeft) return;
        hasLeft = true;
        host.active -= 1;
        const pause = Math.min(Math.max(0, pauseMs), LONGEST_PAUSE_MS);
        if (pause > 0) host.pausedUntil = Math.max(host.pausedUntil, this.#clock.monotonic() + pause);
        this.#forget(name, host);
        const leaving = this.#hub.run(LEAVE, this.#keys(name).slice(0, 2), [lease, Math.ceil(pause)]);
        this.#leaving.add(leaving);
        void leaving.then(() => this.#leaving.delete(leaving));
      },
    };
  }

  #keys(host: string): readonly string[] {
    return [this.#hub.key('g', 'h', host), this.#hub.key('g', 'hl', host), this.#hub.key('g', 'epoch')];
  }

  #host(name: string): Host {
    const known = this.#hosts.get(name);
    if (known) return known;
    const host: Host = {line: Promise.resolve(), inLine: 0, active: 0, nextStart: 0, pausedUntil: 0};
    this.#hosts.set(name, host);
    return host;
  }

  /** A host that nothing is known about any more takes no memory. */
  #forget(name: string, host: Host): void {
    if (host.inLine > 0 || host.active > 0) return;
    const wait = Math.max(host.nextStart, host.pausedUntil) - this.#clock.monotonic();
    // One that is still to be left alone goes with the next one that is: the map is looked through then.
    if (wait <= 0) this.#hosts.delete(name);
    else if (this.#hosts.size > MOST_HOSTS) this.#forgetIdle();
  }

  #forgetIdle(): void {
    const now = this.#clock.monotonic();
    for (const [name, {inLine, active, nextStart, pausedUntil}] of this.#hosts) {
      if (inLine === 0 && active === 0 && Math.max(nextStart, pausedUntil) <= now) this.#hosts.delete(name);
    }
  }

  #gaveUp(name: string, host: Host, signal: AbortSignal): Err<Failure> {
    if (signal.aborted)
      return fail('cancelled', `The call was cancelled while it waited for ${name}.`, {phase: 'host'});
    return busy(name, {ms: Math.max(1000, host.pausedUntil - this.#clock.monotonic()), why: 'busy'});
  }

  /** Whether it came before the deadline and the cancellation. */
  async #until(work: Promise<unknown>, deadline: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    let give: () => void = () => {};
    const over = new Promise<false>(resolve => {
      give = () => resolve(false);
    });
    const cancel = this.#clock.after(Math.max(0, Math.ceil(deadline - this.#clock.monotonic())), give);
    signal.addEventListener('abort', give, {once: true});
    try {
      return await Promise.race([work.then(() => true), over]);
    } finally {
      cancel();
      signal.removeEventListener('abort', give);
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#until(new Promise(() => {}), this.#clock.monotonic() + Math.max(1, ms), signal);
  }
}

const MOST_HOSTS = 10_000;

interface Wait {
  readonly ms: number;
  readonly why: 'gap' | 'pause' | 'busy';
}

/** `undefined` stands for go. What is neither is waited for and asked again. */
function readWait(answer: unknown): Wait | undefined {
  const [kind, ms, why] = Array.isArray(answer) ? answer : [];
  if (kind === 'go') return undefined;
  return {
    ms: typeof ms === 'number' && ms >= 1 ? Math.min(ms, LONGEST_PAUSE_MS) : LONGEST_LOOK_MS,
    why: why === 'pause' || why === 'gap' ? why : 'busy',
  };
}

function busy(host: string, {ms, why}: Wait): Err<Failure> {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return fail(
    'host_busy',
    why === 'pause'
      ? `${host} has asked to be left alone, and ${seconds} s of that are left. Retry then.`
      : `${host} was kept busy by other fetches for the whole time. Retry later.`,
    {host, reason: why, retry_after: String(seconds)},
  );
}
