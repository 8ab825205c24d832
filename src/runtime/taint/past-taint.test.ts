import {expect, test} from 'vitest';
import type {EventPayload} from '../events/run-event.ts';
import {TaintReader} from './past-taint.ts';

const UNKNOWN = 'an earlier session, of which the log does not say';
const NOTHING = {untrusted: [], private: [], hasSecret: false, bits: 0};
const EVERYTHING = {...NOTHING, untrusted: [UNKNOWN], private: [UNKNOWN]};

test.each<[string, readonly (readonly [string, EventPayload])[], boolean, object]>([
  ['nothing', [], false, NOTHING],
  ['nothing, damaged', [], true, EVERYTHING],
  ['a call that nobody followed', [['tool_call_finished', {step: 1}]], false, EVERYTHING],
  ['a call that was started', [['tool_call_started', {step: 1}]], false, NOTHING],
  [
    'a call that was followed',
    [
      ['taint_delivered', {kind: 'untrusted', origin: 'https://a.example/', secrets: 0}],
      ['tool_call_finished', {step: 1}],
    ],
    false,
    {...NOTHING, untrusted: ['https://a.example/']},
  ],
  [
    'a call that was checked',
    [
      ['taint_checked', {bits: 1.5}],
      ['tool_call_finished', {step: 1}],
      ['taint_checked', {bits: 2}],
    ],
    false,
    {...NOTHING, bits: 3.5},
  ],
  [
    'bits that are none',
    [
      ['taint_checked', {bits: -3}],
      ['taint_checked', {bits: '4'}],
      ['other', {bits: 5}],
    ],
    false,
    NOTHING,
  ],
  [
    'private text, each origin once',
    [
      ['taint_delivered', {kind: 'private', origin: 'read a', secrets: 0}],
      ['taint_delivered', {kind: 'private', origin: 'read a', secrets: 0}],
      ['taint_delivered', {kind: 'private', origin: 7, secrets: '1'}],
    ],
    false,
    {...NOTHING, private: ['read a', UNKNOWN]},
  ],
  [
    'a secret',
    [['taint_delivered', {kind: 'private', origin: 'read a', secrets: 1}]],
    false,
    {...NOTHING, private: ['read a'], hasSecret: true},
  ],
  [
    'what is known, damaged',
    [['taint_delivered', {kind: 'untrusted', origin: 'a', secrets: 0}]],
    true,
    {...NOTHING, untrusted: [UNKNOWN, 'a'], private: [UNKNOWN]},
  ],
])('T1 a log with %s', (_, events, isDamaged, expected) => {
  const reader = new TaintReader();
  for (const [event, payload] of events) reader.add(event, payload);
  expect(reader.taint(isDamaged)).toEqual(expected);
});

test('T1 a thousand origins are remembered', () => {
  const reader = new TaintReader();
  for (let at = 0; at < 1001; at += 1) reader.add('taint_delivered', {kind: 'private', origin: `read ${at}`});
  const {private: origins} = reader.taint(false);
  expect([origins.length, origins.at(-1)]).toEqual([1000, 'read 999']);
});
