import {describe, expect, onTestFinished, test} from 'vitest';
import {authorizeForTest} from '../../../test/support/authorize-for-test.ts';
import {checked, newBudget, policyOf} from '../../../test/support/guard-for-test.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {fail, ok} from '../../core/result.ts';
import type {HostDecision} from '../../core/tool.ts';
import type {HttpResponse} from '../page.ts';
import {FetchRun, type HopContext, HostReach} from './fetch-run.ts';

const START = 'https://a.example/page';

interface Setting {
  readonly response?: Partial<HttpResponse>;
  readonly deps?: Partial<HopContext>;
  readonly mayReach?: (host: string) => HostDecision;
}

/** A run whose stages answer at once, and the order in which they were asked. */
function runOf({response, deps, mayReach}: Setting = {}) {
  const asked: string[] = [];
  const requests: unknown[] = [];
  const context: HopContext = {
    options: {timeout_seconds: 20, max_redirects: 1, robots: {fail_open: false}} as HopContext['options'],
    policy: policyOf(),
    clock: createManualClock(),
    guard: {
      authorize: async ({url}) => {
        asked.push('guard');
        return ok(authorizeForTest(url.canonical));
      },
    },
    robots: {
      check: async () => {
        asked.push('robots');
        return ok({failOpen: false});
      },
    },
    transport: {
      request: async (target, request) => {
        asked.push('request');
        requests.push({url: target.url.canonical, ...request});
        return ok({
          status: 200,
          headers: new Map(),
          discard: () => asked.push('discard'),
          ...response,
        } as HttpResponse);
      },
      close: async () => {},
    },
    headers: {'User-Agent': 'forge', Accept: 'text/html'},
    credentials: [],
    signer: undefined,
    log: () => {},
    ...deps,
  };
  const reach = new HostReach(checked(START).url, mayReach);
  const run = new FetchRun(context, {method: 'http', reach, signal: new AbortController().signal});
  onTestFinished(() => run.close());
  return {run, asked, requests};
}

describe('a hop of the main document', () => {
  test('FR-WF-07e is authorized, allowed by robots.txt and only then requested', async () => {
    const {run, asked} = runOf();
    expect(unwrap(await run.takeHop(checked(START), newBudget())).kind).toBe('response');
    expect(asked).toEqual(['guard', 'robots', 'request']);
  });

  test('review R11: a host that the rules refuse is not even resolved', async () => {
    const {run, asked} = runOf({mayReach: () => ({allowed: false, reason: 'No.'})});
    const hop = await run.takeHop(checked('https://b.example/'), newBudget());
    expect(codeOf(hop)).toBe('approval_denied');
    expect(asked).toEqual([]);
  });

  test('FR-WF-07e what robots.txt refuses is not requested', async () => {
    const refused = fail('robots_disallowed', 'No.', {});
    const {run, asked} = runOf({deps: {robots: {check: async () => refused}}});
    expect(codeOf(await run.takeHop(checked(START), newBudget()))).toBe('robots_disallowed');
    expect(asked).toEqual(['guard']);
  });

  test('FR-WF-07b a redirect has no body for us, and leads on from where it was sent', async () => {
    const {run, asked} = runOf({
      response: {status: 301, headers: new Map([['location', ['../x']]])},
    });
    const hop = unwrap(await run.takeHop(checked(START), newBudget()));
    if (hop.kind !== 'redirect') throw new Error('Expected a redirect');
    expect(hop.permanent).toBe(true);
    expect(unwrap(hop.target()).canonical).toBe('https://a.example/x');
    expect(asked.at(-1)).toBe('discard');
  });

  test('ruling C1 a redirect without a Location is a failure of the network', async () => {
    const {run, asked} = runOf({response: {status: 302}});
    expect(await run.takeHop(checked(START), newBudget())).toMatchObject({
      error: {code: 'network', details: {error: 'missing_location', status: 302}},
    });
    expect(asked.at(-1)).toBe('discard');
  });
});

describe('going on', () => {
  test('ruling A1 the limit comes before the target is looked at', () => {
    const {run} = runOf();
    const {url} = checked(START);
    let looks = 0;
    const target = () => {
      looks += 1;
      return ok(checked('https://b.example/').url);
    };
    expect(codeOf(run.goOn(url, target))).toBe('ok');
    expect(run.goOn(url, target)).toMatchObject({
      error: {code: 'redirect_limit', details: {count: 2, max: 1}},
    });
    expect(looks).toBe(1);
  });

  test('FR-WF-07e the target passes the checks that its URL alone allows', () => {
    const {run} = runOf();
    const inside = {...checked(START).url, port: 81};
    expect(codeOf(run.goOn(checked(START).url, () => ok(inside)))).toBe('port_blocked');
  });
});

describe('what a page loads', () => {
  test('FR-WF-ROBOTS-SCOPE-01 is authorized and requested; robots.txt is not asked', async () => {
    const {run, asked, requests} = runOf();
    const request = {method: 'GET', headers: {Accept: 'image/*', 'User-Agent': 'Chromium'}} as const;
    await run.openResource('https://cdn.example/i.png', request, newBudget());
    expect(asked).toEqual(['guard', 'request']);
    expect(requests).toEqual([
      {
        url: 'https://cdn.example/i.png',
        method: 'GET',
        headers: {Accept: 'image/*', 'User-Agent': 'forge'},
      },
    ]);
  });

  test('FR-WF-11b a port or an address that is blocked gets nowhere', async () => {
    const {run, asked} = runOf();
    const request = {method: 'GET', headers: {}} as const;
    expect(codeOf(await run.openResource('https://a.example:81/', request, newBudget()))).toBe(
      'port_blocked',
    );
    expect(codeOf(await run.openResource('http://10.0.0.1/', request, newBudget()))).toBe('ssrf_blocked');
    expect(asked).toEqual([]);
  });
});
