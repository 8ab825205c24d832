import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {findLong, matchPath, normalizePath, RuleIndex} from './rules.ts';

/** What a pattern means, by trying everything. */
function naiveMatch(pattern: string, path: string): boolean {
  if (pattern === '$') return path === '';
  const [first] = pattern;
  if (first === undefined) return true;
  const rest = pattern.slice(1);
  if (first === '*') {
    for (let at = 0; at <= path.length; at += 1) if (naiveMatch(rest, path.slice(at))) return true;
    return false;
  }
  return path[0] === first && naiveMatch(rest, path.slice(1));
}

const piece = fc.string({unit: fc.constantFrom('a', 'b', '/'), maxLength: 5});
const path = fc.string({unit: fc.constantFrom('a', 'b', '/'), maxLength: 12}).map(text => `/${text}`);
const pattern = fc
  .tuple(fc.constantFrom('/', '*'), fc.array(piece, {maxLength: 4}), fc.constantFrom('', '$'))
  .map(([start, pieces, end]) => start + pieces.join('*') + end);

describe('matching', () => {
  test('T-WF-ROB-10 agrees with a matcher that tries everything', () => {
    fc.assert(
      fc.property(pattern, path, (rule, text) => matchPath(rule, text) === naiveMatch(rule, text)),
      {numRuns: 2000},
    );
  });

  test('T-WF-ROB-04 the index finds the rule that a look at every rule finds', {tags: 'slow'}, () => {
    const rules = fc.array(fc.record({allow: fc.boolean(), pattern}), {maxLength: 12});
    fc.assert(
      fc.property(rules, path, (list, text) => {
        let weight = 0;
        for (const rule of list) {
          const own = rule.pattern.length * 2 + (rule.allow ? 1 : 0);
          if (own > weight && naiveMatch(rule.pattern, text)) weight = own;
        }
        return new RuleIndex(list).decide(text).allowed === (weight === 0 || weight % 2 === 1);
      }),
      {numRuns: 2000},
    );
  });

  test('a long literal is found where indexOf finds it', () => {
    const text = fc.string({unit: fc.constantFrom('a', 'b'), maxLength: 60});
    const segment = fc.string({unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 9});
    fc.assert(
      fc.property(text, segment, fc.nat({max: 20}), (one, other, from) => {
        return findLong(one, other, from) === (from > one.length ? -1 : one.indexOf(other, from));
      }),
      {numRuns: 1000},
    );
    // Where a match breaks off, it goes on from the longest beginning that the text still holds.
    expect(findLong('aababb', 'aabb', 0)).toBe(-1);
    expect(findLong('aabaaabaaac', 'aabaaac', 0)).toBe(4);
    const long = `${'a'.repeat(100)}b`;
    expect(matchPath(`/*${long}*c$`, `/x${'a'.repeat(30)}${long}yc`)).toBe(true);
    expect(matchPath(`/*${long}*c$`, `/x${'a'.repeat(200)}c`)).toBe(false);
  });
});

describe('worst cases', () => {
  test('security: a long literal does not hold up a long path, as it does with indexOf', () => {
    const half = 'a'.repeat(10_000);
    const text = 'a'.repeat(40_000);
    const msOf = (look: () => number): number => {
      const started = performance.now();
      expect(look()).toBe(-1);
      return performance.now() - started;
    };
    const linear = Array.from({length: 5}, () => msOf(() => findLong(text, `${half}b${half}`, 0)));
    const quadratic = Array.from({length: 5}, () => msOf(() => text.indexOf(`${half}b${half}`)));
    expect(Math.min(...linear)).toBeLessThan(Math.min(...quadratic) / 3);
  });

  test('security: `/a*a*a*…b` against a path of `a` ends', () => {
    expect(matchPath(`/${'a*'.repeat(200_000)}b`, `/${'a'.repeat(400_000)}`)).toBe(false);
    expect(matchPath('/a*a*a*a*a*b', `/${'a'.repeat(100_000)}`)).toBe(false);
  });

  test('security: a file of wildcards does not hold up a long path', () => {
    // Two characters between `*` are no trigram, so that all rules come up for a path that holds `aab`.
    const pairs = 'bcdefghijklmnopqrstuvwxyz'
      .split('')
      .flatMap((one, _, all) => all.map(other => one + other));
    const rules = pairs.flatMap(pair =>
      pairs.slice(0, 50).map(other => ({allow: false, pattern: `/*aab*${pair}*${other}`})),
    );
    expect(rules.length).toBeGreaterThan(30_000);
    const index = new RuleIndex(rules);
    const started = performance.now();
    expect(index.decide(`/${'a'.repeat(8000)}aab`).allowed).toBe(true);
    // A look of its own for each rule takes seconds.
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe('one spelling', () => {
  test('normalising twice changes nothing, and gives printable ASCII', () => {
    const text = fc.string({
      unit: fc.constantFrom('%', '4', '1', 'a', 'F', 'é', '😀', '\ud800', '*', '$', "'", ' ', '\n'),
    });
    fc.assert(
      fc.property(text, input => {
        const normal = normalizePath(input);
        return normalizePath(normal) === normal && /^[!-~]*$/.test(normal);
      }),
    );
  });

  test('RFC 9309 §2.2.2 reserved characters stay as they were written', () => {
    expect(normalizePath('/a%2fb/%7ec?d=%3D&e=f')).toBe('/a%2Fb/~c?d=%3D&e=f');
    expect(normalizePath('/100%/%zz')).toBe('/100%25/%25zz');
  });
});

const disallow = (...patterns: readonly string[]) => patterns.map(pattern => ({allow: false, pattern}));

test.each([
  ['a rule longer than the path', ['/abcdef'], '/abc', true],
  ['the empty beginning of `*`', ['*'], '/', false],
  ['a rule for the root only', ['/$'], '/', false],
  ['a rule for the root only', ['/$'], '/a', true],
  ['three characters at the end of the path', ['*xyz$'], '/wxyz', false],
  ['three characters that occur more than once', ['*aaa*b'], '/aaaaaab', false],
])('T-WF-ROB-04 %s: %j and %s', (_, patterns, path, allowed) => {
  expect(new RuleIndex(disallow(...patterns)).decide(path).allowed).toBe(allowed);
});
