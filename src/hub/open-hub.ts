import type {Failure} from '../core/failure/failure.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import {type HubConnection, type HubDeps, openHubConnection} from './connection.ts';
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
