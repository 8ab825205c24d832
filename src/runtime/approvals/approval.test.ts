import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {z} from 'zod';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {
  echoTool,
  openTestRuntime,
  ruleOf,
  tempDirectory,
  toolOf,
  writeNoteTool,
} from '../../../test/support/open-test-runtime.ts';
import {systemClock} from '../../core/clock.ts';
import {ok} from '../../core/result.ts';
import {defineTool} from '../../core/tool.ts';
import type {ApprovalAnswer, ApprovalQuestion, ApprovalRule, Approver} from '../../core/tool-host.ts';
import {schemaOf} from '../../tools/define-tool.ts';
import type {ApprovalOptions} from './options.ts';
import {PendingApprovals} from './pending.ts';

/** Answers in turn, and remembers what it was asked. */
function approverOf(...answers: readonly ApprovalAnswer[]): Approver & {readonly asked: ApprovalQuestion[]} {
  const asked: ApprovalQuestion[] = [];
  return {
    asked,
    ask: async question => {
      asked.push(question);
      return answers[asked.length - 1] ?? {answer: 'refuse', reason: 'no answer left'};
    },
  };
}

async function notes(options: Parameters<typeof openTestRuntime>[0] = {}) {
  const directory = join(await tempDirectory(), 'notes');
  await mkdir(directory);
  const opened = await openTestRuntime({tools: [echoTool, writeNoteTool(directory)], ...options});
  const decisions = async () =>
    (await opened.events())
      .filter(({event}) => event === 'approval_decided')
      .map(({payload}) => `${payload['decision']} by ${payload['by']}`);
  return {...opened, notes: directory, decisions};
}
const NOTE = {path: 'a.txt', text: 'hello'};

test('ruling H3 without an approver a call is refused before any side effect, with the setting that would allow it', async () => {
  const {call, notes: directory, events} = await notes();
  const {error} = await call('write_note', NOTE);
  expect(error).toMatchObject({
    error_type: 'approval_required',
    code: 'approval_required',
    retryable: false,
    details: {
      tool: 'write_note',
      setting: 'tools.approval.allowlist',
      approval_id: expect.stringMatching(/^[0-9a-f]{20}$/),
      rule: 'tools.approval.mode',
    },
  });
  const command = `forge-tools approve ${error?.details?.['approval_id']} --run-dir `;
  expect(error?.message).toContain(
    `write_note needs an approval and nobody can be asked here. The operator can run \`${command}`,
  );
  expect(error?.message).toMatch(
    /"\/[^"]+"` and repeat the call, or add "write_note" to tools\.approval\.allowlist\.$/,
  );
  expect(await readdir(directory)).toEqual([]);
  expect((await events()).find(({event}) => event === 'approval_requested')?.payload).toMatchObject({
    summary: 'write_note a.txt',
    approval_id: error?.details?.['approval_id'],
  });
  expect((await call('echo', {text: 'x'})).status).toBe('success');
});

test('FR-WF-OP-02 the setting of the tool itself is named, and works', async () => {
  const setting = 'tools.webfetch.allow_auto_execution';
  const tools = [toolOf('web_fetch', async () => 1, {action: 'web_fetch'})];
  const off = await openTestRuntime({
    tools,
    autoExecution: new Map([['web_fetch', {setting, enabled: false}]]),
  });
  expect((await off.call('web_fetch')).error?.message).toContain(`or set ${setting} = true.`);
  const on = await openTestRuntime({
    tools,
    autoExecution: new Map([['web_fetch', {setting, enabled: true}]]),
  });
  expect((await on.call('web_fetch')).status).toBe('success');
});

test('policy: another process approves exactly this call, once', async () => {
  const {call, directory, notes: where, decisions} = await notes();
  const {error} = await call('write_note', NOTE);
  const id = String(error?.details?.['approval_id']);
  expect((await new PendingApprovals(directory, systemClock).approve(id)).ok).toBe(true);
  expect((await call('write_note', {...NOTE, text: 'other'})).error?.error_type).toBe('approval_required');
  expect((await call('write_note', NOTE)).status).toBe('success');
  expect(await readFile(join(where, 'a.txt'), 'utf8')).toBe('hello');
  expect((await call('write_note', NOTE)).error?.error_type).toBe('approval_required');
  expect(await decisions()).toEqual(['allowed by approve command']);
});

