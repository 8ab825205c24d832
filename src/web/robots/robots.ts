import {type RobotsRule, RuleIndex} from './match/rule-index.ts';

export interface RobotsGroup {
  /** The values of the group's `User-agent` lines. */
  readonly agents: readonly string[];
  readonly rules: readonly RobotsRule[];
}

/** A parsed robots.txt: its groups, in the order of the file. Immutable. */
export class Robots {
  readonly groups: readonly RobotsGroup[];
  /** One process asks for one token; the index for it is made once. */
  #indexed: {readonly token: string; readonly rules: RuleIndex} | undefined;

  constructor(groups: readonly RobotsGroup[]) {
    this.groups = groups;
  }

  /** FR-WF-08b: the rules that hold for a token. Without a group that speaks to it, everything is allowed. */
  rulesFor(token: string): RuleIndex {
    if (this.#indexed?.token !== token) {
      this.#indexed = {token, rules: new RuleIndex(chooseGroup(this.groups, token)?.rules ?? [])};
    }
    return this.#indexed.rules;
  }
}

/**
 * FR-WF-ROBOTS-UA-01, ruling B6: a line speaks to us if its value contains the token, in any case. The
 * group with the longest such line is taken alone; the first wins a tie; else the first `*` group.
 */
function chooseGroup(groups: readonly RobotsGroup[], token: string): RobotsGroup | undefined {
  const wanted = token.toLowerCase();
  let chosen: RobotsGroup | undefined;
  let longest = 0;
  let anyone: RobotsGroup | undefined;
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
