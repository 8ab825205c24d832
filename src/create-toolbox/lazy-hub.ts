import {ConfigError} from '../config/config-error.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {HostGate} from '../core/replicas/host-gate.ts';
import type {SharedBodies} from '../core/replicas/shared-bodies.ts';
import {hubProblems} from '../hub/hub-problems.ts';
import type {HubSettings} from '../hub/options.ts';

export interface LazyHub {
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
