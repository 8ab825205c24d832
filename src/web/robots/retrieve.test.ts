import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {SITE, web} from '../../../test/support/robots-internet.ts';
import {Deadline} from '../../core/deadline.ts';
import type {LogEvent} from '../../core/log.ts';
import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {HttpResponse, WebUrl} from '../page.ts';
import {retrieveRobots} from './retrieve.ts';
import {decideByRobots} from './robots.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const RULES = bytes('User-agent: *\nDisallow: /no\n');

interface Answer {
  readonly status?: number;
  readonly location?: string;
  readonly body?: Result<{bytes: Uint8Array; cut: boolean}>;
}

/** Retrieves the robots.txt of SITE from the given answers, URL → answer; notes what becomes of them. */
function retrieval(answerTo: (url: string) => Promise<Result<Answer>>) {
  const clock = createManualClock();
  const budget = new Deadline(1000, clock);
  onTestFinished(() => budget.close());
  const ends: string[] = [];
  const log: LogEvent[] = [];
  const open = async (url: WebUrl): Promise<Result<HttpResponse>> => {
    const answer = await answerTo(url.canonical);
    if (!answer.ok) return answer;
    const {status = 200, location, body = ok({bytes: RULES, cut: false})} = answer.value;
    return ok({
      status,
      statusText: '',
      headers: new Map(location === undefined ? [] : [['location', [location]]]),
      read: async () => ok(new Uint8Array()),
      readPrefix: async maxBytes => {
        ends.push(`read ${maxBytes} of ${url.canonical}`);
        return body;
      },
      discard: () => ends.push(`discarded ${url.canonical}`),
    });
  };
  const options = {
    max_redirects: 3,
    robots: {
      fail_open: false,
      user_agent_token: '',
      max_robots_bytes: 500,
      cross_origin_redirects: 'follow',
    },
  } as WebFetchOptions;
  const robots = retrieveRobots(
    web(`${SITE}/page`),
    {
      options,
      log: event => log.push(event),
      open,
    },
    budget,
  );
  return {robots, clock, ends, log};
}

const answering = (answers: Readonly<Record<string, Answer | Failure>>) =>
  retrieval(async url => {
    const answer = answers[url];
    if (answer === undefined) throw new Error(`Unexpected request of ${url}`);
    return 'code' in answer ? {ok: false, error: answer} : ok(answer);
  });

const ROBOTS = `${SITE}/robots.txt`;
const FAR = 'http://far.test/r';

describe('what becomes of a response', () => {
  test.each([100, 199, 300, 304, 404, 499, 500, 599])('the body of a %i is let go unread', async status => {
    const {robots, ends} = answering({[ROBOTS]: {status}});
    await robots;
    expect(ends).toEqual([`discarded ${ROBOTS}`]);
  });

  test.each([301, 302, 303, 307, 308])('that of a %i is too, and the target is read', async status => {
    const {robots, ends} = answering({[ROBOTS]: {status, location: FAR}, [FAR]: {}});
    expect(decideByRobots(unwrap(await robots).rulesFor('x'), '/no').allowed).toBe(false);
    expect(ends).toEqual([`discarded ${ROBOTS}`, `read 500 of ${FAR}`]);
  });

  test('security: one that comes after the time is over is let go when it comes', async () => {
    let arrive: (answer: Result<Answer>) => void = () => {};
    const {robots, clock, ends} = retrieval(() => new Promise(resolve => (arrive = resolve)));
    clock.advance(1000);
    expect(await robots).toMatchObject({error: {code: 'robots_unavailable', details: {error: 'timeout'}}});
    expect(ends).toEqual([]);
    arrive(ok({}));
    await expect.poll(() => ends).toEqual([`discarded ${ROBOTS}`]);
  });

  test.each([
    ['fails', () => fail('network', 'late')],
    [
      'throws',
      (): never => {
        throw new TypeError('late');
      },
    ],
  ])('one that %s after the time is over is nobody\u2019s concern', async (_, end) => {
    let arrive: () => void = () => {};
    const late = new Promise<void>(resolve => {
      arrive = resolve;
    });
    const {robots, clock} = retrieval(() => late.then(end));
    clock.advance(1000);
    expect(await robots).toMatchObject({error: {details: {error: 'timeout'}}});
    arrive();
    // An unhandled rejection would fail the run.
    await new Promise(resolve => setImmediate(resolve));
  });

  test('ruling B2 a body that does not end ends with the time', async () => {
    const {robots, clock, ends} = answering({[ROBOTS]: {body: new Promise(() => {}) as never}});
    await expect.poll(() => ends.length).toBe(1);
    clock.advance(1000);
    expect(await robots).toMatchObject({error: {details: {error: 'timeout'}}});
  });
});

