import {normalizePath} from './match/normalize-path.ts';
import type {Decision, RuleIndex} from './match/rule-index.ts';

/** FR-WF-ROBOTS-PATH-01: checks path and query, without fragment, by the rules that hold for us. */
export function decideByRobots(rules: RuleIndex, pathAndQuery: string): Decision {
  const path = normalizePath(pathAndQuery);
  // Ruling B5, RFC 9309 §2.2.2
  if (path === '/robots.txt') return {allowed: true};
  return rules.decide(path);
}
