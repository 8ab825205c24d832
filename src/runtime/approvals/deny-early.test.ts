import {describe, expect, test} from 'vitest';
import {z} from 'zod';
import {openTestRuntime, ruleOf} from '../../../test/support/open-test-runtime.ts';
import {ok} from '../../core/result.ts';
import {defineTool} from '../../core/tool.ts';
import {schemaOf} from '../../tools/schema.ts';
import type {ApprovalOptions} from './options.ts';

/** A tool that has done too much as soon as it works anything out. */
const heavy = defineTool({
  name: 'heavy',
  title: 'Heavy',
  description: 'Heavy.',
  annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: false},
  params: schemaOf(z.strictObject({path: z.string(), dry_run: z.boolean().default(false)})),
  data: schemaOf(z.string()),
  badParams: 'invalid_params',
  action: 'write_file',
  timeoutMs: () => 1000,
  outline: ({path, dry_run}) => ({subject: {kind: 'path', values: [path]}, dryRun: dry_run}),
  intend: async ({path, dry_run}) => {
    if (!dry_run) throw new Error('The work was begun.');
    return ok({
      subject: {kind: 'path', values: [path]},
      summary: 's',
      preview: 'p',
      fileHashes: {},
      dryRun: true,
    });
  },
  execute: async () => ok('done'),
  renderText: data => data,
});

describe('review R12: what is denied is denied before any work', () => {
  test.each<[string, Partial<ApprovalOptions>, string]>([
    ['the mode', {mode: 'deny'}, 'tools.approval.mode'],
    ['the denylist, by tool', {denylist: ['heavy']}, 'tools.approval.denylist'],
    ['the denylist, by action', {denylist: ['write_file']}, 'tools.approval.denylist'],
    ['a rule', {rules: [ruleOf({decision: 'deny', path: '/secrets/'})]}, 'tools.approval.rules[0]'],
  ])('by %s', async (_, approval, by) => {
    const {call, events} = await openTestRuntime({tools: [heavy], approval});
    const result = await call('heavy', {path: 'secrets/a'});
    expect(result.error).toMatchObject({
      error_type: 'approval_denied',
      details: {rule: by, retryable: false},
    });
    expect((await events()).filter(({event}) => event.startsWith('approval'))).toMatchObject([
      {
        event: 'approval_decided',
        payload: {decision: 'refused', by, tool: 'heavy', action: 'write_file', step: 1},
      },
    ]);
  });

  test('a dry run needs no leave, so the mode does not deny it', async () => {
    const {call} = await openTestRuntime({tools: [heavy], approval: {mode: 'deny'}});
    expect(await call('heavy', {path: 'a', dry_run: true})).toMatchObject({status: 'success', data: 'done'});
  });
});