test('policy: an approval does not hold once the file has changed', async () => {
  const {call, directory, notes: where} = await notes();
  const {error} = await call('write_note', NOTE);
  await new PendingApprovals(directory, systemClock).approve(String(error?.details?.['approval_id']));
  await writeFile(join(where, 'a.txt'), 'changed');
  expect((await call('write_note', NOTE)).error?.error_type).toBe('approval_required');
  const approver: Approver = {
    ask: async () => {
      await writeFile(join(where, 'a.txt'), 'changed again');
      return {answer: 'once'};
    },
  };
  expect((await call('write_note', NOTE, {approver})).error).toMatchObject({
    error_type: 'stale_read',
    code: 'stale_read',
    details: {path: 'a.txt'},
  });
  expect(await readFile(join(where, 'a.txt'), 'utf8')).toBe('changed again');
});

test('policy: once is once, for the session is this call for the session', async () => {
  const approver = approverOf({answer: 'once'}, {answer: 'session'});
  const {call, decisions, notes: where} = await notes({approver});
  const same = async () => {
    await writeFile(join(where, 'a.txt'), 'as before');
    return (await call('write_note', NOTE)).status;
  };
  expect([await same(), await same(), await same(), await same()]).toEqual(Array(4).fill('success'));
  expect(approver.asked).toHaveLength(2);
  expect(approver.asked[0]).toMatchObject({
    tool: 'write_note',
    action: 'write_file',
    summary: 'write_note a.txt',
    preview: '+ hello',
    by: 'tools.approval.mode',
    suggestedRule: ruleOf({tool: 'write_note', path: '/a.txt', match: ['a.txt']}),
    canRemember: false,
  });
  expect((await call('write_note', {...NOTE, text: 'other'})).error?.error_type).toBe('approval_denied');
  expect(await decisions()).toEqual([
    'allowed by once',
    'allowed by session',
    'allowed by session grant',
    'allowed by session grant',
    'refused by refuse',
  ]);
});

test('policy: a rule for the session covers what it covers; "always" is handed to the host', async () => {
  const kept: ApprovalRule[] = [];
  const docs = ruleOf({tool: 'write_note', path: 'a*'});
  const approver = approverOf(
    {answer: 'session-rule', rule: docs},
    {answer: 'always', rule: ruleOf({path: 'b*'})},
  );
  const {call, decisions} = await notes({
    approver,
    rememberRule: async rule => {
      kept.push(rule);
      return ok();
    },
  });
  for (const path of ['a1', 'a2', 'b1', 'b2'])
    expect((await call('write_note', {path, text: ''})).status).toBe('success');
  expect((await call('write_note', {path: 'c', text: ''})).error?.error_type).toBe('approval_denied');
  expect(kept).toEqual([ruleOf({path: 'b*'})]);
  expect(await decisions()).toEqual([
    'allowed by session-rule',
    'allowed by session rule',
    'allowed by always',
    'allowed by session rule',
    'refused by refuse',
  ]);
});

test('policy: a rule that does not cover the call grants this call and nothing else', async () => {
  const approver = approverOf(
    {answer: 'always', rule: ruleOf({path: 'other'})},
    {answer: 'session-rule', rule: ruleOf({})},
    {answer: 'session-rule', rule: ruleOf({path: '*', decision: 'deny'})},
  );
  const {call, decisions, events} = await notes({approver});
  for (const text of ['1', '2', '3'])
    expect((await call('write_note', {path: 'a', text})).status).toBe('success');
  expect(await decisions()).toEqual(Array(3).fill('allowed by once'));
  expect((await events()).filter(({payload}) => payload['rule_problem'] !== undefined)).toHaveLength(3);
});

