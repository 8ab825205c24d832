import {expect, test} from 'vitest';
import type {VerifyQuoteData} from './verify-quote-data.ts';
import {renderVerifyQuote} from './verify-quote-text.ts';

const PAGE = {final_url: 'https://example.com/', fetched_at: '2026-01-02T03:04:05.678Z', snapshot: 's'};
const section = {number: 2, heading: 'Rest'};

test.each<readonly [VerifyQuoteData['checks'][number], string]>([
  [{verdict: 'exact', start: 1, end: 2, chunk: 3, section}, 'exact · chunk 3, section 2 "Rest" · 1-2'],
  [{verdict: 'exact', start: 1, end: 2, chunk: 3}, 'exact · 1-2'],
  [{verdict: 'exact', start: 1, end: 2, section}, 'exact · 1-2'],
  [{verdict: 'exact', link: 'https://example.com/#:~:text=a#b'}, 'exact · #:~:text=a#b'],
  [
    {verdict: 'absent', start: 1, end: 2, chunk: 3, section},
    'NOT on the page · nearest: chunk 3, section 2 "Rest"',
  ],
  [{verdict: 'near', text: 'a "b"'}, 'NOT as quoted; near (0 %) · "a \\"b\\""'],
  [{verdict: 'near', share: 0.999}, 'NOT as quoted; near (99 %)'],
])('ruling R1: of %j the line says what there is', (check, line) => {
  expect(renderVerifyQuote({...PAGE, checks: [check]})).toBe(line);
});
