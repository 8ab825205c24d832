// Reads the configuration of a command, and makes its log.
import {ConfigError} from '../config/config-error.ts';
import type {Config} from '../config/config-schema.ts';
import {type LoadedConfig, loadConfig} from '../config/load-config.ts';
import type {Profile} from '../config/profiles.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import type {Log} from '../core/log.ts';
import type {CommandContext} from './command.ts';
import {type Console, jsonLog, LOG_LEVELS, printable, styled} from './console.ts';
import {UsageError} from './flags.ts';

export interface SettingFlags {
  readonly config: string | undefined;
  readonly 'log-level'?: string | undefined;
  readonly profile?: Profile | undefined;
  /** R2: instead of what the configuration says, for fetching and reading alike. */
  readonly mode?: 'full' | 'reader' | undefined;
}

export interface Settings {
  readonly resolved: LoadedConfig;
  readonly log: Log;
  /** Standard error is a log that programs read: everything on it is a JSON line. */
  readonly isLogged: boolean;
}

/**
 * What `--config`, `--profile` and `--log-level` say. Who types a command reads sentences, in a script too; a
 * `service` that a program started writes a log. Throws `UsageError` and `ConfigError`.
 */
export async function readSettings(
  flags: SettingFlags,
  {console, environment}: CommandContext,
  {service = false}: {readonly service?: boolean} = {},
): Promise<Settings> {
  const isLogged = flags['log-level'] !== undefined || (service && !console.errInteractive);
  const wanted = flags['log-level'] ?? (isLogged ? 'info' : 'error');
  const level = LOG_LEVELS.find(known => known === wanted);
  if (level === undefined) {
    throw new UsageError(`--log-level takes one of ${LOG_LEVELS.join(', ')}, got "${wanted}".`);
  }
  const loaded = await loadConfig({...environment, path: flags.config, profile: flags.profile});
  if (!loaded.ok) throw new ConfigError(loaded.error);
  const {checkConfig} = await import('../create-toolbox/check-config.ts');
  const problems = checkConfig(loaded.value.config);
  if (problems.length > 0) throw new ConfigError(problems);
  const log = jsonLog(console.err, level);
  const resolved = {...loaded.value, config: withMode(loaded.value.config, flags.mode)};
  return {resolved, log: isLogged ? log : withWarnings(log, console), isLogged};
}

function withMode(config: Config, mode: SettingFlags['mode']): Config {
  if (mode === undefined) return config;
  const {webfetch, webread} = config.tools;
  const extraction = {...webfetch.extraction, mode};
  return {
    ...config,
    tools: {...config.tools, webfetch: {...webfetch, extraction}, webread: {...webread, mode}},
  };
}

/** FR-WF-05b: what a configuration says otherwise than it is used is for the person at the terminal, too. */
function withWarnings(log: Log, console: Console): Log {
  return event => {
    if (event.event !== 'config_warning') return log(event);
    console.err(`${styled(console, 'yellow', 'Warning:')} ${printable(event.message ?? '')}\n`);
  };
}

/** What a configuration says otherwise than it is used, for commands that open no toolbox, which would log it. */
export function printWarnings({warnings}: Pick<ResolvedConfig, 'warnings'>, console: Console): void {
  for (const warning of warnings) {
    console.err(`${styled(console, 'yellow', 'Warning:')} ${printable(warning)}\n`);
  }
}
