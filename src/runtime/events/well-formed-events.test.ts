import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../../test/support/open-test-runtime.ts';
import {PendingApprovals} from '../approvals/pending-approvals.ts';

/** Escapes of surrogates are all that `JSON.stringify` writes of a lone one. */
const HALF = /\\ud[89a-f]/;

test('review B8: neither the log nor a record nor a result has half a character, wherever a text is cut', async () => {
  const emoji = '😀'.repeat(100_000);
  const boom = toolOf('boom', async () => {
    throw new Error(`x${emoji}`);
  });
  const {call, directory, runtime} = await openTestRuntime({tools: [echoTool, boom], maxOutputBytes: 5000});
  const results = [
    await call('echo', {text: `x${emoji}`}),
    await call('echo', {text: emoji, ['\ud800']: 1}),
    await call('echo', {text: '\udc00'}),
    await call('boom'),
    await call(`x${emoji}`),
    await call('echo', {text: 'a'}, {maxOutputBytes: 1}),
  ];
  await runtime.session.pending.add({tool: 'x', summary: '', preview: `x${emoji}`, hash: 'a'.repeat(64)});
  const [pending] = await new PendingApprovals(directory, runtime.clock)
    .list()
    .then(found => (found.ok ? found.value : []));
  expect(JSON.stringify(results)).not.toMatch(HALF);
  expect(JSON.stringify(pending)).not.toMatch(HALF);
  for (const file of ['events.jsonl', ...[1, 2, 3, 4, 5, 6].map(step => `calls/step_000${step}.json`)]) {
    const text = await readFile(join(directory, file), 'utf8');
    expect(text).not.toMatch(HALF);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  }
});
