/** W18: what a model pays for is switched off in groups. */
export const TOOL_GROUPS = ['core', 'web', 'edit-more', 'background'] as const;

/** Sentences about names that are none of a group; empty where there are none. */
export function wrongGroups(groups: readonly string[], setting: string): readonly string[] {
  const known: readonly string[] = TOOL_GROUPS;
  return groups
    .filter(group => !known.includes(group))
    .map(
      group =>
        `${setting} names ${JSON.stringify(group)}, which is no group. The groups are ${known.join(', ')}.`,
    );
}
