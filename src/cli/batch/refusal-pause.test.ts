import {expect, test} from 'vitest';
import type {Failure} from '../../core/failure/failure.ts';
import type {Json} from '../../core/json.ts';
import {refusalPause} from './refusal-pause.ts';

const NOW = Date.parse('2026-01-10T12:00:00.000Z');

function failure(status: Json, retry_after?: Json): Failure {
  const details = retry_after === undefined ? {status} : {status, retry_after};
  return {code: 'http_4xx', message: 'm', retryable: true, details};
}

test.each([
  [429, '7', 7000],
  [503, ' 120 ', 120_000],
  [503, '0', 0],
  [429, 'Sat, 10 Jan 2026 12:01:30 GMT', 90_000],
  [429, 'Saturday, 10-Jan-26 12:01:30 GMT', 90_000],
  [429, 'Sat, 10 Jan 2026 11:00:00 GMT', 0],
  [429, '9'.repeat(400), Number.POSITIVE_INFINITY],
])('RFC 9110 §10.2.3 status %j with Retry-After %j is a pause of %j ms', (status, header, pause) => {
  expect(refusalPause(failure(status, header), 1, NOW)).toBe(pause);
});

test.each([['soon'], ['-5'], ['1.5'], ['2026-01-10'], ['12 Jan'], [''], [7]])(
  'policy: Retry-After %j is none, and the pause is doubled at each try',
  header => {
    expect([1, 2, 3].map(attempt => refusalPause(failure(429, header), attempt, NOW))).toEqual([
      5000, 10_000, 20_000,
    ]);
  },
);

test.each([[404], [500], [502], [408], [undefined]])('policy: status %j asks for no pause', status => {
  expect(refusalPause(failure(status ?? null, '7'), 1, NOW)).toBeUndefined();
});
