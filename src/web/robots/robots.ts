import type {UsagePreference} from '../page.ts';
import {type RobotsRule, RuleIndex} from './match/rule-index.ts';

export interface RobotsGroup {
  /** The values of the group's `User-agent` lines. */
  readonly agents: readonly string[];
  readonly rules: readonly RobotsRule[];
}

/** What is said to some agents of the use of the pages. */
export interface RobotsPreferences {
  readonly agents: readonly string[];
  readonly said: readonly UsagePreference[];
}

/** A parsed robots.txt: its groups, in the order of the file. Immutable. */
export class Robots {
  readonly groups: readonly RobotsGroup[];
  readonly #preferences: readonly RobotsPreferences[];
  readonly #licenses: readonly UsagePreference[];
  /** One process asks for one token; the index for it is made once. */
  #indexed: {readonly token: string; readonly rules: RuleIndex} | undefined;

  constructor(
    groups: readonly RobotsGroup[],
    preferences: readonly RobotsPreferences[] = [],
    licenses: readonly UsagePreference[] = [],
  ) {
    this.groups = groups;
    this.#preferences = preferences;
    this.#licenses = licenses;
  }

  /** FR-WF-08b: the rules that hold for a token. Without a group that speaks to it, everything is allowed. */
  rulesFor(token: string): RuleIndex {
    if (this.#indexed?.token !== token) {
      this.#indexed = {token, rules: new RuleIndex(chooseGroup(this.groups, token)?.rules ?? [])};
    }
    return this.#indexed.rules;
  }

  /** What the site says of the use of its pages, to a token and to all. */
  preferencesFor(token: string): readonly UsagePreference[] {
    return [...(chooseGroup(this.#preferences, token)?.said ?? []), ...this.#licenses];
  }
}

/**
 * FR-WF-ROBOTS-UA-01, ruling B6: a line speaks to us if its value contains the token, in any case. The
 * group with the longest such line is taken alone; the first wins a tie; else the first `*` group.
 */
function chooseGroup<Group extends {readonly agents: readonly string[]}>(
  groups: readonly Group[],
  token: string,
): Group | undefined {
  const wanted = token.toLowerCase();
  let chosen: Group | undefined;
  let longest = 0;
  let anyone: Group | undefined;
  for (const group of groups) {
    for (const agent of group.agents) {
      if (agent === '*') anyone ??= group;
      else if (wanted !== '' && agent.length > longest && agent.toLowerCase().includes(wanted)) {
        chosen = group;
        longest = agent.length;
      }
    }
  }
  return chosen ?? anyone;
}
