import {ConfigError} from '../config/config-error.ts';
import {type LoadedConfig, loadConfig} from '../config/load-config.ts';
import type {Log} from '../core/log.ts';
import type {CommandContext} from './command.ts';
import {type Console, styled} from './console.ts';
import {jsonLog, LOG_LEVELS} from './json-log.ts';
import {printable} from './printable.ts';
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
  const {checkConfig} = await import('../create-toolbox/check-config.ts');
  const problems = checkConfig(loaded.value.config);
  if (problems.length > 0) throw new ConfigError(problems);
  const isForPerson = flags['log-level'] === undefined && console.errInteractive;
  const log = jsonLog(console.err, level);
  return {resolved: loaded.value, log: isForPerson ? withWarnings(log, console) : log};
}

/** FR-WF-05b: what a configuration says otherwise than it is used is for the person at the terminal, too. */
function withWarnings(log: Log, console: Console): Log {
  return event => {
    if (event.event !== 'config_warning') return log(event);
    console.err(`${styled(console, 'yellow', 'Warning:')} ${printable(event.message ?? '')}\n`);
  };
}