describe('what a status says (ruling B3)', () => {
  test.each([
    [199, 'unexpected_status'],
    [300, 'unexpected_status'],
    [399, 'unexpected_status'],
    [500, 'http_5xx'],
    [599, 'http_5xx'],
  ])('%i is unavailable: %s', async (status, error) => {
    const {robots} = answering({[ROBOTS]: {status}});
    expect(await robots).toMatchObject({
      error: {
        code: 'robots_unavailable',
        message: `The robots.txt of ${SITE} could not be read (${error}, status ${status}), so nothing of it may be fetched. Retry later, or choose another source.`,
        details: {origin: SITE, error, status},
      },
    });
  });

  test.each([
    [200, false],
    [299, false],
    [400, true],
    [499, true],
  ])('%i: the rules hold, or there are none', async (status, allowed) => {
    const robots = unwrap(await answering({[ROBOTS]: {status}}).robots);
    expect(decideByRobots(robots.rulesFor('x'), '/no').allowed).toBe(allowed);
  });
});

describe('what failed on the way', () => {
  const failure = (code: Failure['code'], details: object = {}): Failure => {
    const {error} = fail(code, 'no', {...details});
    return error;
  };

  test.each([
    ['network', {error: 'econnreset'}, 'econnreset'],
    ['network', {}, 'network'],
    ['network', {error: 5}, 'network'],
    ['response_too_large', {error: 'econnreset'}, 'response_too_large'],
  ] as const)('FR-WF-09a %s %j is unavailable: %s', async (code, details, error) => {
    expect(await answering({[ROBOTS]: failure(code, details)}).robots).toMatchObject({
      error: {
        code: 'robots_unavailable',
        message: `The robots.txt of ${SITE} could not be read (${error}), so nothing of it may be fetched. Retry later, or choose another source.`,
        details: {origin: SITE, error},
      },
    });
    const body: Result<never> = {ok: false, error: failure(code, details)};
    expect(await answering({[ROBOTS]: {body}}).robots).toMatchObject({error: {details: {error}}});
  });

  test.each(['dns_failed', 'ssrf_blocked', 'port_blocked'] as const)(
    'ruling B3 %s of the origin itself is that error; of a hop it is unavailable',
    async code => {
      expect(await answering({[ROBOTS]: failure(code)}).robots).toMatchObject({error: {code}});
      const hop = answering({[ROBOTS]: {status: 301, location: FAR}, [FAR]: failure(code)});
      expect(await hop.robots).toMatchObject({error: {code: 'robots_unavailable', details: {error: code}}});
    },
  );

  test('ruling B3 a certificate of the origin itself that does not verify is that error; of a hop it is unavailable', async () => {
    const failed = failure('network', {error: 'tls_validation_failed'});
    expect(await answering({[ROBOTS]: failed}).robots).toMatchObject({error: {code: 'network'}});
    const hop = answering({[ROBOTS]: {status: 301, location: FAR}, [FAR]: failed});
    expect(await hop.robots).toMatchObject({
      error: {code: 'robots_unavailable', details: {error: 'tls_validation_failed'}},
    });
  });

  test('ruling B3 the name asked about is the origin’s on every hop; its other ports are not', async () => {
    const other = `${SITE}:8080/r`;
    const hop = (code: Failure['code']) =>
      answering({[ROBOTS]: {status: 301, location: other}, [other]: failure(code)}).robots;
    expect(await hop('dns_failed')).toMatchObject({error: {code: 'dns_failed'}});
    expect(await hop('port_blocked')).toMatchObject({error: {code: 'robots_unavailable'}});
  });
});

test('T-WF-ROB-13 a file that was cut is logged with its limit, one that was not is not', async () => {
  const cut = answering({[ROBOTS]: {body: ok({bytes: RULES, cut: true})}});
  await cut.robots;
  expect(cut.log).toEqual([
    {
      level: 'warn',
      event: 'robots_truncated',
      message: 'robots.txt truncated at 500 bytes',
      requested_host: 'site.test',
    },
  ]);
  const whole = answering({[ROBOTS]: {}});
  await whole.robots;
  expect(whole.log).toEqual([]);
});
