import {FNV1A_START, fnv1aExtend} from './fnv1a.ts';
import {HashChains} from './hash-chains.ts';
import {matchPath} from './match-path.ts';
import {normalizePattern} from './normalize-pattern.ts';
import {rarestTrigrams} from './rarest-trigrams.ts';
import {SegmentFinder} from './segment-finder.ts';

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

const NONE = -1;

/**
 * The rules of one group, found by a piece of text that a path must hold for them to match: what stands
 * before the first wildcard, or for a rule with wildcards three characters that few other rules have. The
 * prefixes and trigrams of a path are hashed as it is walked, so a path costs its own length and the rules
 * it meets. One ASCII string and a few columns hold it all.
 */
export class RuleIndex {
  readonly #patterns: string;
  /** Rule → where its pattern starts; one more than there are rules. */
  readonly #starts: Uint32Array;
  /** Rule → precedence: twice the length of the pattern, and one more for Allow. */
  readonly #weights: Uint32Array;
  readonly #chains: HashChains;
  /** Length → 1 where some rule is found by a prefix of that length. */
  readonly #prefixLengths: Uint8Array;
  readonly #hasTrigrams: boolean;

  constructor(rules: readonly RobotsRule[]) {
    const patterns: string[] = [];
    this.#starts = new Uint32Array(rules.length + 1);
    this.#weights = new Uint32Array(rules.length);
    let end = 0;
    for (const {allow, pattern: written} of rules) {
      const {pattern, length} = normalizePattern(written);
      const rule = patterns.push(pattern) - 1;
      end += pattern.length;
      this.#starts[rule + 1] = end;
      this.#weights[rule] = 2 * length + (allow ? 1 : 0);
    }
    // Joined, the patterns no longer keep the file that they were cut from in memory.
    this.#patterns = patterns.join('');

    this.#chains = new HashChains(rules.length);
    const trigrams = rarestTrigrams(patterns);
    this.#hasTrigrams = trigrams.size > 0;
    const prefixLengths = new Set<number>();
    for (const [rule, pattern] of patterns.entries()) {
      const trigram = trigrams.get(rule);
      if (trigram === undefined) {
        const length = literalPrefixLength(pattern);
        prefixLengths.add(length);
        this.#chains.add(hashOf(pattern, length), rule);
      } else this.#chains.add(trigram, rule);
    }
    const longest = [...prefixLengths].reduce((one, other) => Math.max(one, other), NONE);
    this.#prefixLengths = new Uint8Array(longest + 1);
    for (const length of prefixLengths) this.#prefixLengths[length] = 1;
  }

  /** Of memory, but for the objects that hold the columns. */
  get bytes(): number {
    const columns = this.#starts.byteLength + this.#weights.byteLength + this.#prefixLengths.byteLength;
    return this.#patterns.length + columns + this.#chains.bytes;
  }

  /** FR-WF-08c: the longest matching rule decides; on a tie, Allow. `path` went through `normalizePath`. */
  decide(path: string): Decision {
    const finder = new SegmentFinder(path);
    let best = this.#bestByPrefix(path, finder);
    if (this.#hasTrigrams) best = this.#bestByTrigram(path, finder, best);
    if (best === NONE) return {allowed: true};
    const allowed = this.#weightOf(best) % 2 === 1;
    return {allowed, rule: `${allowed ? 'Allow' : 'Disallow'}: ${this.#patternOf(best)}`};
  }

  #bestByPrefix(path: string, finder: SegmentFinder): number {
    const longest = Math.min(path.length, this.#prefixLengths.length - 1);
    let best = NONE;
    let hash = FNV1A_START;
    for (let length = 0; length <= longest; length += 1) {
      if (this.#prefixLengths[length] === 1) best = this.#bestOf(hash, path, finder, best);
      hash = fnv1aExtend(hash, path.charCodeAt(length));
    }
    return best;
  }

  #bestByTrigram(path: string, finder: SegmentFinder, atLeast: number): number {
    // A path of one repeated letter would otherwise try the same rules at each of its positions.
    const tried = new Set<number>();
    let best = atLeast;
    let [first, second] = [path.charCodeAt(0), path.charCodeAt(1)];
    for (let at = 2; at < path.length; at += 1) {
      const third = path.charCodeAt(at);
      const hash = fnv1aExtend(fnv1aExtend(fnv1aExtend(FNV1A_START, first), second), third);
      if (this.#chains.has(hash) && !tried.has(hash)) {
        tried.add(hash);
        best = this.#bestOf(hash, path, finder, best);
      }
      first = second;
      second = third;
    }
    return best;
  }

  /** The rule of most weight among `atLeast` and the matching ones that are filed under `hash`. */
  #bestOf(hash: number, path: string, finder: SegmentFinder, atLeast: number): number {
    let best = atLeast;
    for (let rule = this.#chains.first(hash); rule !== NONE; rule = this.#chains.next(rule)) {
      const better = best === NONE || this.#weightOf(rule) > this.#weightOf(best);
      if (better && matchPath(this.#patternOf(rule), path, finder)) best = rule;
    }
    return best;
  }

  #weightOf(rule: number): number {
    return this.#weights[rule] as number;
  }

  #patternOf(rule: number): string {
    return this.#patterns.slice(this.#starts[rule], this.#starts[rule + 1]);
  }
}

function literalPrefixLength(pattern: string): number {
  const star = pattern.indexOf('*');
  if (star !== -1) return star;
  return pattern.endsWith('$') ? pattern.length - 1 : pattern.length;
}

function hashOf(text: string, length: number): number {
  let hash = FNV1A_START;
  for (let at = 0; at < length; at += 1) hash = fnv1aExtend(hash, text.charCodeAt(at));
  return hash;
}