test('policy: a refusal comes with its reason, and "stop" ends the session', async () => {
  const approver = approverOf({answer: 'refuse', reason: 'use b.txt'}, {answer: 'stop', reason: 'enough'});
  const {call, notes: where} = await notes({approver});
  expect((await call('write_note', NOTE)).error).toMatchObject({
    error_type: 'approval_denied',
    code: 'approval_denied',
    message: expect.stringContaining('said no: use b.txt.'),
    retryable: false,
    details: {reason: 'use b.txt'},
  });
  expect((await call('write_note', NOTE)).error?.message).toContain('ended the session: enough');
  expect((await call('echo', {text: 'x'})).error).toMatchObject({
    error_type: 'approval_denied',
    code: 'approval_denied',
    details: {rule: 'stop'},
  });
  expect(approver.asked).toHaveLength(2);
  expect(await readdir(where)).toEqual([]);
});

test('ruling H3 deny cannot be overridden by anything that a call brings', async () => {
  const approver = approverOf({answer: 'always', rule: ruleOf({path: '**'})});
  const deny = await notes({approval: {mode: 'deny', allowlist: ['write_note']}});
  const denied = await deny.call('write_note', NOTE, {approver, maxOutputBytes: 10_000});
  expect(denied.error).toMatchObject({
    error_type: 'approval_denied',
    code: 'approval_denied',
    details: {rule: 'tools.approval.mode'},
  });
  deny.runtime.session.client().grants.allowCall('0'.repeat(64));
  const rules = [ruleOf({path: 'a.txt', decision: 'deny', reason: 'Not this one.'})];
  const byRule = await notes({approval: {mode: 'auto', allowlist: ['write_note'], rules}, approver});
  expect((await byRule.call('write_note', NOTE)).error).toMatchObject({
    error_type: 'approval_denied',
    code: 'approval_denied',
    message: expect.stringContaining('Not this one.'),
    details: {rule: 'tools.approval.rules[0]'},
  });
  expect((await byRule.call('write_note', {...NOTE, path: 'b.txt'})).status).toBe('success');
  expect(approver.asked).toEqual([]);
  expect([await readdir(deny.notes), await readdir(byRule.notes)]).toEqual([[], ['b.txt']]);
});

test('policy: an ask rule names itself, for no list would help', async () => {
  const rules = [ruleOf({path: '*.txt', decision: 'ask'})];
  const {call} = await notes({approval: {allowlist: ['write_file'], rules}});
  expect((await call('write_note', NOTE)).error?.details).toMatchObject({
    setting: 'tools.approval.rules[0]',
  });
  expect((await call('write_note', {...NOTE, path: 'a.md'})).status).toBe('success');
});

test('policy: one question at a time; an answer settles the same calls behind it', async () => {
  let open = 0;
  let most = 0;
  const asked: string[] = [];
  const approver: Approver = {
    ask: async ({summary}) => {
      open += 1;
      most = Math.max(most, open);
      asked.push(summary);
      await new Promise(setImmediate);
      open -= 1;
      return {answer: 'session-rule', rule: ruleOf({path: summary.replace('write_note ', '')})};
    },
  };
  const {call} = await notes({approver});
  const results = await Promise.all(
    ['a', 'b', 'a', 'b', 'a'].map((path, at) => call('write_note', {path, text: `${at}`})),
  );
  // Those who waited saw the file before another program wrote it, and are told.
  expect(results.map(({status, error}) => error?.error_type ?? status)).not.toContain('approval_denied');
  expect(most).toBe(1);
  expect(asked.toSorted()).toEqual(['write_note a', 'write_note b']);
});

test('policy: waiting is no run time, and ends when the caller cancels', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const approver: Approver = {
    ask: async ({summary}) => {
      clock.advance(60_000);
      if (summary.endsWith('b')) {
        controller.abort();
        return new Promise(() => {});
      }
      return {answer: 'once'};
    },
  };
  const {call, events, notes: where} = await notes({approver, clock});
  expect(await call('write_note', {path: 'a', text: ''})).toMatchObject({
    status: 'success',
    duration_sec: 0,
  });
  expect((await events()).at(-1)?.payload).toMatchObject({approval_wait_sec: 60, duration_sec: 0});
  const cancelled = await call('write_note', {path: 'b', text: ''}, {signal: controller.signal});
  expect(cancelled.error).toMatchObject({error_type: 'cancelled', details: {phase: 'approval'}});
  expect((await call('write_note', {path: 'c', text: ''})).status).toBe('success');
  expect(await readdir(where)).toEqual(['a', 'c']);
});

