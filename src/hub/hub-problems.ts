import {createRequire} from 'node:module';
import {readAddress} from './engine-address.ts';
import type {HubSettings} from './options.ts';

/** Sentences about what stops start-up. Loads nothing. */
export function hubProblems(
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
