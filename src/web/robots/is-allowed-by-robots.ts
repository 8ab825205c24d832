import {decideByRobots} from './decide-by-robots.ts';
import type {Robots} from './robots.ts';

/** SRD 3.3.2: whether a robots.txt lets the token have this path and query (no fragment). */
export function isAllowedByRobots(robots: Robots, token: string, pathAndQuery: string): boolean {
  return decideByRobots(robots.rulesFor(token), pathAndQuery).allowed;
}