test('policy: an approver that breaks is no approval', async () => {
  const approver: Approver = {
    ask: async () => {
      throw new Error('terminal gone');
    },
  };
  const {call, notes: where} = await notes({approver});
  expect((await call('write_note', NOTE)).error?.error_type).toBe('internal');
  expect((await call('write_note', NOTE)).error?.error_type).toBe('internal');
  expect(await readdir(where)).toEqual([]);
});

test('review: a rule of the session is no answer to a rule that asks, but where it was given to it', async () => {
  const docs = ruleOf({path: 'docs/**'});
  const asks = ruleOf({tool: 'write_note', path: 'docs/secret*', decision: 'ask'});
  const approver = approverOf(
    {answer: 'session-rule', rule: docs},
    {answer: 'once'},
    {answer: 'session-rule', rule: docs},
  );
  const {call, notes: directory} = await notes({approver, approval: {rules: [asks]}});
  await mkdir(join(directory, 'docs'));
  const write = async (path: string) => (await call('write_note', {path, text: 'x'})).status;
  expect(await write('docs/a.txt')).toBe('success');
  expect(await write('docs/b.txt')).toBe('success');
  expect(approver.asked).toHaveLength(1);
  expect(await write('docs/secret1')).toBe('success');
  expect(approver.asked.at(-1)?.by).toBe('tools.approval.rules[0]');
  expect(await write('docs/secret2')).toBe('success');
  expect(await write('docs/secret3')).toBe('success');
  expect(approver.asked).toHaveLength(3);
});

test('red team F14: what the user of one client allowed or stopped, and its steps, hold for no other client', async () => {
  let own: readonly boolean[] = [];
  const looks = toolOf('looks', async ({isOwnStep}) => {
    own = [1, 2, 3, 4, 5, 6].map(isOwnStep);
    return null;
  });
  const {call, runtime} = await notes({tools: [looks, writeNoteTool(await tempDirectory())]});
  const [a, b] = [{client: {}}, {client: {}}];
  const rule = ruleOf({tool: 'write_note', path: '*.txt'});
  const approver = approverOf({answer: 'session-rule', rule}, {answer: 'stop', reason: 'enough'});
  const write = (text: string, options: object) => call('write_note', {path: 'a.txt', text}, options);
  expect((await write('w', {...a, approver})).status).toBe('success');
  expect((await write('x', a)).status).toBe('success');
  expect((await write('y', b)).error?.error_type).toBe('approval_required');

  expect((await call('write_note', {path: 'b.txt', text: 'z'}, {...b, approver})).error?.error_type).toBe(
    'approval_denied',
  );
  expect((await call('looks', {}, b)).error?.message).toContain('The session was stopped: enough.');
  expect((await call('looks', {}, a)).status).toBe('success');
  expect(own).toEqual([true, true, false, false, false, true]);
  expect(runtime.session.client(b.client).signal.aborted).toBe(true);
  expect(runtime.session.client(a.client).signal.aborted).toBe(false);
  await runtime.session.close();
  expect(runtime.session.client(a.client).signal.aborted).toBe(true);
});

test('red team F14: a question to one client does not wait for the answer of another', async () => {
  const {call} = await notes();
  let answer: (given: ApprovalAnswer) => void = () => {};
  let first: Promise<unknown> = Promise.resolve();
  const asked = new Promise<void>(resolve => {
    const patient: Approver = {
      ask: () => {
        resolve();
        return new Promise(given => {
          answer = given;
        });
      },
    };
    first = call('write_note', NOTE, {client: {}, approver: patient});
  });
  await asked;
  const other = await call(
    'write_note',
    {...NOTE, path: 'b.txt'},
    {client: {}, approver: approverOf({answer: 'once'})},
  );
  expect(other.status).toBe('success');
  answer({answer: 'refuse'});
  await first;
});

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
      code: 'approval_denied',
      retryable: false,
      details: {rule: by},
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
