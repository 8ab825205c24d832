// The profiles, and the groups of tools. Light enough for `--help` to load.
import {isTable} from './raw-values.ts';

type Table = Readonly<Record<string, unknown>>;

export const PROFILES = ['read-only', 'guarded', 'trusted'] as const;
export type Profile = (typeof PROFILES)[number];

/** What holds where neither a profile nor `tools.mode` is written. (ruling H7) */
export const UNCONFIGURED: Profile = 'guarded';

// biome-ignore lint/suspicious/noTemplateCurlyInString: paths are written like this
const USER_CACHE = '${XDG_CACHE_HOME}/forge-tools';

/** Rulings R3, H8. */
const EVERY_PROFILE: Table = {
  mode: 'enabled',
  // The user's own: the first user of a directory that all share could keep the others from it. (ruling H5)
  webfetch: {enabled: true, cache_dir: USER_CACHE},
  webread: {media: {markdown: true, json: true, feeds: true, pdf: true}},
  mcp: {results: 'text'},
};

/** Written as a file would write it; what is not named here keeps its default. */
const FILLINGS: Readonly<Record<Profile | 'none', Table>> = {
  none: {},
  'read-only': {tools: {...EVERY_PROFILE, access: 'read-only'}},
  // T1: what would be asked is shown, and nothing changes.
  guarded: {tools: {...EVERY_PROFILE, taint: {mode: 'warn'}}},
  // The client asks its user itself. Deny rules, ask rules and the denylist are checked before the mode.
  trusted: {tools: {...EVERY_PROFILE, approval: {mode: 'auto'}}},
};

/**
 * A raw configuration in which a profile has filled what is left open. What is written stays. Who writes `tools.mode`
 * and no profile runs the switch of the specification, with its defaults. (ruling H7)
 */
export function fillProfile(raw: unknown = {}): unknown {
  if (!isTable(raw)) return raw;
  const tools = own(raw, 'tools');
  const writesMode = isTable(tools) && own(tools, 'mode') !== undefined;
  const written = own(raw, 'profile') ?? (writesMode ? 'none' : UNCONFIGURED);
  const profile = [...PROFILES, 'none' as const].find(name => name === written);
  return profile === undefined ? raw : fill({...raw, profile}, FILLINGS[profile]);
}

function own(table: Table, key: string): unknown {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function fill(written: unknown, filling: Table): unknown {
  if (written === undefined) return filling;
  // What is no table is a problem that the schema finds.
  if (!isTable(written)) return written;
  const filled = Object.entries(filling).map(([key, value]) => {
    const there = own(written, key);
    return [key, isTable(value) ? fill(there, value) : there === undefined ? value : there] as const;
  });
  return {...written, ...Object.fromEntries(filled)};
}

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
