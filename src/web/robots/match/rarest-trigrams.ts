import {FNV1A_START, fnv1aExtend} from './fnv1a.ts';

const STAR = 0x2a;
const DOLLAR = 0x24;
const BUCKETS = 0x10000;

/**
 * For each pattern with a `*` and three literal characters in a row: the hash of those three that the
 * fewest patterns share. A path that the pattern matches holds them.
 */
export function rarestTrigrams(patterns: readonly string[]): ReadonlyMap<number, number> {
  const wild: number[] = [];
  const frequency = new Uint32Array(BUCKETS);
  for (const [rule, pattern] of patterns.entries()) {
    if (!pattern.includes('*')) continue;
    wild.push(rule);
    eachTrigram(pattern, hash => {
      const bucket = bucketOf(hash);
      frequency[bucket] = (frequency[bucket] ?? 0) + 1;
    });
  }
  const rarest = new Map<number, number>();
  for (const rule of wild) {
    let fewest = Number.POSITIVE_INFINITY;
    eachTrigram(patterns[rule] ?? '', hash => {
      const count = frequency[bucketOf(hash)] ?? 0;
      if (count < fewest) {
        fewest = count;
        rarest.set(rule, hash);
      }
    });
  }
  return rarest;
}

function eachTrigram(pattern: string, visit: (hash: number) => void): void {
  let literals = 0;
  let first = 0;
  let second = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const code = pattern.charCodeAt(at);
    literals = code === STAR || code === DOLLAR ? 0 : literals + 1;
    if (literals >= 3) visit(fnv1aExtend(fnv1aExtend(fnv1aExtend(FNV1A_START, first), second), code));
    first = second;
    second = code;
  }
}

function bucketOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}
