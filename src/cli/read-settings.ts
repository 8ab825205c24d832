import {ConfigError} from '../config/config-error.ts';
import {type LoadedConfig, loadConfig} from '../config/load-config.ts';
import type {Log} from '../core/log.ts';
import type {CommandContext} from './command.ts';
import {jsonLog, LOG_LEVELS} from './json-log.ts';
import {UsageError} from './usage-error.ts';

export interface SettingFlags {
  readonly config: string | undefined;
  readonly 'log-level'?: string | undefined;
}

export interface Settings {
  readonly resolved: LoadedConfig;
  readonly log: Log;
}

/** What `--config` and `--log-level` say. Throws `UsageError` and `ConfigError`. */
export async function readSettings(
  flags: SettingFlags,
  {console, environment}: CommandContext,
): Promise<Settings> {
  const wanted = flags['log-level'] ?? (console.errInteractive ? 'error' : 'info');
  const level = LOG_LEVELS.find(known => known === wanted);
  if (level === undefined) {
    throw new UsageError(`--log-level takes one of ${LOG_LEVELS.join(', ')}, got "${wanted}".`);
  }
  const loaded = await loadConfig({...environment, path: flags.config});
  if (!loaded.ok) throw new ConfigError(loaded.error);
  return {resolved: loaded.value, log: jsonLog(console.err, level)};
}
