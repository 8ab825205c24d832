import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decideByRobots} from './decide-by-robots.ts';
import {isAllowedByRobots} from './is-allowed-by-robots.ts';
import {parseRobots, parseRobotsBytes} from './parse-robots.ts';

const TOKEN = 'forge-webfetch';
const allows = (text: string, path: string, token = TOKEN): boolean =>
  isAllowedByRobots(parseRobots(text), token, path);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('rules', () => {
  test('T-WF-ROB-01 disallows a path', () => {
    expect(allows('User-agent: *\nDisallow: /private/', '/private/x')).toBe(false);
  });

  test('T-WF-ROB-02 allows a path that no rule names', () => {
    expect(allows('User-agent: *\nDisallow: /private/', '/public/x')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /private/', '/private')).toBe(true);
  });

  test('T-WF-ROB-03 Allow beats Disallow on an equal-length match', () => {
    expect(allows('User-agent: *\nDisallow: /page\nAllow: /page', '/page')).toBe(true);
    expect(allows('User-agent: *\nAllow: /page\nDisallow: /page', '/page')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /pa*e\nAllow: /page', '/page')).toBe(true);
    expect(allows('User-agent: *\nAllow: /pa*e\nDisallow: /page', '/page')).toBe(true);
  });

  test('T-WF-ROB-04 the longest match wins', () => {
    const text = 'User-agent: *\nAllow: /a/b/\nDisallow: /a/\nDisallow: /a/b/c/';
    expect(allows(text, '/a/x')).toBe(false);
    expect(allows(text, '/a/b/x')).toBe(true);
    expect(allows(text, '/a/b/c/x')).toBe(false);
  });

  test('FR-WF-ROBOTS-RULE-01 wildcards count towards the length of a rule', () => {
    const text = 'User-agent: *\nDisallow: /private/*\nAllow: /private/public/';
    expect(allows(text, '/private/public/x')).toBe(true);
    expect(allows(text, '/private/other')).toBe(false);
    // Six characters against five, four of which are literal in both.
    expect(allows('User-agent: *\nDisallow: /abc**\nAllow: /abcd', '/abcd')).toBe(false);
    expect(allows('User-agent: *\nAllow: /abcd\nDisallow: /abcd$', '/abcd')).toBe(false);
  });

  test('T-WF-ROB-10 `*` is any run of characters and a final `$` the end', () => {
    const text = 'User-agent: *\nDisallow: /*.php$\nDisallow: /tmp*x/y';
    expect(allows(text, '/a/b.php')).toBe(false);
    expect(allows(text, '/a/b.php?q')).toBe(true);
    expect(allows(text, '/tmp/1/x/y/z')).toBe(false);
    expect(allows(text, '/tmpx/y')).toBe(false);
    expect(allows(text, '/tmp/1/y')).toBe(true);
    // Also in a pattern that has to be written anew.
    expect(['/é', '/éx'].map(path => allows('User-agent: *\nDisallow: /é$', path))).toEqual([false, true]);
    expect(['/$é', '/$éx'].map(path => allows('User-agent: *\nDisallow: /$é', path))).toEqual([false, false]);
  });

  test('FR-WF-ROBOTS-PATH-01 the query takes part', () => {
    const text = 'User-agent: *\nDisallow: /*?session=';
    expect(allows(text, '/page?session=1')).toBe(false);
    expect(allows(text, '/page?id=1')).toBe(true);
  });

  test('ruling B4 a pattern that starts with neither `/` nor `*` never matches', () => {
    expect(allows('User-agent: *\nDisallow: private', '/private')).toBe(true);
    expect(allows('User-agent: *\nDisallow: $', '/')).toBe(true);
    expect(allows('User-agent: *\nDisallow: %2Fprivate', '/private')).toBe(true);
    expect(allows('User-agent: *\nDisallow: *private', '/x/private')).toBe(false);
  });

  test('ruling B4 an empty value is no rule', () => {
    expect(allows('User-agent: *\nDisallow:', '/x')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /x\nAllow:', '/x')).toBe(false);
  });

  test('ruling B4 RFC 9309 §2.2.2 compares one spelling of percent-encoding', () => {
    const same: [string, string][] = [
      ['/foo/bar?baz=quz', '/foo/bar?baz=quz'],
      ['/foo/bar/ツ', '/foo/bar/%E3%83%84'],
      ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84'],
      ['/foo/bar/%62%61%7A', '/foo/bar/baz'],
      ['/a b', '/a%20b'],
      ['/a{b}|c', '/a%7Bb%7D|c'],
      ['/file-%2A.html', '/file-*.html'],
      ['/a$b', '/a%24b'],
      ["/*?q='x'", '/s?q=%27x%27'],
    ];
    for (const [rule, path] of same)
      expect([rule, allows(`User-agent: *\nDisallow: ${rule}`, path)]).toEqual([rule, false]);
    expect(allows('User-agent: *\nDisallow: /a%2Fb', '/a/b')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /a%2Fb', '/a%2fb')).toBe(false);
  });

  test('ruling B4 length is counted on the normalised pattern', () => {
    expect(allows('User-agent: *\nAllow: /*/xx\nDisallow: /é', '/é/xx')).toBe(false);
    expect(allows('User-agent: *\nDisallow: /a$b\nAllow: /a%24', '/a%24b')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /%61%62\nAllow: /ab', '/ab')).toBe(true);
  });

  test('ruling B5 /robots.txt itself is always allowed', () => {
    expect(allows('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /', '/robots.txt.bak')).toBe(false);
  });

  test('names the rule that decided, in printable ASCII', () => {
    const rules = parseRobots('User-agent: *\nDisallow: /é\u001b[2J*\nAllow: /ok').rulesFor(TOKEN);
    expect(decideByRobots(rules, '/%C3%A9%1B[2Jx')).toEqual({
      allowed: false,
      rule: 'Disallow: /%C3%A9%1B[2J*',
    });
    expect(decideByRobots(rules, '/ok')).toEqual({allowed: true, rule: 'Allow: /ok'});
    expect(decideByRobots(rules, '/other')).toEqual({allowed: true});
  });
});

describe('groups', () => {
  test('T-WF-ROB-05 falls back to the first `*` group', () => {
    const text =
      'User-agent: other\nDisallow: /o\n\nUser-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b';
    expect([allows(text, '/o'), allows(text, '/a'), allows(text, '/b')]).toEqual([true, false, true]);
    expect(allows('User-agent: other\nDisallow: /', '/')).toBe(true);
  });

  test('T-WF-ROB-11 of several matching groups the first is taken, not their union', () => {
    const text = 'User-agent: forge-webfetch\nDisallow: /1\n\nUser-agent: Forge-WebFetch\nDisallow: /2';
    expect([allows(text, '/1'), allows(text, '/2')]).toEqual([false, true]);
  });

  test('T-WF-ROB-15 the longest matching line of a group is its specificity', () => {
    const text = [
      'User-agent: forge-webfetch/1',
      'Disallow: /short',
      'User-agent: forge-webfetch',
      'User-agent: something-much-longer-that-does-not-match',
      'User-agent: my-forge-webfetch-agent',
      'Disallow: /long',
    ].join('\n');
    expect([allows(text, '/short'), allows(text, '/long')]).toEqual([true, false]);
    expect(
      allows('User-agent: forge\nDisallow: /a\nUser-agent: forge-webfetch\nDisallow: /b', '/b', 'forge'),
    ).toBe(false);
  });

  test('ruling B6 the line contains the token, not the token the line', () => {
    expect(allows('User-agent: forge\nDisallow: /', '/')).toBe(true);
    expect(allows('User-agent: the FORGE-webfetch bot\nDisallow: /', '/')).toBe(false);
    expect(allows('User-agent:\nDisallow: /', '/')).toBe(true);
    expect(allows('User-agent: x\nDisallow: /', '/', '')).toBe(true);
  });

  test('ruling B6 a chosen group without rules allows all', () => {
    expect(allows('User-agent: forge-webfetch\nDisallow:\n\nUser-agent: *\nDisallow: /', '/x')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /\n\nUser-agent: forge-webfetch', '/x')).toBe(true);
  });

  test('RFC 9309 §2.2.4 what newer drafts say of the use of pages changes no rule', () => {
    const extra = [
      'Content-Usage: train-ai=n',
      'Content-Signal: search=no',
      'License: https://x/rsl.xml',
      'Content-Usage:',
    ];
    for (const line of extra) {
      // Two agents share the rules below, whatever stands between them or behind.
      const text = `User-agent: a\n${line}\nUser-agent: forge-webfetch\n${line}\nDisallow: /x\n${line}\nDisallow: /y`;
      for (const [path, token] of [
        ['/x', 'a'],
        ['/y', 'a'],
        ['/x', TOKEN],
        ['/y', TOKEN],
      ] as const) {
        expect(allows(text, path, token), `${line} ${token} ${path}`).toBe(false);
      }
      expect(allows(text, '/z')).toBe(true);
    }
  });

  test('policy: preferences are those of the agents right above them; a licence is that of the site', () => {
    const robots = parseRobots(
      'Content-Usage: nobody\nUser-agent: a\nUser-agent: forge-webfetch\nContent-Signal: ours\nUser-agent: *\nContent-Signal: theirs\nDisallow:\nContent-Usage: theirs too\nlicense: /rsl.xml',
    );
    const values = (token: string) => robots.preferencesFor(token).map(({value}) => value);
    expect(values('forge-webfetch')).toEqual(['ours', '/rsl.xml']);
    expect(values('other')).toEqual(['theirs', 'theirs too', '/rsl.xml']);
    const many = parseRobots(
      `User-agent: *\n${`Content-Usage: ${'x'.repeat(600)}\nContent-Usage: y\n`.repeat(100)}`,
    );
    expect(many.preferencesFor('z')).toHaveLength(16);
  });

  test('RFC 9309 §2.2.4 other records do not part a group', () => {
    const text =
      'User-agent: a\nSitemap: https://x/\nCrawl-delay: 5\nUser-agent: forge-webfetch\nDisallow: /x';
    expect([allows(text, '/x'), allows(text, '/x', 'a')]).toEqual([false, false]);
    expect(allows('User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /x', '/x', 'a')).toBe(true);
    expect(allows('User-agent: *\nDisallow: /w\nSitemap: https://x/\nDisallow: /x', '/x')).toBe(false);
    expect(parseRobots(`${text}\nAllow: /y\nUser-agent: *`).groups).toEqual([
      {
        agents: ['a', 'forge-webfetch'],
        rules: [
          {allow: false, pattern: '/x'},
          {allow: true, pattern: '/y'},
        ],
      },
      {agents: ['*'], rules: []},
    ]);
  });

  test('one token after another is answered from one value', () => {
    const robots = parseRobots('User-agent: aa\nDisallow: /a\nUser-agent: bb\nDisallow: /b');
    for (const path of ['/a', '/b']) {
      expect(isAllowedByRobots(robots, 'aa', path)).toBe(path !== '/a');
      expect(isAllowedByRobots(robots, 'bb', path)).toBe(path !== '/b');
    }
  });
});

describe('lines', () => {
  test('FR-WF-09b invalid lines are passed over', () => {
    const text =
      '<html>\nDisallow: /before\nUser-agent: *\nnonsense\n: /\nDisallow /nocolon\nDisalow: /typo\nDisallow: /x';
    expect(['/before', '/nocolon', '/typo', '/x'].map(path => allows(text, path))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test.each(['\n', '\r', '\r\n'])('ruling B4 lines end at %j', end => {
    const text = ['User-agent: *', 'Disallow: /x', 'Disallow: /y'].join(end);
    expect([allows(text, '/x'), allows(text, '/y'), allows(text, '/z')]).toEqual([false, false, true]);
  });

  test('ruling B4 comments and blanks', () => {
    const text =
      '# c: d\n \tUSER-AGENT\t:\t* # all: of you\nDISALLOW : /x # why\nDisallow: /y#z\n#Disallow: /w';
    expect(['/x', '/y', '/w'].map(path => allows(text, path))).toEqual([false, false, true]);
    // Only space and TAB are blanks: a no-break space belongs to the value.
    expect(allows('User-agent: *\nDisallow:\u00a0/x', '/x')).toBe(true);
  });

  test('FR-WF-09b empty text allows all', () => {
    for (const text of ['', '\n\n', '\ufeff', '# nothing']) expect(allows(text, '/')).toBe(true);
    expect(allows('\ufeffUser-agent: *\nDisallow: /x', '/x')).toBe(false);
  });

  test('policy: reading never throws, and allows /robots.txt', {tags: 'slow'}, () => {
    const line = fc.oneof(
      fc.string({unit: 'binary'}),
      fc
        .tuple(
          fc.constantFrom('User-agent', 'Disallow', 'allow', 'Sitemap', ' disallow\t'),
          fc.constantFrom(':', ' : ', ''),
          fc.string({unit: fc.constantFrom('/', '*', '$', '%', '4', 'a', '#', 'é', '\ud800', '*')}),
        )
        .map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r', '\r\n'), fc.webPath(), (lines, end, path) => {
        const robots = parseRobots(lines.join(end));
        isAllowedByRobots(robots, 'a', path);
        return isAllowedByRobots(robots, 'a', '/robots.txt');
      }),
    );
  });
});

describe('bytes', () => {
  const allowsBytes = (input: Uint8Array, cut: boolean, path: string): boolean =>
    isAllowedByRobots(parseRobotsBytes(input, cut), TOKEN, path);

  test('FR-WF-09b a byte order mark is passed over', () => {
    expect(allowsBytes(bytes('\ufeffUser-agent: *\nDisallow: /x'), false, '/x')).toBe(false);
  });

  test('FR-WF-09b what is not UTF-8 allows all', () => {
    const text = bytes('User-agent: *\nDisallow: /x\n');
    expect(allowsBytes(Uint8Array.of(...text, 0xff), false, '/x')).toBe(true);
    expect(allowsBytes(Uint8Array.of(0xff, 0xfe, ...text), false, '/x')).toBe(true);
  });

  test('FR-WF-ROBOTS-SIZE-01 ruling B4 the line that the limit cut is dropped', () => {
    const text = bytes('User-agent: *\nDisallow: /x\nDisallow: /yé');
    const cutInsideE = text.subarray(0, text.length - 1);
    expect([allowsBytes(cutInsideE, true, '/x'), allowsBytes(cutInsideE, true, '/y')]).toEqual([false, true]);
    // Uncut, half a code point is a file that is not UTF-8.
    expect(allowsBytes(cutInsideE, false, '/x')).toBe(true);
    expect(allowsBytes(bytes('User-agent: *\rDisallow: /x\rDisallow: /'), true, '/z')).toBe(true);
    expect(allowsBytes(bytes('User-agent: * and no end of the line'), true, '/')).toBe(true);
  });
});
