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
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';

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
