// What a robots.txt says: its groups, and which one speaks to us.
// The text comes from a stranger: any bytes are a robots.txt.

import {crc32} from 'node:zlib';
import {USAGE_NAMES, type UsagePreference} from '../page.ts';
import {trimBlanks} from '../transport/response-head.ts';
import {type Decision, normalizePath, type RobotsRule, RuleIndex} from './rules.ts';

interface RobotsGroup {
  /** The values of the group's `User-agent` lines. */
  readonly agents: readonly string[];
  readonly rules: readonly RobotsRule[];
}

/** What is said to some agents of the use of the pages. */
interface RobotsPreferences {
  readonly agents: readonly string[];
  readonly said: readonly UsagePreference[];
}

/** A parsed robots.txt. It never changes. */
export class Robots {
  /** The groups of the file. */
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

  /** The rules for a user agent token. Without a group for it, everything is allowed. (FR-WF-08b) */
  rulesFor(token: string): RuleIndex {
    if (this.#indexed?.token !== token) {
      this.#indexed = {token, rules: new RuleIndex(chooseGroup(this.groups, token)?.rules ?? [])};
    }
    return this.#indexed.rules;
  }

  /** What the site says about the use of its pages, to this token and to all. */
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

/** Of a group, and of a file; more, longer or unreadable ones are not recorded. */
const MOST_PREFERENCES = 16;
const PREFERENCE = /^[\x20-\x7e]{1,512}$/;
/** What a site says of the use of its pages, in records of newer drafts than RFC 9309. */
const PREFERENCES: ReadonlyMap<string, UsagePreference['name']> = new Map(
  USAGE_NAMES.map(name => [name.toLowerCase(), name]),
);

/**
 * Never fails: lines that mean nothing are passed over, and a text that holds no group allows everything.
 * Lines end at CR, LF or CRLF. (SRD 3.3.2, FR-WF-09b, ruling B4)
 */
export function parseRobots(text: string): Robots {
  const groups: {agents: string[]; rules: RobotsRule[]}[] = [];
  const preferences: {agents: string[]; said: UsagePreference[]}[] = [];
  const licenses: UsagePreference[] = [];
  // `User-agent` lines in a row share their rules. Other records do not part them. (RFC 9309 §2.2.1, §2.2.4)
  let inHeader = false;
  // To those who know them, preferences are rules like others: they end a header.
  let isNamed = false;
  for (const line of text
    .replace(/^\ufeff/, '')
    .replaceAll('\r', '\n')
    .split('\n')) {
    const [field, value] = readRecord(line);
    if (field === 'user-agent') {
      if (!inHeader) groups.push({agents: [], rules: []});
      if (!isNamed) preferences.push({agents: [], said: []});
      groups.at(-1)?.agents.push(value);
      preferences.at(-1)?.agents.push(value);
      inHeader = true;
      isNamed = true;
    } else if (field === 'allow' || field === 'disallow') {
      // A rule without a value is none, but it ends the header as any rule does.
      inHeader = false;
      isNamed = false;
      // What starts with neither `/` nor `*` can match nothing. (Ruling B4)
      if (/^[/*]/.test(value)) groups.at(-1)?.rules.push({allow: field === 'allow', pattern: value});
    } else {
      const name = PREFERENCES.get(field);
      if (name === undefined) continue;
      // RSL: a licence is that of the whole site.
      const list = name === 'License' ? licenses : preferences.at(-1)?.said;
      if (name !== 'License') isNamed = false;
      if (list && list.length < MOST_PREFERENCES && PREFERENCE.test(value)) {
        list.push({source: 'robots.txt', name, value});
      }
    }
  }
  return new Robots(groups, preferences, licenses);
}

/** The field in lower case and its value, without a comment; both empty where the line has no colon. */
function readRecord(line: string): readonly [field: string, value: string] {
  const hash = line.indexOf('#');
  const content = hash === -1 ? line : line.slice(0, hash);
  const colon = content.indexOf(':');
  if (colon === -1) return ['', ''];
  return [trimBlanks(content.slice(0, colon)).toLowerCase(), trimBlanks(content.slice(colon + 1))];
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
  const [lineFeed, carriageReturn] = [0x0a, 0x0d];
  return Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
}

const FALLBACK = 'forge-webfetch';

interface TokenSettings {
  readonly user_agent: string;
  readonly robots: {readonly user_agent_token: string};
}

/** FR-WF-ROBOTS-UA-TOKEN-01: the configured token, or the product name in `user_agent`. Never empty. */
export function robotsToken({user_agent, robots}: TokenSettings): string {
  if (robots.user_agent_token !== '') return robots.user_agent_token;
  const [product = ''] = user_agent.split('/', 1);
  return product.replace(/[^A-Za-z0-9_-]/g, '') || FALLBACK;
}

/** A robots.txt as it came: its first bytes, and whether there were more. Nothing where the site has none. */
export interface RobotsText {
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

const FORM = 'robots 1';

/** For other replicas: whose it is and a checksum on one line, then the text. */
export function printRobotsText(origin: string, {bytes, cut}: RobotsText): Uint8Array {
  return Buffer.concat([Buffer.from(`${FORM} ${origin} ${cut ? 'cut' : 'whole'} ${crc32(bytes)}\n`), bytes]);
}

/** `undefined` for what is not, to the last byte, the text of this origin. No more of it than `maxBytes` is read. */
export function readRobotsText(shared: Buffer, origin: string, maxBytes: number): RobotsText | undefined {
  const end = shared.indexOf('\n');
  const bytes = shared.subarray(end + 1);
  const head = shared.toString('latin1', 0, Math.max(0, end));
  for (const cut of [false, true]) {
    if (head !== `${FORM} ${origin} ${cut ? 'cut' : 'whole'} ${crc32(bytes)}`) continue;
    return {bytes: bytes.subarray(0, maxBytes), cut: cut || bytes.length > maxBytes};
  }
  return undefined;
}

/** FR-WF-ROBOTS-PATH-01: checks path and query, without fragment, by the rules that hold for us. */
export function decideByRobots(rules: RuleIndex, pathAndQuery: string): Decision {
  const path = normalizePath(pathAndQuery);
  // Ruling B5, RFC 9309 §2.2.2
  if (path === '/robots.txt') return {allowed: true};
  return rules.decide(path);
}

/** SRD 3.3.2: whether a robots.txt lets the token have this path and query (no fragment). */
export function isAllowedByRobots(robots: Robots, token: string, pathAndQuery: string): boolean {
  return decideByRobots(robots.rulesFor(token), pathAndQuery).allowed;
}
