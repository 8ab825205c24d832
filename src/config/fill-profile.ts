import {isTable} from './resolve/describe-value.ts';

type Table = Readonly<Record<string, unknown>>;

export const PROFILES = ['read-only', 'guarded', 'trusted'] as const;
export type Profile = (typeof PROFILES)[number];

/** Ruling H7: what somebody means who starts the tools without a configuration. */
export const UNCONFIGURED: Profile = 'guarded';

/** Ruling R3 */
const WEB: Table = {
  webfetch: {enabled: true},
  webread: {media: {markdown: true, json: true, feeds: true, pdf: true}},
};

/** Written as a file would write it; what is not named here keeps its default. */
const FILLINGS: Readonly<Record<Profile, Table>> = {
  'read-only': {tools: {mode: 'enabled', access: 'read-only', ...WEB}},
  // T1: what would be asked is shown, and nothing changes.
  guarded: {tools: {mode: 'enabled', ...WEB, taint: {mode: 'warn'}}},
  // The client asks its user itself. Deny rules, ask rules and the denylist are checked before the mode.
  trusted: {tools: {mode: 'enabled', ...WEB, approval: {mode: 'auto'}}},
};

/** A raw configuration in which the profile that it names has filled what is left open. What is written stays. */
export function fillProfile(raw: unknown): unknown {
  const profile = isTable(raw) ? PROFILES.find(name => name === raw['profile']) : undefined;
  return profile === undefined ? raw : fill(raw, FILLINGS[profile]);
}

function fill(written: unknown, filling: Table): unknown {
  if (written === undefined) return filling;
  // What is no table is a problem that the schema finds.
  if (!isTable(written)) return written;
  const filled = Object.entries(filling).map(([key, value]) => {
    const own = Object.hasOwn(written, key) ? written[key] : undefined;
    return [key, isTable(value) ? fill(own, value) : own === undefined ? value : own] as const;
  });
  return {...written, ...Object.fromEntries(filled)};
}
