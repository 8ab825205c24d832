import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {ok, type Result} from '../core/result.ts';
import {type HubDeps, openHubConnection} from './connection.ts';
import {readIdentity} from './epoch.ts';
import type {HubSettings} from './options.ts';

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
