import {resolve} from 'node:path';
import {configPath} from '../config/config-path.ts';
import {keepRule} from '../config/keep-rule.ts';
import {assembleToolbox, type Toolbox} from '../create-toolbox.ts';
import type {CommandContext} from './command.ts';
import {listFlag} from './parse-flags.ts';
import {readSettings, type SettingFlags} from './read-settings.ts';

/** The values of `TOOLBOX_FLAGS`, and where a command has them, of `SESSION_FLAGS`. */
export interface ToolboxFlagValues extends SettingFlags {
  readonly workspace?: string | undefined;
  readonly 'run-dir'?: string | undefined;
  readonly allow?: string | undefined;
}

/**
 * The toolbox of a command: configuration from the files, workspace and run directory from the flags,
 * log lines to stderr. A command that touches no files opens no workspace. Throws `UsageError` and `ConfigError`.
 */
export async function openToolbox(
  flags: ToolboxFlagValues,
  context: CommandContext,
  {workspace = true}: {readonly workspace?: boolean} = {},
): Promise<Toolbox> {
  const {environment} = context;
  const allow = listFlag('allow', flags.allow);
  const {resolved, log} = await readSettings(flags, context);
  const runDirectory = flags['run-dir'];
  const configFile = resolved.source ?? configPath(flags.config, environment)?.file;
  return assembleToolbox(resolved, {
    environment,
    log,
    workspace: workspace ? resolve(environment.cwd, flags.workspace ?? '.') : undefined,
    runDirectory: runDirectory === undefined ? undefined : resolve(environment.cwd, runDirectory),
    // Review R9: also where none is there yet, or a tool could write the next one.
    protectedPaths: configFile === undefined ? [] : [configFile],
    allow,
    rememberRule: configFile === undefined ? undefined : rule => keepRule(configFile, rule, environment),
  });
}
