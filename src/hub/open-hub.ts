// Opens what replicas share: bodies, hosts and queues. `probeHub` says for `doctor` whether the server will do.
import {randomHex} from '../core/clock.ts';
import {type Failure, fail, ok, type Result} from '../core/result.ts';
import {type HubConnection, type HubDeps, openHubConnection, readIdentity} from './connection.ts';
import {HostGate} from './host-gate.ts';
import {BEAT} from './host-scripts.ts';
import type {HubSettings} from './options.ts';
import {SharedBodies} from './shared-bodies.ts';

/** What a replica shares with others. */
export interface Hub {
  readonly connection: HubConnection;
  readonly bodies: SharedBodies;
  readonly hosts: HostGate;
  /** How many replicas there are, as far as it is known. At least one. */
  readonly replicas: () => number;
  readonly close: () => Promise<void>;
}

const BEAT_MS = 5000;
const FORGOTTEN_MS = 20_000;
/** An engine that says more is not believed: its word would slow everything down. */
const MOST_REPLICAS = 1000;

/** Fails as `openHubConnection` does. */
export async function openHub(settings: HubSettings, deps: HubDeps): Promise<Result<Hub, Failure>> {
  const opened = await openHubConnection(settings, deps);
  if (!opened.ok) return opened;
  const connection = opened.value;
  const owner = randomHex(8);
  const {clock} = deps;
  let replicas = 1;
  let isClosed = false;
  let cancel: () => void = () => {};
  const beat = async (): Promise<void> => {
    const count = await connection.run(BEAT, [connection.key('g', 'fleet')], [owner, FORGOTTEN_MS]);
    if (count.ok && typeof count.value === 'number')
      replicas = Math.max(1, Math.min(count.value, MOST_REPLICAS));
    if (!isClosed) cancel = clock.after(BEAT_MS, () => void beat());
  };
  await beat();
  const bodies = new SharedBodies(connection, settings, owner, clock);
  const hosts = new HostGate(connection, settings, {clock, owner, replicas: () => replicas});
  return ok({
    connection,
    bodies,
    hosts,
    replicas: () => replicas,
    close: async () => {
      isClosed = true;
      cancel();
      await bodies.close();
      await hosts.close();
      await connection.run(BEAT, [connection.key('g', 'fleet')], [owner, 0], {timeoutMs: 500});
      await connection.close();
    },
  });
}

export interface HubProbe {
  readonly version: string;
  /** Of the slowest of some round trips. */
  readonly latencyMs: number;
  /** What keeps it from serving well, each with what to do. */
  readonly problems: readonly string[];
}

const ROUND_TRIPS = 10;
const LEAST_MAJOR = 7;
const SLOW_MS = 50;
const INFO = {name: 'info', lua: "return {redis.call('INFO', 'server'), redis.call('INFO', 'memory')}"};
const NOTHING = {name: 'ping', lua: 'return 1'};

/** For `doctor`: whether the engine can be reached, is new enough, removes nothing by itself, and is near. */
export async function probeHub(settings: HubSettings, deps: HubDeps): Promise<Result<HubProbe, Failure>> {
  const opened = await openHubConnection(settings, deps);
  if (!opened.ok) return opened;
  const hub = opened.value;
  try {
    const told = await hub.run(INFO, [], []);
    if (!told.ok) return told;
    const [server, memory] = Array.isArray(told.value) ? told.value : [];
    const {version} = readIdentity(server);
    let latencyMs = 0;
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
      const start = deps.clock.monotonic();
      const answer = await hub.run(NOTHING, [], []);
      if (!answer.ok) return answer;
      latencyMs = Math.max(latencyMs, deps.clock.monotonic() - start);
    }
    return ok({version, latencyMs, problems: problemsOf(version, memory, latencyMs, settings)});
  } catch {
    return fail('hub_unavailable', 'The hub answered with something that is none of its answers.', {
      error: 'answer',
    });
  } finally {
    await hub.close();
  }
}

function problemsOf(
  version: string,
  memory: unknown,
  latencyMs: number,
  {max_bytes: most}: HubSettings,
): readonly string[] {
  const text = typeof memory === 'string' ? memory.slice(0, 100_000) : '';
  const policy = /^maxmemory_policy:([a-z-]{1,30})\r?$/m.exec(text)?.[1];
  const limit = Number(/^maxmemory:(\d{1,15})\r?$/m.exec(text)?.[1] ?? 0);
  const problems: string[] = [];
  if (version !== 'unknown' && Number(version.split('.')[0]) < LEAST_MAJOR) {
    problems.push(`its version is ${version}; take 7.0 or later`);
  }
  if (policy !== undefined && policy !== 'noeviction') {
    problems.push(
      `maxmemory-policy is ${policy}, which removes limits and leases when memory runs short; set it to noeviction`,
    );
  }
  if (limit > 0 && limit < 2 * most) {
    problems.push(
      `maxmemory is ${limit}, less than twice tools.hub.max_bytes (${most}); raise it, or lower that`,
    );
  }
  if (latencyMs > SLOW_MS) {
    problems.push(`a round trip took ${Math.round(latencyMs)} ms; have it nearer, or less busy`);
  }
  return problems;
}
