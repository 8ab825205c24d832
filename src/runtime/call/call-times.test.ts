import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {openTestRuntime, toolOf} from '../../../test/support/open-test-runtime.ts';

test('ruling W8: started_at is when execution began, after the approval, and duration_sec is ended_at − started_at', async () => {
  const clock = createManualClock();
  const began = clock.now();
  const slow = toolOf(
    'slow',
    async () => {
      clock.advance(1500);
      return 'done';
    },
    {action: 'run', timeoutMs: 100_000},
  );
  const {call, events} = await openTestRuntime({
    clock,
    tools: [slow],
    approver: {
      ask: async () => {
        clock.advance(60_000);
        return {answer: 'once'};
      },
    },
  });
  const result = await call('slow');
  expect(result).toMatchObject({status: 'success', duration_sec: 1.5});
  expect(Date.parse(result.started_at) - began).toBe(60_000);
  expect(Date.parse(result.ended_at) - Date.parse(result.started_at)).toBe(1500);
  expect((await events()).find(({event}) => event === 'tool_call_finished')?.payload).toMatchObject({
    duration_sec: 1.5,
    approval_wait_sec: 60,
  });
});
