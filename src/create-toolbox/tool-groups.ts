import type {TOOL_GROUPS} from '../config/tool-groups.ts';
import type {Tool} from '../core/tool.ts';
import type {SwitchedOff} from '../runtime/registry.ts';

type Group = (typeof TOOL_GROUPS)[number];

/** What is in no other group is in `core`. */
const MEMBERS: Readonly<Record<Exclude<Group, 'core'>, readonly string[]>> = {
  web: ['web_fetch', 'web_read', 'verify_quote'],
  'edit-more': ['replace_in_files', 'move_file', 'delete_file', 'undo'],
  background: ['wait_for', 'stop_run'],
};

/** The tools of the groups that the operator left out. */
export function outsideGroups(
  groups: readonly string[],
  tools: readonly Tool[],
): ReadonlyMap<string, SwitchedOff> {
  return new Map(
    tools
      .map(({name}) => [name, groupOf(name)] as const)
      .filter(([, group]) => !groups.includes(group))
      .map(([name, group]) => [name, {setting: 'tools.groups', why: `leaves out "${group}"`}]),
  );
}

function groupOf(tool: string): Group {
  const found = Object.entries(MEMBERS).find(([, members]) => members.includes(tool));
  return (found?.[0] ?? 'core') as Group;
}
