import {dirname, resolve} from 'node:path';
import {configPath} from '../config/config-path.ts';
import {keepRule} from '../config/keep-rule.ts';
import {defaultRunDirectory} from '../config/state-directories.ts';
import {wrongGroups} from '../config/tool-groups.ts';
import {startedIn} from '../create-toolbox/started-in.ts';
import {assembleToolbox, type Toolbox} from '../create-toolbox.ts';
import type {CommandContext} from './command.ts';
import {listFlag} from './flags/parse-flags.ts';
import {UsageError} from './flags/usage-error.ts';
import {readSettings, type SettingFlags} from './read-settings.ts';
import {describeStart} from './render/describe-start.ts';
import {printable} from './terminal/printable.ts';

/** The values of `TOOLBOX_FLAGS`, and where a command has them, of `SESSION_FLAGS`. */
export interface ToolboxFlagValues extends SettingFlags {
  readonly workspace?: string | undefined;
  readonly 'run-dir'?: string | undefined;
  readonly allow?: string | undefined;
  readonly groups?: string | undefined;
}

export interface ToolboxUse {
  /**
   * Ruling H7: whose act the start is. `session` says what is on where no file does, `service` always; others say
   * nothing.
   */
  readonly start?: 'session' | 'service';
}

/**
 * The toolbox of a command: configuration from the files, workspace and run directory from the flags,
 * log lines to stderr. Throws `UsageError` and `ConfigError`.
 */
export async function openToolbox(
  flags: ToolboxFlagValues,
  context: CommandContext,
  {start}: ToolboxUse = {},
): Promise<Toolbox> {
  const {console, environment} = context;
  const allow = listFlag('allow', flags.allow);
  const groups = groupsFlag(flags.groups);
  const {resolved: read, log, isLogged} = await readSettings(flags, context, {service: start === 'service'});
  const {config} = read;
  const resolved =
    groups === undefined ? read : {...read, config: {...config, tools: {...config.tools, groups}}};
  const runDirectory =
    flags['run-dir'] === undefined ? undefined : resolve(environment.cwd, flags['run-dir']);
  const configFile = resolved.source ?? configPath(flags.config, environment)?.file;
  const workspace = workspaceOf(flags, context);
  const toolbox = assembleToolbox(resolved, {
    environment,
    log,
    workspace,
    runDirectory,
    // Review R9: also where none is there yet, or a tool could write the next one.
    protectedPaths: configFile === undefined ? [] : [configFile],
    allow,
    rememberRule: configFile === undefined ? undefined : rule => keepRule(configFile, rule, environment),
  });
  if (start === 'service' || (start === 'session' && resolved.source === undefined)) {
    const runs = runDirectory ?? dirname(defaultRunDirectory(environment, workspace, 'run'));
    const message = describeStart({toolbox, resolved, workspace, workingDirectory: environment.cwd, runs});
    if (isLogged) log({level: 'info', event: 'tools_offered', message});
    else console.err(`${printable(message)}\n`);
  }
  return toolbox;
}

function groupsFlag(written: string | undefined): readonly string[] | undefined {
  if (written === undefined) return undefined;
  const groups = listFlag('groups', written);
  const [wrong] = wrongGroups(groups, '--groups');
  if (wrong !== undefined) throw new UsageError(wrong);
  return groups;
}

/**
 * The directory that is named, else the working directory. Clients start servers in the home directory or in `/`:
 * without a word of the operator, nothing of that is opened to a model.
 */
function workspaceOf({workspace}: ToolboxFlagValues, {environment}: CommandContext): string | undefined {
  if (workspace !== undefined) return resolve(environment.cwd, workspace);
  return startedIn(environment).length > 0 ? environment.cwd : undefined;
}
