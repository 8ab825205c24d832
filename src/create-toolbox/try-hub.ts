import {systemClock} from '../core/clock.ts';
import {silentLog} from '../core/log.ts';
import {hubProblems} from '../hub/hub-problems.ts';
import type {HubSettings} from '../hub/options.ts';
import type {Probe} from '../tools/probe-dependencies.ts';

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
  const {probeHub} = await import('../hub/probe-hub.ts');
  const probed = await probeHub(settings, {env, clock: systemClock, log: silentLog});
  if (!probed.ok) return broken(probed.error.message);
  const {version, latencyMs, problems} = probed.value;
  const detail = problems.length > 0 ? problems.join('; ') : `round trip ${latencyMs.toFixed(1)} ms`;
  return [{...ABOUT, state: problems.length > 0 ? 'broken' : 'ok', version, detail}];
}
