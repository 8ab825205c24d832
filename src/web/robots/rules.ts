// The rules of one robots.txt group, and which of them decides about a path.
// Patterns and paths are compared in one spelling (`normalizePath`).

export interface RobotsRule {
  readonly allow: boolean;
  /** As written; starts with `/` or `*`. */
  readonly pattern: string;
}

export interface Decision {
  readonly allowed: boolean;
  /** The rule that decided, as in `Disallow: /private/*`, percent-encoded. Absent where none matched. */
  readonly rule?: string;
}

interface IndexedRule {
  readonly pattern: string;
  /** Precedence: twice the length of the pattern, and one more for Allow. */
  readonly weight: number;
}

/** An object, its place in a list and its key in a map; measured at 140. */
const BYTES_PER_RULE = 160;

/**
 * Finds a rule by text that a path must hold: a rule's literal prefix, or three characters that few other
 * rules with wildcards have. Trying every rule makes 19,000 of them 100 times slower.
 */
export class RuleIndex {
  readonly #byPrefix = new Map<string, IndexedRule[]>();
  readonly #byTrigram = new Map<number, IndexedRule[]>();
  /** Of the prefixes, in ascending order. */
  readonly #lengths: readonly number[];
  /** Of memory, about. */
  readonly bytes: number;

  constructor(rules: readonly RobotsRule[]) {
    const patterns: string[] = [];
    const weights: number[] = [];
    // Of rules with the same precedence, the last one in the file is named.
    for (const {allow, pattern: written} of rules.toReversed()) {
      const {pattern, length} = normalizePattern(written);
      patterns.push(pattern);
      weights.push(2 * length + (allow ? 1 : 0));
    }
    // Joined and split, the patterns no longer keep the file that they were cut from in memory.
    const text = patterns.join('\n');
    this.bytes = text.length + BYTES_PER_RULE * rules.length;

    const frequency = new Map<number, number>();
    for (const pattern of patterns) {
      for (const trigram of trigramsOf(pattern)) frequency.set(trigram, (frequency.get(trigram) ?? 0) + 1);
    }
    const lengths = new Set<number>();
    for (const [at, pattern] of text.split('\n').entries()) {
      const weight = weights[at];
      if (weight === undefined) break;
      const trigram = rarestOf(trigramsOf(pattern), frequency);
      if (trigram === undefined) {
        const prefix = literalPrefixOf(pattern);
        lengths.add(prefix.length);
        file(this.#byPrefix, prefix, {pattern, weight});
      } else file(this.#byTrigram, trigram, {pattern, weight});
    }
    this.#lengths = [...lengths].sort((one, other) => one - other);
  }

  /** The longest matching rule decides; on a tie, Allow. `path` went through `normalizePath`. (FR-WF-08c) */
  decide(path: string): Decision {
    const find = finderIn(path);
    let best: IndexedRule | undefined;
    for (const length of this.#lengths) {
      if (length > path.length) break;
      best = bestOf(this.#byPrefix.get(path.slice(0, length)), path, find, best);
    }
    if (this.#byTrigram.size > 0) {
      // A path of one repeated letter would otherwise try the same rules at each of its positions.
      const tried = new Set<readonly IndexedRule[]>();
      let trigram = 0;
      for (let at = 0; at < path.length; at += 1) {
        trigram = nextTrigram(trigram, path.charCodeAt(at));
        const rules = this.#byTrigram.get(trigram);
        if (rules === undefined || tried.has(rules)) continue;
        tried.add(rules);
        best = bestOf(rules, path, find, best);
      }
    }
    if (best === undefined) return {allowed: true};
    const allowed = best.weight % 2 === 1;
    return {allowed, rule: `${allowed ? 'Allow' : 'Disallow'}: ${best.pattern}`};
  }
}

/** The rule of most weight among `atLeast` and those that match. */
function bestOf(
  rules: readonly IndexedRule[] = [],
  path: string,
  find: Find,
  atLeast: IndexedRule | undefined,
): IndexedRule | undefined {
  let best = atLeast;
  for (const rule of rules) {
    if (rule.weight > (best?.weight ?? 0) && matchPath(rule.pattern, path, find)) best = rule;
  }
  return best;
}

function file<Key>(rulesBy: Map<Key, IndexedRule[]>, key: Key, rule: IndexedRule): void {
  const rules = rulesBy.get(key);
  if (rules) rules.push(rule);
  else rulesBy.set(key, [rule]);
}

function literalPrefixOf(pattern: string): string {
  const star = pattern.indexOf('*');
  if (star !== -1) return pattern.slice(0, star);
  return pattern.endsWith('$') ? pattern.slice(0, -1) : pattern;
}

/** What a rule with wildcards is found by: three characters in a row, as a number. None for other rules. */
function trigramsOf(pattern: string): readonly number[] {
  const trigrams: number[] = [];
  if (!pattern.includes('*')) return trigrams;
  for (const literal of pattern.split(/[*$]/)) {
    let trigram = 0;
    for (let at = 0; at < literal.length; at += 1) {
      trigram = nextTrigram(trigram, literal.charCodeAt(at));
      if (at >= 2) trigrams.push(trigram);
    }
  }
  return trigrams;
}

/** The last three characters, of seven bits each. */
function nextTrigram(trigram: number, code: number): number {
  return ((trigram << 7) | code) & 0x1f_ffff;
}

function rarestOf(trigrams: readonly number[], frequency: ReadonlyMap<number, number>): number | undefined {
  let rarest: number | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const trigram of trigrams) {
    const count = frequency.get(trigram) ?? 0;
    if (count < fewest) [rarest, fewest] = [trigram, count];
  }
  return rarest;
}

type Find = (literal: string, from: number) => number;

/**
 * Whether a pattern matches from the start of the path. `*` is any run of characters, a final `$` the end of
 * the path. Each literal between two `*` is taken where it first occurs, which leaves the most room for the
 * rest; so nothing is tried twice, and the time is linear in path and pattern. (FR-WF-08d)
 */
export function matchPath(pattern: string, path: string, find = finderIn(path)): boolean {
  const anchored = pattern.endsWith('$');
  const end = anchored ? pattern.length - 1 : pattern.length;
  let star = pattern.indexOf('*');
  if (star === -1) {
    return anchored ? path.length === end && pattern.startsWith(path) : path.startsWith(pattern);
  }
  if (!path.startsWith(pattern.slice(0, star))) return false;
  let at = star;
  for (;;) {
    const next = pattern.indexOf('*', star + 1);
    const literal = pattern.slice(star + 1, next === -1 ? end : next);
    if (next === -1 && anchored) return path.length - literal.length >= at && path.endsWith(literal);
    const found = find(literal, at);
    if (found === -1) return false;
    if (next === -1) return true;
    at = found + literal.length;
    star = next;
  }
}

/** Up to here `indexOf`, which is fast but promises nothing, costs at most this much for each character. */
const SHORT = 64;

/** Remembers what it found: a hostile file makes thousands of rules look for the same literals in a long path. */
function finderIn(path: string): Find {
  let finds: Map<string, {readonly from: number; readonly at: number}> | undefined;
  return (literal, from) => {
    if (literal.length > path.length - from) return -1;
    finds ??= new Map();
    const known = finds.get(literal);
    // Nothing between `known.from` and `known.at`, so nothing between a later start and `known.at`.
    if (known && known.from <= from && (known.at === -1 || from <= known.at)) return known.at;
    const at = literal.length <= SHORT ? path.indexOf(literal, from) : findLong(path, literal, from);
    finds.set(literal, {from, at});
    return at;
  };
}

/**
 * Finds a literal in linear time (Knuth, Morris, Pratt). `indexOf` takes 5 to 18 ms for one of 500 to 4,000
 * characters in a path of 8,000, and a robots.txt has room for a thousand of them.
 */
export function findLong(text: string, literal: string, from: number): number {
  // For each prefix of the literal, the length of the longest proper prefix that is also its suffix.
  const borders = new Uint32Array(literal.length);
  const extend = (matched: number, code: number): number => {
    let length = matched;
    while (length > 0 && literal.charCodeAt(length) !== code) length = borders[length - 1] as number;
    return literal.charCodeAt(length) === code ? length + 1 : length;
  };
  for (let at = 1; at < literal.length; at += 1) {
    borders[at] = extend(borders[at - 1] as number, literal.charCodeAt(at));
  }
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    matched = extend(matched, text.charCodeAt(at));
    if (matched === literal.length) return at + 1 - matched;
  }
  return -1;
}

/**
 * What does not stand for itself: all but the unreserved and reserved characters of RFC 3986, and of these
 * `*`, `$` and `'`. `*` and `$` mean something in a rule, and the URL parser writes `'` as `%27` in a query:
 * these three are equal to their encoded forms.
 */
const ENCODED = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!&()+,;=]/gu;
const ENCODED_IN_PATTERN = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!&()+,;=*]/gu;
/** A pattern that is normal as it stands: most are. */
const PLAIN = /^[A-Za-z0-9\-._~:/?#[\]@!&()+,;=*]*\$?$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Path and query in the one spelling in which they are compared with rules. Unreserved characters are
 * decoded, hexadecimal digits are upper case, and a `%` that starts no escape is `%25`. The result is ASCII,
 * and normalising it again changes nothing. (B4)
 */
export function normalizePath(path: string): string {
  return path.replace(ENCODED, normalizeCharacter);
}

/** An escape, or one character. */
function normalizeCharacter(found: string): string {
  if (found.length < 3) return Buffer.from(found).toString('hex').toUpperCase().replace(/../g, '%$&');
  const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
  return UNRESERVED.test(character) ? character : found.toUpperCase();
}

interface NormalPattern {
  /** ASCII; every `*` is a wildcard, and a `$` stands at the end only. */
  readonly pattern: string;
  /** Characters of the normalised pattern, `*` and `$` included. (FR-WF-ROBOTS-RULE-01) */
  readonly length: number;
}

/** The pattern of a rule in the spelling of `normalizePath`, its wildcards left alone. (Ruling B4) */
export function normalizePattern(written: string): NormalPattern {
  if (PLAIN.test(written)) return {pattern: written, length: written.length};
  const anchor = written.endsWith('$') ? '$' : '';
  const body = written.slice(0, written.length - anchor.length);
  const pattern = body.replace(ENCODED_IN_PATTERN, normalizeCharacter) + anchor;
  // `$` and `'` are three characters in that spelling, but one in the rule.
  const single = body.match(/[$']/g)?.length ?? 0;
  return {pattern, length: pattern.length - 2 * single};
}
