// Opens the shared server of several machines, where one is configured.
import {createRequire} from 'node:module';
import {ConfigError} from '../config/config-error.ts';
import {type Clock, systemClock} from '../core/clock.ts';
import {type Log, silentLog} from '../core/log.ts';
import type {HostGate, SharedBodies} from '../core/replicas.ts';
import {readAddress} from '../hub/engine-address.ts';
import type {HubSettings} from '../hub/options.ts';
import type {Probe} from '../tools/probe-dependencies.ts';

interface LazyHub {
  /** Opens it. `undefined` where nothing is shared. */
  readonly replicas: (() => Promise<{readonly bodies: SharedBodies; readonly hosts: HostGate}>) | undefined;
  readonly close: () => Promise<void>;
}

/** Ruling S1: without `tools.hub.url` nothing of the hub is loaded. Throws `ConfigError` where it cannot be used. */
export function lazyHub(
  settings: HubSettings,
  deps: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly clock: Clock;
    readonly log: Log;
  },
): LazyHub {
  const problems = hubProblems(settings, deps.env);
  if (problems.length > 0) throw new ConfigError(problems);
  if (settings.url === '') return {replicas: undefined, close: async () => {}};
  const open = () => import('../hub/open-hub.ts').then(({openHub}) => openHub(settings, deps));
  let opening: ReturnType<typeof open> | undefined;
  return {
    async replicas() {
      opening ??= open();
      const opened = await opening;
      if (opened.ok) return opened.value;
      // What start-up found is there no more. Nothing is fetched past limits that cannot be kept.
      const {error} = opened;
      return {
        bodies: {obtain: async () => ({kind: 'failed', error})},
        hosts: {enter: async () => ({ok: false, error})},
      };
    },
    async close() {
      const opened = await opening;
      if (opened?.ok) await opened.value.close();
    },
  };
}

const ABOUT = {
  name: 'Hub',
  neededFor: 'each replica has its own page cache, and its part of the limits on hosts',
  remedy: 'start the server that tools.hub.url names, and read docs/scale.md',
};

/** For `doctor`: the engine, where one is configured. */
export async function tryHub(
  settings: HubSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Probe[]> {
  if (settings.url === '') return [];
  const broken = (detail: string): readonly Probe[] => [
    {...ABOUT, state: 'broken', version: undefined, detail},
  ];
  const wrong = hubProblems(settings, env);
  if (wrong.length > 0) return broken(wrong.join(' '));
  const {probeHub} = await import('../hub/open-hub.ts');
  const probed = await probeHub(settings, {env, clock: systemClock, log: silentLog});
  if (!probed.ok) return broken(probed.error.message);
  const {version, latencyMs, problems} = probed.value;
  const detail = problems.length > 0 ? problems.join('; ') : `round trip ${latencyMs.toFixed(1)} ms`;
  return [{...ABOUT, state: problems.length > 0 ? 'broken' : 'ok', version, detail}];
}

/** Sentences about what stops start-up. Loads nothing. */
function hubProblems(
  settings: HubSettings,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (settings.url === '') return settings.required ? ['tools.hub.required needs tools.hub.url.'] : [];
  const address = readAddress(settings, env);
  if (!address.ok) return address.error;
  try {
    createRequire(import.meta.url).resolve('@redis/client');
    return [];
  } catch {
    return ['tools.hub.url needs the package "@redis/client". Install it beside forge-tools.'];
  }
}
