import {normalizePath} from './match/normalize-path.ts';
import type {RuleIndex, Verdict} from './match/rule-index.ts';

/** FR-WF-ROBOTS-PATH-01: judges path and query, without fragment, by the rules that hold for us. */
export function judgeByRobots(rules: RuleIndex, pathAndQuery: string): Verdict {
  const path = normalizePath(pathAndQuery);
  // Ruling B5, RFC 9309 §2.2.2
  if (path === '/robots.txt') return {allowed: true};
  return rules.judge(path);
}
