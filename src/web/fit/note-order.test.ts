import fc from 'fast-check';
import {expect, test} from 'vitest';
import {orderNotes} from './order-notes.ts';

/** FR-WF-NOTES-ORDER-01 as it is printed there. */
const PRINTED = [
  'cache_hit',
  'robots_unavailable_fail_open',
  'browser_unavailable_used_http',
  'browser_timeout_dom_partial',
  'browser_dom_truncated',
  'browser_blocked_non_get',
  'charset_fallback',
  'cache_write_failed',
  'tool_output_limit',
] as const;

test('FR-WF-03c FR-WF-NOTES-ORDER-01 there are nine notes, in the printed order', () => {
  expect(orderNotes([...PRINTED].reverse())).toEqual(PRINTED);
});

test('FR-WF-NOTES-ORDER-01 any notes stand in that order, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PRINTED)), notes => {
      expect(orderNotes(notes)).toEqual(PRINTED.filter(note => notes.includes(note)));
    }),
  );
});
