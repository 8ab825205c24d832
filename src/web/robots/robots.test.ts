import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  file,
  type Handlers,
  robotsInternet as internet,
  redirect,
  SITE,
  say,
  web,
} from '../../../test/support/robots-internet.ts';
import {type Failure, fail} from '../../core/result.ts';
import {decideByRobots, isAllowedByRobots, parseRobots, parseRobotsBytes, robotsToken} from './robots.ts';

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

const derive = (user_agent: string, user_agent_token = ''): string =>
  robotsToken({user_agent, robots: {user_agent_token}});

test('T-WF-ROB-14 the token is derived from user_agent where none is set', () => {
  expect(derive('forge-webfetch/1.0')).toBe('forge-webfetch');
  expect(derive('My Bot (beta)/2.0 (+https://example.com/)')).toBe('MyBotbeta');
  expect(derive('plain')).toBe('plain');
  expect(derive('/1.0')).toBe('forge-webfetch');
  expect(derive('')).toBe('forge-webfetch');
});

test('FR-WF-ROBOTS-UA-TOKEN-01 a token that is set is taken as it is', () => {
  expect(derive('other/1.0', 'my-token')).toBe('my-token');
});

const FAIL_OPEN = {ok: true, value: {failOpen: true}};
const refused = (code: string, details: object) => ({
  ok: false,
  error: expect.objectContaining({code, details: expect.objectContaining(details)}),
});
const unavailable = (error: string, more: object = {}) =>
  refused('robots_unavailable', {origin: SITE, error, ...more});

describe('redirects', () => {
  const rules = file(say('User-agent: *\nDisallow: /no'));

  test('T-WF-ROB-16 a redirect to another origin is unavailable and names it', async () => {
    const {check, requests} = await internet({
      [SITE]: file(redirect('http://www.site.test/robots.txt?token=1')),
      'http://www.site.test': rules,
    });
    expect(await check(`${SITE}/x`)).toEqual(
      unavailable('robots_cross_origin_redirect', {redirect_target: 'http://www.site.test'}),
    );
    expect(requests('http://www.site.test')).toEqual([]);
    const again = await check(`${SITE}/x`);
    expect(!again.ok && again.error.message).toBe(
      `The robots.txt of ${SITE} redirects to another origin, http://www.site.test, so its rules are unknown. Fetch the page from http://www.site.test if it is there too.`,
    );
  });

  test('FR-WF-ROBOTS-REDIR-02 with fail_open it is allowed', async () => {
    const {check} = await internet({[SITE]: file(redirect('http://other.test/'))}, {fail_open: true});
    expect(await check(`${SITE}/x`)).toEqual(FAIL_OPEN);
  });

  test('ruling B1 the upgrade of one host from http to https is followed, for the origin asked about', async () => {
    const {check, requests} = await internet({
      [SITE]: file(redirect('https://site.test/robots.txt')),
      'https://site.test': rules,
    });
    expect(await check(`${SITE}/no`)).toEqual(refused('robots_disallowed', {origin: SITE}));
    await check(`${SITE}/yes`);
    expect(requests('https://site.test').length).toBe(1);
    await check('https://site.test/yes');
    expect(requests('https://site.test').length).toBe(2);
  });

  test.each([
    ['another port', SITE, `${SITE}:8080/robots.txt`],
    ['https on another port', SITE, 'https://site.test:8443/robots.txt'],
    ['back to http', 'https://site.test', 'http://site.test/robots.txt'],
    ['from another port to https', `${SITE}:8080`, 'https://site.test/robots.txt'],
    ['https of another host', SITE, 'https://www.site.test/robots.txt'],
    ['https all along', 'https://site.test:80', 'https://site.test/robots.txt'],
    ['http on the port of https', SITE, 'http://site.test:443/robots.txt'],
  ])('ruling B1 no other change of origin is followed: %s', async (_, from, to) => {
    const {check} = await internet({[from]: file(redirect(to)), [web(to).origin]: rules});
    expect(await check(`${from}/x`)).toEqual(
      refused('robots_unavailable', {origin: from, error: 'robots_cross_origin_redirect'}),
    );
  });

  test('ruling B1 same_site follows within the registrable domain', async () => {
    const sites = {
      [SITE]: file(redirect('http://www.site.test/robots.txt')),
      'http://www.site.test': rules,
      'http://a.github.io': file(redirect('http://b.github.io/robots.txt')),
      'http://b.github.io': rules,
    };
    const {check} = await internet(sites, {cross_origin_redirects: 'same_site'});
    expect(await check(`${SITE}/no`)).toEqual(refused('robots_disallowed', {origin: SITE}));
    expect(await check('http://a.github.io/no')).toEqual(
      refused('robots_unavailable', {error: 'robots_cross_origin_redirect'}),
    );
    // Two hosts that have no registrable domain have none in common; one host is always one site.
    const addresses = {
      'http://10.1.1.1': file(redirect('http://10.1.1.2/robots.txt')),
      'http://10.1.1.2': file(redirect('http://10.1.1.2:8080/robots.txt')),
      'http://10.1.1.2:8080': rules,
    };
    const numbers = await internet(addresses, {cross_origin_redirects: 'same_site'});
    expect(await numbers.check('http://10.1.1.1/no')).toEqual(
      refused('robots_unavailable', {error: 'robots_cross_origin_redirect'}),
    );
    expect(await numbers.check('http://10.1.1.2/no')).toEqual(refused('robots_disallowed', {}));
    const free = await internet(sites, {cross_origin_redirects: 'follow'});
    expect(await free.check('http://a.github.io/no')).toEqual(refused('robots_disallowed', {}));
  });

  test('FR-WF-ROBOTS-FETCH-01 up to max_redirects are followed', async () => {
    const chain = (last: number): Handlers =>
      Object.fromEntries(
        Array.from({length: last + 1}, (_, at) => [
          at === 0 ? '/robots.txt' : `/${at}`,
          at === last ? say('User-agent: *\nDisallow: /no') : redirect(`/${at + 1}`, 307),
        ]),
      );
    const three = await internet({[SITE]: chain(3)});
    expect(await three.check(`${SITE}/no`)).toEqual(refused('robots_disallowed', {}));
    const four = await internet({[SITE]: chain(4)});
    expect(await four.check(`${SITE}/no`)).toEqual(unavailable('redirect_limit'));
    expect(four.requests(SITE).length).toBe(4);
  });

  test('ruling B3 what is left of 3xx is unavailable', async () => {
    const {check} = await internet({[SITE]: file(say('', 304))});
    expect(await check(`${SITE}/x`)).toEqual(unavailable('unexpected_status', {status: 304}));
    const lost = await internet({[SITE]: file(say('', 302))});
    expect(await lost.check(`${SITE}/x`)).toEqual(unavailable('missing_location', {status: 302}));
    const odd = await internet({[SITE]: file(redirect('ftp://site.test/'))});
    expect(await odd.check(`${SITE}/x`)).toEqual(unavailable('invalid_scheme'));
  });
});

