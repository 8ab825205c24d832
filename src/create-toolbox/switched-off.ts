/**
 * Which tools the configuration keeps from being offered, and how the operator turns them on. Every face tells it in
 * the same sentence: the failure of a call, the start line, `tools` and `doctor`.
 */
import type {Config} from '../config/config-schema.ts';
import type {TOOL_GROUPS} from '../config/profiles.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import type {Err, Failure} from '../core/result.ts';
import type {Tool} from '../core/tool.ts';
import {disabledFailure, offByMode, type SwitchedOff, switchedOffSentence} from '../runtime/prepare-call.ts';
import {READ_OUTPUT} from '../tools/run/output-keeper.ts';
import {RUN} from '../tools/run/run.ts';
import {STOP_RUN} from '../tools/run/stop-run.ts';
import {WAIT_FOR} from '../tools/run/wait-for-command.ts';
import {VERIFY_QUOTE} from '../tools/web/verify-quote.ts';
import {WEB_FETCH} from '../tools/web/web-fetch.ts';
import {WEB_READ} from '../tools/web/web-read.ts';
import {WEB_SEARCH} from '../tools/web/web-search.ts';

/** What reads pages does it under the same settings as what fetches them. (ruling R1) */
const READING_TOOLS = [WEB_READ, VERIFY_QUOTE];
const COMMAND_TOOLS = [RUN, READ_OUTPUT, WAIT_FOR, STOP_RUN];
export const WEB_TOOLS: readonly string[] = [WEB_FETCH, ...READING_TOOLS, WEB_SEARCH];

type Group = (typeof TOOL_GROUPS)[number];

/** Every other tool is in `core`. */
const MEMBERS: Readonly<Record<Exclude<Group, 'core'>, readonly string[]>> = {
  web: WEB_TOOLS,
  'edit-more': ['replace_in_files', 'move_file', 'delete_file', 'undo'],
  background: [WAIT_FOR, STOP_RUN],
};

/** Who chose the settings, so that a message can say where to change them. */
export interface SettingsOrigin {
  /** The configuration file, there or not. Without it a program passed an object. */
  readonly configFile?: string | undefined;
  /** Whether `--groups` stands in for `tools.groups`. */
  readonly hasGroupsFlag: boolean;
}

/** FR-WF-CFG-PREC-02: what the sections of the configuration do not offer. */
export function switchedOff(
  {tools: {access, groups, webfetch, webread, run}}: Config,
  tools: readonly Tool[],
  origin: SettingsOrigin,
): ReadonlyMap<string, SwitchedOff> {
  const off = (names: readonly string[], setting: string, value: string, wanted: string) =>
    names.map(
      name => [name, {setting, why: `is ${value}`, turnOn: turnOn(setting, wanted, origin)}] as const,
    );
  // What was never started is not stopped.
  const changing = tools.filter(
    ({name, action}) => name === STOP_RUN || (action !== undefined && action !== WEB_FETCH),
  );
  return new Map([
    ...outsideGroups(groups, tools, origin),
    ...(webfetch.enabled ? [] : off(WEB_TOOLS, 'tools.webfetch.enabled', 'false', 'true')),
    ...(webread.enabled ? [] : off(READING_TOOLS, 'tools.webread.enabled', 'false', 'true')),
    ...(run.enabled ? [] : off(COMMAND_TOOLS, 'tools.run.enabled', 'false', 'true')),
    ...(access === 'all'
      ? []
      : off(
          changing.map(({name}) => name),
          'tools.access',
          `"${access}"`,
          '"all"',
        )),
  ]);
}

/** The tools of the groups that the operator left out. */
function outsideGroups(
  groups: readonly string[],
  tools: readonly Tool[],
  origin: SettingsOrigin,
): readonly (readonly [string, SwitchedOff])[] {
  return tools
    .map(({name}) => [name, groupOf(name)] as const)
    .filter(([, group]) => !groups.includes(group))
    .map(([name, group]) => {
      const wanted = [...groups, group];
      const why = `leaves out "${group}"`;
      return origin.hasGroupsFlag
        ? [name, {setting: '--groups', why, turnOn: `Start with --groups ${wanted.join(',')}.`}]
        : [
            name,
            {setting: 'tools.groups', why, turnOn: turnOn('tools.groups', JSON.stringify(wanted), origin)},
          ];
    });
}

function groupOf(tool: string): Group {
  const found = Object.entries(MEMBERS).find(([, members]) => members.includes(tool));
  return (found?.[0] ?? 'core') as Group;
}

export function turnModeOn(origin: SettingsOrigin): string {
  return turnOn('tools.mode', '"enabled"', origin);
}

/** Ruling H3: a mode that is written down as `disabled` or `parse_only` stops what is done by hand too. */
export function stoppedByMode(
  {writtenMode}: ResolvedConfig,
  origin: SettingsOrigin,
): Err<Failure> | undefined {
  const off = writtenMode && offByMode(writtenMode, turnModeOn(origin));
  return off && disabledFailure(WEB_FETCH, off);
}

/** One sentence for each setting that keeps tools from being offered. */
export function switchedOffSentences(
  byMode: SwitchedOff | undefined,
  byTool: ReadonlyMap<string, SwitchedOff>,
  tools: readonly Tool[],
): readonly string[] {
  if (byMode !== undefined) return [switchedOffSentence('Every tool is', byMode)];
  const names = new Map<string, {off: SwitchedOff; tools: string[]}>();
  for (const {name} of tools) {
    const off = byTool.get(name);
    if (off === undefined) continue;
    const key = `${off.setting} ${off.why}`;
    const same = names.get(key) ?? {off, tools: []};
    same.tools.push(name);
    names.set(key, same);
  }
  return [...names.values()].map(({off, tools: listed}) =>
    switchedOffSentence(`${listed.join(', ')} ${listed.length === 1 ? 'is' : 'are'}`, off),
  );
}

/** The line to write, and the place it goes to. */
function turnOn(setting: string, value: string, {configFile}: SettingsOrigin): string {
  if (configFile === undefined) return `Pass ${setting} = ${value} in the config of createToolbox.`;
  const dot = setting.lastIndexOf('.');
  return `Write ${setting.slice(dot + 1)} = ${value} below [${setting.slice(0, dot)}] in ${configFile}.`;
}
