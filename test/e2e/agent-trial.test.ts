import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {replayTask, TASKS} from '../../bench/agent/replay.js';
import {countTokens} from '../../src/web/tokens/count-tokens.ts';

const program = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

/** A tenth more than November 2026 had. What makes one of them dearer is to be seen here. */
const MOST_TEXT = 31_000;

test('policy: the recorded trial of an agent ends well, and its answers cost no more than they did', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  let text = 0;
  for (const task of TASKS) {
    const {costs, left} = await replayTask(task, {program, channel: 'text', count: countTokens});
    const failed = costs.filter(({isError}) => isError).map(({tool, first}) => `${tool}: ${first}`);
    expect({task: task.name, left, failed}).toEqual({task: task.name, left: [], failed: []});
    expect(costs.every(({structure}) => structure === 0)).toBe(true);
    text += costs.reduce((sum, cost) => sum + cost.text, 0);
  }
  expect(TASKS).toHaveLength(8);
  expect(text).toBeLessThanOrEqual(MOST_TEXT);
});
