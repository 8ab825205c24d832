import {describe, expect, test} from 'vitest';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {openTestRuntime, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import {fail} from '../../core/failure/fail.ts';
import type {ApprovalAnswer, ApprovalQuestion} from '../../core/tool-host.ts';
import type {Sandbox} from '../../sandbox/sandbox.ts';
import {runTool} from '../../tools/run/run.ts';

const RULE = ruleOf({tool: 'run', decision: 'allow', command_prefix: 'npm test'});
const COMMAND = 'npm test';

/** The tool as it is; nothing is run, since only the decision counts here. */
const nothing: Sandbox = {
  run: async () => fail('sandbox_error', 'Nothing is run here.'),
  probe: async () => fail('sandbox_error', 'Nothing is run here.'),
  close: async () => {},
};

async function open(rules: readonly (typeof RULE)[], answers: ApprovalAnswer[] = []) {
  const asked: ApprovalQuestion[] = [];
  const runtime = await openTestRuntime({
    tools: [runTool(nothing, runOptions()), toolOf('other', async () => 1)],
    approval: {rules},
    approver: {
      ask: async question => {
        asked.push(question);
        return answers.shift() ?? {answer: 'refuse'};
      },
    },
  });
  const run = async (env?: {[name: string]: string}) => {
    const before = asked.length;
    await runtime.call('run', {command: COMMAND, ...(env && {env})});
    return asked.length > before ? 'asked' : 'not asked';
  };
  return {asked, run};
}

describe('review R10: variables take a command out of every rule', () => {
  test('of the configuration', async () => {
    const {asked, run} = await open([RULE]);
    expect(await run()).toBe('not asked');
    expect(await run({})).toBe('not asked');
    expect(await run({PATH: '/workspace/evil:/usr/bin'})).toBe('asked');
    expect(asked[0]?.suggestedRule).toBeUndefined();
    expect(asked[0]?.ruleProblem(RULE)).toContain('No rule covers a call that sets variables.');
  });

  test('of the session', async () => {
    const {run} = await open([], [{answer: 'session-rule', rule: RULE}]);
    expect(await run()).toBe('asked');
    expect(await run()).toBe('not asked');
    expect(await run({NODE_OPTIONS: '--require /workspace/evil.js'})).toBe('asked');
  });

  test('an answer with a rule allows the one call and keeps no rule', async () => {
    const {run} = await open([], [{answer: 'always', rule: RULE}]);
    expect(await run({A: '1'})).toBe('asked');
    expect(await run({A: '1'})).toBe('asked');
    expect(await run()).toBe('asked');
  });

  test('a grant of the exact call holds for the same variables, and no others', async () => {
    const {run} = await open([], [{answer: 'session'}]);
    expect(await run({A: '1'})).toBe('asked');
    expect(await run({A: '1'})).toBe('not asked');
    expect(await run({A: '2'})).toBe('asked');
    expect(await run()).toBe('asked');
  });

  test('deny and ask rules see the command as before', async () => {
    const {run, asked} = await open([{...RULE, decision: 'deny'}]);
    expect(await run({A: '1'})).toBe('not asked');
    expect(asked).toEqual([]);
  });
});
