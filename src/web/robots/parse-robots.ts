import {Robots, type RobotsGroup} from './robots.ts';
import {scanRobots} from './scan-robots.ts';

export type {Robots};

interface OpenGroup extends RobotsGroup {
  readonly agents: string[];
  readonly rules: {allow: boolean; pattern: string}[];
}

const LF = 0x0a;
const CR = 0x0d;

/** SRD 3.3.2: never fails; a text that holds no group allows everything. */
export function parseRobots(text: string): Robots {
  const groups: OpenGroup[] = [];
  let group: OpenGroup | undefined;
  // RFC 9309 §2.2.1: `User-agent` lines in a row share their rules. Other records do not part them (§2.2.4).
  let inHeader = false;
  scanRobots(text, {
    userAgent(value) {
      if (!group || !inHeader) {
        group = {agents: [], rules: []};
        groups.push(group);
      }
      group.agents.push(value);
      inHeader = true;
    },
    rule(allow, pattern) {
      // A rule without a value is none, but it ends the header as any rule does.
      inHeader = false;
      // Ruling B4: what starts with neither `/` nor `*` can match nothing.
      if (pattern.startsWith('/') || pattern.startsWith('*')) group?.rules.push({allow, pattern});
    },
  });
  return new Robots(groups);
}

/**
 * FR-WF-09b, FR-WF-ROBOTS-SIZE-01: the bytes of a robots.txt. `cut` says that the file went on; then the
 * last line may be half of one and is dropped, and with it a code point that the limit cut through.
 */
export function parseRobotsBytes(bytes: Uint8Array, cut: boolean): Robots {
  const whole = cut ? bytes.subarray(0, endOfLastLine(bytes)) : bytes;
  let text: string;
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(whole);
  } catch {
    return new Robots([]);
  }
  return parseRobots(text);
}

function endOfLastLine(bytes: Uint8Array): number {
  return Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
}
