// Opens the toolbox of a command from its flags and the configuration. It says at the start which tools are on and
// who is asked.
import {dirname, resolve} from 'node:path';
import {keepRule} from '../config/edit-config.ts';
import {defaultRunDirectory, startedIn} from '../config/environment.ts';
import type {LoadedConfig} from '../config/load-config.ts';
import {wrongGroups} from '../config/profiles.ts';
import {assembleToolbox, type OpenToolbox, type Toolbox} from '../create-toolbox.ts';
import type {CommandContext} from './command.ts';
import {printable} from './console.ts';
import {listFlag, UsageError} from './flags.ts';
import {readSettings, type SettingFlags} from './read-settings.ts';

/** The values of `TOOLBOX_FLAGS`, and where a command has them, of `SESSION_FLAGS`. */
interface ToolboxFlagValues extends SettingFlags {
  readonly workspace?: string | undefined;
  readonly 'run-dir'?: string | undefined;
  readonly allow?: string | undefined;
  readonly groups?: string | undefined;
}

interface ToolboxUse {
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
  use: ToolboxUse = {},
): Promise<Toolbox> {
  return (await openWithStart(flags, context, use)).toolbox;
}

/** The same, with what there is to say of the start. */
export async function openWithStart(
  flags: ToolboxFlagValues,
  context: CommandContext,
  {start}: ToolboxUse = {},
): Promise<Start & {readonly toolbox: OpenToolbox}> {
  const {console, environment} = context;
  const allow = listFlag('allow', flags.allow);
  const groups = groupsFlag(flags.groups);
  const {resolved, log, isLogged} = await readSettings(flags, context, {service: start === 'service'});
  const runDirectory =
    flags['run-dir'] === undefined ? undefined : resolve(environment.cwd, flags['run-dir']);
  const {configFile} = resolved;
  const workspace = workspaceOf(flags, context);
  const toolbox = assembleToolbox(resolved, {
    environment,
    log,
    workspace,
    withoutWorkspace: withoutWorkspace(environment.cwd),
    runDirectory,
    // Review R9: also where none is there yet, or a tool could write the next one.
    protectedPaths: configFile === undefined ? [] : [configFile],
    allow,
    groups,
    rememberRule: configFile === undefined ? undefined : rule => keepRule(configFile, rule, environment),
  });
  const runs = runDirectory ?? dirname(defaultRunDirectory(environment, workspace, 'run'));
  const opened = {toolbox, resolved, workspace, workingDirectory: environment.cwd, runs};
  if (start === 'service' || (start === 'session' && resolved.source === undefined)) {
    const message = describeStart(opened);
    if (isLogged) log({level: 'info', event: 'tools_offered', message});
    else console.err(`${printable(message)}\n`);
  }
  return opened;
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

export interface Start {
  readonly toolbox: Pick<OpenToolbox, 'listTools' | 'switchedOff'>;
  readonly resolved: Pick<LoadedConfig, 'config' | 'source'>;
  /** `undefined` where no directory is opened; `named` is false where it is the working directory. */
  readonly workspace: string | undefined;
  readonly workingDirectory: string;
  /** Where the run is kept, or the directory of all runs. */
  readonly runs: string;
}

/** What is on, who decides about calls with side effects, where the run is kept, and what is off. One line. (ruling H7) */
function describeStart(start: Start): string {
  const {tools} = start.resolved.config;
  const on = [describeOffer(start), ...approvals(tools), `runs are kept in ${start.runs}`];
  return [`forge-tools: ${on.join('; ')}.`, ...whyNotMore(start)].join(' ');
}

/** One sentence for each cause that keeps tools from an agent, with what turns them on. */
export function whyNotMore({toolbox, workspace, workingDirectory}: Omit<Start, 'runs'>): readonly string[] {
  return [...(workspace === undefined ? [withoutWorkspace(workingDirectory)] : []), ...toolbox.switchedOff];
}

/** How many tools an agent gets, and which configuration says so. */
export function describeOffer({toolbox, resolved, workspace}: Omit<Start, 'runs'>): string {
  const {config, source} = resolved;
  const {profile} = config;
  const offered = toolbox.listTools().length;
  const tools = offered === 1 ? '1 tool' : `${offered} tools`;
  const where = workspace === undefined ? 'without files' : `for ${workspace}`;
  const from = source === undefined ? 'no configuration file' : source;
  const by = profile === 'none' ? from : `profile "${profile}", ${from}`;
  return `${tools} ${where}; ${by}`;
}

/** Why there are no file tools. The start line and `unknown_tool` say the same. */
function withoutWorkspace(workingDirectory: string): string {
  return `File tools and run are off: ${workingDirectory} is not a project. Start with --workspace DIR.`;
}

function approvals({access, approval, mode}: LoadedConfig['config']['tools']): readonly string[] {
  if (mode !== 'enabled') return [];
  const calls = access === 'read-only' ? 'fetches' : 'calls with side effects';
  switch (approval.mode) {
    case 'prompt':
      return [`${calls} are asked about, and refused where there is no one to ask`];
    case 'auto':
      return [`${calls} run without asking, but for what is denied`];
    case 'deny':
      return [`${calls} are refused`];
  }
}
