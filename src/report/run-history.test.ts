import {describe, expect, test} from 'vitest';
import type {EventPayload, RunEvent} from '../runtime/events/run-event.ts';
import {refusalOf, stateOf, waitingsOf} from './call/call-state.ts';
import {type RecordedCall, RunHistory} from './run-history.ts';

const START = Date.parse('2026-01-10T08:00:00.000Z');

/** Events, a second after each other. */
function historyOf(...events: readonly (readonly [string, EventPayload?])[]): RunHistory {
  const history = new RunHistory();
  for (const [index, [event, payload = {}]] of events.entries()) {
    const time = new Date(START + index * 1000).toISOString();
    history.add({seq: index + 1, time, event, payload} satisfies RunEvent);
  }
  return history;
}

function callOf(...events: readonly (readonly [string, EventPayload?])[]): RecordedCall {
  const all = events.map(([event, payload]) => [event, {step: 1, ...payload}] as const);
  const call = historyOf(['tool_call_started', {step: 1, tool: 'run'}], ...all).calls.get(1);
  if (call === undefined) throw new Error('There is no call.');
  return call;
}

const finished = (error_type: string | null): [string, EventPayload] => [
  'tool_call_finished',
  {status: error_type === null ? 'success' : 'error', error_type, duration_sec: 0.5, approval_wait_sec: 1},
];

describe('the state of a call', () => {
  test.each([
    [null, 'success'],
    ['file_not_found', 'failed'],
    ['timeout', 'failed'],
    ['ssrf_blocked', 'refused'],
    ['approval_denied', 'refused'],
    ['constructor', 'failed'],
  ])('report: %s is %s', (error, state) => {
    expect(stateOf(callOf(finished(error)))).toBe(state);
  });

  test('report: a call that has not ended is running until a later session begins', () => {
    const history = historyOf(['session_started'], ['tool_call_started', {step: 1, tool: 'run'}]);
    expect([...history.calls.values()].map(stateOf)).toEqual(['running']);
    history.takeChanged();
    history.add({seq: 3, time: '2026-01-10T09:00:00.000Z', event: 'session_resumed', payload: {steps: 1}});
    expect([...history.calls.values()].map(stateOf)).toEqual(['lost']);
    expect(history.takeChanged()).toEqual([1]);
  });
});

describe('the rule that refused a call', () => {
  test('report: a setting, an answer, a guard, or that there was no approver', () => {
    const decided = (by: string, reason: string): [string, EventPayload] => [
      'approval_decided',
      {decision: 'refused', by, reason, wait_sec: 0},
    ];
    const asked: [string, EventPayload] = ['approval_requested', {by: 'tools.approval.mode'}];
    expect(refusalOf(callOf(decided('tools.approval.rules[0]', 'No.'), finished('approval_denied')))).toEqual(
      {
        by: 'tools.approval.rules[0]',
        reason: 'No.',
      },
    );
    expect(refusalOf(callOf(asked, decided('refuse', 'Not now.'), finished('approval_denied')))).toEqual({
      by: 'answer "refuse", asked because of tools.approval.mode',
      reason: 'Not now.',
    });
    expect(refusalOf(callOf(asked, finished('approval_required')))?.by).toBe('tools.approval.mode');
    const guard = {message: 'Blocked.', details: {cidr: '10.0.0.0/8', toggle: 'block_private_ips'}};
    expect(refusalOf(callOf(['guard_blocked', guard], finished('ssrf_blocked')))).toEqual({
      by: 'toggle block_private_ips, cidr 10.0.0.0/8',
      reason: 'Blocked.',
    });
    expect(refusalOf(callOf(finished(null)))).toBeUndefined();
  });
});

describe('the time a call waited', () => {
  test('report: it ends with the decision, whatever other approver was asked before', () => {
    const call = callOf(
      ['approval_requested', {by: 'x'}],
      ['approval_decided', {decision: 'allowed', by: 'once', wait_sec: 1.5}],
      finished(null),
    );
    expect(waitingsOf(call)).toEqual([[START + 500, START + 2000]]);
  });

  test('report: it is open while the approver is asked, and known where the call was cancelled', () => {
    expect(waitingsOf(callOf(['approval_requested', {by: 'x', approval_id: null}]))).toEqual([
      [START + 1000, undefined],
    ]);
    expect(waitingsOf(callOf(['approval_requested', {by: 'x', approval_id: 'a'}]))).toEqual([]);
    expect(waitingsOf(callOf(finished('cancelled')))).toEqual([[START, START + 1000]]);
  });
});

test('policy: a log whose fields are of other types is no matter', () => {
  const strange = [null, 7, 'x', [], {}].flatMap(value =>
    ['tool_call_started', 'approval_decided', 'guard_blocked', 'tool_call_finished'].map(
      event =>
        [
          event,
          {step: 1, tool: value, params: value, details: value, by: value, artifacts: value, wait_sec: value},
        ] as const,
    ),
  );
  const history = historyOf(['session_started', {step: 'one'}], ['x', {step: 0}], ...strange);
  expect([...history.calls.keys()]).toEqual([1]);
  for (const call of history.calls.values()) {
    expect(stateOf(call)).toBe('failed');
    expect(waitingsOf(call)).toEqual(expect.any(Array));
  }
});