describe('failures of the way there', () => {
  const failure = (code: 'ssrf_blocked' | 'network', details: object): Failure => {
    const failed = fail(code, 'no', details);
    return failed.error;
  };

  test('ruling B3 a name that does not resolve is dns_failed, whatever fail_open says', async () => {
    for (const fail_open of [false, true]) {
      const {check} = await internet({}, {fail_open});
      expect(await check(`${SITE}/x`)).toEqual(refused('dns_failed', {}));
    }
    const elsewhere = await internet(
      {[SITE]: file(redirect('http://gone.test/'))},
      {cross_origin_redirects: 'follow'},
    );
    expect(await elsewhere.check(`${SITE}/x`)).toEqual(unavailable('dns_failed'));
  });

  test('ruling B3 a redirect hop that the guard refuses is unavailable', async () => {
    const {check} = await internet(
      {
        [SITE]: file(redirect('http://10.0.0.1/robots.txt')),
        'http://10.0.0.1': failure('ssrf_blocked', {blocked_ip: '10.0.0.1'}),
      },
      {cross_origin_redirects: 'follow'},
    );
    expect(await check(`${SITE}/x`)).toEqual(unavailable('ssrf_blocked'));
  });

  test('security: fail_open never turns a refusal of the origin itself into a yes', async () => {
    const {check} = await internet({[SITE]: failure('ssrf_blocked', {})}, {fail_open: true});
    expect(await check(`${SITE}/x`)).toEqual(refused('ssrf_blocked', {}));
  });

  test('FR-WF-09a a network failure is unavailable and names its reason', async () => {
    const {check, calls} = await internet({[SITE]: failure('network', {error: 'connection_refused'})});
    expect(await check(`${SITE}/x`)).toEqual(unavailable('connection_refused'));
    // Ruling A5: what the call knows of its hosts goes along.
    expect(calls).toEqual(['pins']);
  });

  test('B3: a certificate that does not verify is a failure of the origin, whatever fail_open says', async () => {
    const bad = failure('network', {error: 'tls_validation_failed'});
    const {check} = await internet({[SITE]: bad}, {fail_open: true});
    expect(await check(`${SITE}/x`)).toEqual(refused('network', {error: 'tls_validation_failed'}));
  });
});
