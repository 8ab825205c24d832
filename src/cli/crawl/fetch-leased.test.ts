import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Json} from '../../core/json.ts';
import {ok, type Result} from '../../core/result.ts';
import type {LeasedUrl, ReadPage} from '../toolbox-services.ts';
import {fetchLeased, type Hold} from './fetch-leased.ts';

const LEASED: LeasedUrl = {
  url: 'https://a.example/1',
  host: 'a.example',
  depth: 1,
  attempt: 1,
  epoch: 'e',
  fence: 7,
  aside: false,
};
const TERMS = {leaseMs: 60_000, depth: 2, tries: 3, sameSite: false};
const LINK = {url: 'https://a.example/2', host: 'a.example', depth: 2};

const page = (markdown: string): Result<ReadPage> =>
  ok({
    markdown,
    response: {
      requested_url: LEASED.url,
      final_url: LEASED.url,
      fetched_at: '2026-01-01T00:00:00.000Z',
      title: 'A page',
      chunks: [
        {index: 0, text: markdown, token_count: 3},
        {index: 1, text: '', token_count: 4},
      ],
      rendering_method: 'http',
      notes: ['cache_hit'],
    } as unknown as ReadPage['response'],
  });

interface Circumstances {
  readonly leased?: Partial<LeasedUrl>;
  readonly depth?: number;
  readonly hold?: Partial<Hold>;
}

async function fetchWith(result: Result<ReadPage>, {leased, depth = 2, hold}: Circumstances = {}) {
  const read: string[] = [];
  const ended = await fetchLeased(
    {...LEASED, ...leased},
    {...TERMS, depth},
    {signal: new AbortController().signal, isStopped: () => false, engineNow: () => 0, ...hold},
    {
      read: async url => {
        read.push(url);
        return result;
      },
      links: async () => [LINK],
      clock: createManualClock(),
      random: () => 0.5,
    },
  );
  return {read, ended};
}

const refused = (code: Failure['code'], details: {readonly [name: string]: Json} = {}) =>
  fail(code, 'Refused.', details);

test('S1 a page is a record, an end and its links, as deep as the job goes', async () => {
  const {ended} = await fetchWith(page('text'));
  expect(ended).toMatchObject({
    record: {url: LEASED.url, status: 'ok', title: 'A page', tokens: 7, cached: true, attempts: 1, depth: 1},
    finish: {outcome: 'done', leased: {fence: 7}},
    links: [LINK],
  });
  expect((await fetchWith(page('text'), {depth: 1})).ended?.links).toEqual([]);
});

test('S1 what may pass is tried again, later each time, and is a failure after its last try', async () => {
  const first = await fetchWith(refused('timeout'));
  expect(first.ended).toMatchObject({
    record: undefined,
    finish: {outcome: 'again', code: 'timeout', delayMs: 1500},
  });
  const second = await fetchWith(refused('timeout'), {leased: {attempt: 2}});
  expect(second.ended?.finish).toMatchObject({outcome: 'again', delayMs: 3000});
  const third = await fetchWith(refused('timeout'), {leased: {attempt: 3}});
  expect(third.ended).toMatchObject({
    record: {status: 'failed', code: 'timeout', retryable: true, attempts: 3},
    finish: {outcome: 'failed', code: 'timeout'},
  });
  expect((await fetchWith(refused('robots_disallowed'))).ended?.finish).toMatchObject({outcome: 'failed'});
});

test('S1 a host that kept others waiting was not asked, which is no try of the address', async () => {
  const busy = refused('host_busy', {host: 'a.example', reason: 'busy', retry_after: '2'});
  for (const attempt of [1, 3, 9]) {
    const {ended} = await fetchWith(busy, {leased: {attempt}});
    expect(ended).toMatchObject({
      record: undefined,
      finish: {outcome: 'back', code: 'host_busy', pauseMs: 2000},
      links: [],
    });
  }
  // It has told another one to stay away for an hour.
  const away = refused('host_busy', {host: 'a.example', reason: 'pause', retry_after: '3000'});
  expect((await fetchWith(away)).ended).toMatchObject({
    record: {code: 'host_busy'},
    finish: {outcome: 'aside', pauseMs: 300_000},
  });
});

test('S1 Retry-After is a pause of the host, and who asks for more than five minutes is set aside', async () => {
  const asked = (retry_after: string) => refused('http_4xx', {status: 429, retry_after});
  const {ended} = await fetchWith({...asked('60'), error: {...asked('60').error, retryable: true}});
  expect(ended?.finish).toMatchObject({outcome: 'again', pauseMs: 60_000, delayMs: 60_500});
  expect((await fetchWith(asked('301'))).ended?.finish).toMatchObject({outcome: 'aside', pauseMs: 300_000});
});

test('S1 without the engine, and where the worker stops, nobody was asked', async () => {
  const away = await fetchWith(refused('hub_unavailable'), {leased: {attempt: 3}});
  expect(away.ended).toMatchObject({record: undefined, finish: {outcome: 'back'}});
  const signal = AbortSignal.abort();
  const stopped = await fetchWith(refused('cancelled'), {hold: {signal, isStopped: () => true}});
  expect(stopped.ended).toMatchObject({record: undefined, finish: {outcome: 'back'}});
});

test('S1 nothing is said of an address whose lease has ended', async () => {
  const {ended} = await fetchWith(refused('cancelled'), {hold: {signal: AbortSignal.abort()}});
  expect(ended).toBeUndefined();
});

test('S1 an address that ten workers had, or whose host was given up, is not asked for', async () => {
  const taken = await fetchWith(page('text'), {leased: {attempt: 11}});
  expect(taken.read).toEqual([]);
  expect(taken.ended).toMatchObject({
    record: {code: 'timeout'},
    finish: {outcome: 'failed', code: 'timeout'},
  });
  const aside = await fetchWith(page('text'), {leased: {aside: true}});
  expect(aside.read).toEqual([]);
  expect(aside.ended?.record).toMatchObject({status: 'failed', code: 'http_4xx', retryable: true});
});

test('S1 a page that no line of results holds is a failure that says so', async () => {
  const {ended} = await fetchWith(page('"'.repeat(30 * 2 ** 20)));
  expect(ended).toMatchObject({
    record: {status: 'failed', code: 'response_too_large'},
    finish: {outcome: 'failed', code: 'response_too_large'},
  });
});
