import {describe, expect, test} from 'vitest';
import {openTestRuntime, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAnswer, ApprovalQuestion} from '../../core/tool-host.ts';
import type {ApprovalRule} from './options.ts';

const allow = (prefix: string): ApprovalRule =>
  ruleOf({tool: 'run', decision: 'allow', command_prefix: prefix});

/** One command, decided by rules, and what came of it. */
async function open(command: string, rules: readonly ApprovalRule[], answers?: ApprovalAnswer[]) {
  const asked: ApprovalQuestion[] = [];
  const runtime = await openTestRuntime({
    tools: [toolOf('run', async () => 'ran', {action: 'run', subject: {kind: 'command', values: [command]}})],
    approval: {rules},
    approver: answers && {
      ask: async question => {
        asked.push(question);
        return answers.shift() ?? {answer: 'refuse'};
      },
    },
  });
  const call = async () => {
    const {data, error} = await runtime.call('run');
    return data ?? error?.message;
  };
  return {call, asked};
}

describe('rules and the parts of a command', () => {
  test('policy: each part may be allowed by another rule', async () => {
    const rules = [allow('npm test'), allow('grep'), allow('cd')];
    for (const command of ['npm test 2>&1 | grep ✖', 'cd a && npm test -- x\ngrep y', 'grep a; npm test']) {
      expect(await (await open(command, rules)).call()).toBe('ran');
    }
  });

  test('policy: a refusal names the part that matches no rule, and the one that would run', async () => {
    const {call} = await open('npm test 2>&1 | grep ✖', [allow('npm test')]);
    expect(await call()).toContain(' `grep ✖` matches no rule; `npm test` alone would run. The operator can');
    const other = await open('npm test > log', [allow('npm test')]);
    expect(await other.call()).toContain('No rule allows the command, since it has a redirection.');
    // Where rules have nothing to say, nothing is said of them.
    expect(await (await open('a | b', [])).call()).not.toContain('rule;');
  });

  test('policy: a deny or ask rule holds for one part of many', async () => {
    const rules = [allow('npm'), allow('git')];
    const denied = await open('npm test && git push', [...rules, {...allow('git push'), decision: 'deny'}]);
    expect(await denied.call()).toContain('denies the call');
    const asked = await open('npm test && git push', [...rules, {...allow('git push'), decision: 'ask'}]);
    expect(await asked.call()).toContain('no approver is connected');
  });

  test('policy: the rule that is suggested is for the part that no rule covers', async () => {
    const {call, asked} = await open(
      'npm test | grep x',
      [allow('npm test')],
      [{answer: 'session-rule', rule: allow('grep')}],
    );
    expect(await call()).toBe('ran');
    expect(asked[0]?.suggestedRule).toMatchObject({command_prefix: 'grep x'});
    expect(await call()).toBe('ran');
    expect(asked).toHaveLength(1);
  });

  test('policy: a rule that adds nothing is no answer', async () => {
    const {call, asked} = await open('npm test | grep x', [allow('npm test')], []);
    await call();
    const [question] = asked;
    expect(question?.ruleProblem(allow('npm test'))).toBe('The rule does not allow this call.');
    expect(question?.ruleProblem(allow('wc'))).toBe('The rule does not allow this call.');
    expect(question?.ruleProblem(allow('grep'))).toBeUndefined();
  });

  test('policy: what an ask rule asks about is not answered by a rule of the configuration', async () => {
    const rules = [allow('git'), {...allow('git push'), decision: 'ask' as const}];
    const rule = allow('npm test');
    const {call, asked} = await open('npm test && git push', rules, [
      {answer: 'session-rule', rule},
      {answer: 'refuse'},
    ]);
    // Allowed once: the rule of the answer does not cover what was asked about.
    expect(await call()).toBe('ran');
    expect(await call()).toContain('said no');
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['a x; npm test', '`a x` matches no rule; `npm test` alone would run.'],
    ['a x; b; npm test', '`a x`, `b` match no rule; `npm test` alone would run.'],
    [
      'a x; a x; npm test; npm test -- y',
      '`a x` matches no rule; `npm test`, `npm test -- y` alone would run.',
    ],
    ['a;b;c;d;e;npm test', '`a`, `b`, `c`, `d`, `e` match no rule; `npm test` alone would run.'],
    ['a;b;c;d;e;f;npm test', '`a`, `b`, `c`, `d`, `e` and others match no rule; `npm test` alone would run.'],
    [`${'a'.repeat(130)}; npm test`, `\`${'a'.repeat(120)}\` matches no rule; \`npm test\` alone would run.`],
  ])('policy: what is said of the parts of %j', async (command, why) => {
    const {call} = await open(command, [allow('npm test')]);
    expect(await call()).toContain(
      `run needs an approval and no approver is connected. ${why} The operator can`,
    );
  });

  test('policy: where no part is covered, nothing is said of parts', async () => {
    const {call} = await open('a; b', [allow('npm test')]);
    expect(await call()).toContain('run needs an approval and no approver is connected. The operator can');
  });
});
