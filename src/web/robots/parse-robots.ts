import type {UsagePreference} from '../page.ts';
import {Robots, type RobotsGroup, type RobotsPreferences} from './robots.ts';
import {scanRobots} from './scan-robots.ts';

export type {Robots};

interface OpenGroup extends RobotsGroup {
  readonly agents: string[];
  readonly rules: {allow: boolean; pattern: string}[];
}

interface OpenPreferences extends RobotsPreferences {
  readonly agents: string[];
  readonly said: UsagePreference[];
}

/** Of a group, and of a file; more, longer or unreadable ones are not recorded. */
const MOST_PREFERENCES = 16;
const PREFERENCE = /^[\x20-\x7e]{1,512}$/;

const LF = 0x0a;
const CR = 0x0d;

/** SRD 3.3.2: never fails; a text that holds no group allows everything. */
export function parseRobots(text: string): Robots {
  const groups: OpenGroup[] = [];
  const licenses: UsagePreference[] = [];
  // To who knows them, preferences are rules like others: they end a header. For RFC 9309 they do not (§2.2.4).
  const preferences: OpenPreferences[] = [];
  let isNamed = false;
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
      if (!isNamed) preferences.push({agents: [], said: []});
      preferences.at(-1)?.agents.push(value);
      isNamed = true;
    },
    rule(allow, pattern) {
      // A rule without a value is none, but it ends the header as any rule does.
      inHeader = false;
      isNamed = false;
      // Ruling B4: what starts with neither `/` nor `*` can match nothing.
      if (pattern.startsWith('/') || pattern.startsWith('*')) group?.rules.push({allow, pattern});
    },
    preference(name, value) {
      // RSL: a licence is that of the whole site.
      const list = name === 'License' ? licenses : preferences.at(-1)?.said;
      if (name !== 'License') isNamed = false;
      if (list && list.length < MOST_PREFERENCES && PREFERENCE.test(value)) {
        list.push({source: 'robots.txt', name, value});
      }
    },
  });
  return new Robots(groups, preferences, licenses);
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
