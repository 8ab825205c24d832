import {describe, expect, test} from 'vitest';
import {approvalOptions, ruleOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import type {TaintOptions} from '../taint/options.ts';
import {RunTaint} from '../taint/run-taint.ts';
import {createConfirmationPolicy} from './confirmation-policy.ts';
import type {ApprovalOptions} from './options.ts';
import {sinkOf, tighten} from './tighten.ts';

const MAKEFILE: ApprovalSubject = {kind: 'path', values: ['Makefile']};
const WHY =
  '"Makefile" is a file that a build, a test run or a linter executes. Untrusted text came from tools.taint.assume.';
const TAINT = {decision: 'ask', about: 'executed-later', reason: WHY, bits: 0};

/** What becomes of a write to a file that is executed later, after untrusted text. */
function tightened(
  options: Partial<ApprovalOptions>,
  {
    mode = 'enforce' as TaintOptions['mode'],
    subject = MAKEFILE,
    action = 'write_file' as ApprovalAction | 'none',
    run = true,
  } = {},
) {
  const policy = createConfirmationPolicy(approvalOptions(options), {
    knownTools: ['write'],
    autoExecution: new Map(),
  });
  if (!policy.ok) throw new Error(policy.error.join());
  const taint = new RunTaint(
    {mode, assume: 'untrusted', choice_bits: 64},
    {untrusted: [], private: [], hasSecret: false, bits: 0},
    () => {},
  );
  return tighten(
    action === 'none' ? undefined : action,
    {tool: 'write', subject},
    policy.value,
    run ? taint : undefined,
  );
}

const by = (name: string) => `tools.approval.${name}`;
const ASKED = {decision: 'ask', by: by('mode'), reason: 'tools.approval.mode is "prompt".'};
const ALLOWED = {decision: 'allow', by: by('mode'), reason: 'tools.approval.mode is "auto".'};

describe('T1: what the policy says, or something stricter', () => {
  test('what was allowed is asked about, by taint', () => {
    expect(tightened({mode: 'auto'})).toEqual({
      finding: {decision: 'ask', by: 'tools.taint.mode', reason: WHY, overruled: [ALLOWED]},
      taint: TAINT,
      isTainted: true,
    });
  });

  test('what was asked about by the mode is asked about by taint', () => {
    expect(tightened({})).toEqual({
      finding: {decision: 'ask', by: 'tools.taint.mode', reason: WHY, overruled: [ASKED]},
      taint: TAINT,
      isTainted: true,
    });
  });

  test('what a rule asks about stays the question of the rule', () => {
    const rules = [ruleOf({path: 'Makefile', decision: 'ask', reason: 'Mine.'})];
    const asked = {decision: 'ask', by: by('rules[0]'), reason: 'Mine.'};
    expect(tightened({rules})).toEqual({
      finding: {decision: 'ask', by: by('rules[0]'), reason: WHY, overruled: [asked, ASKED]},
      taint: TAINT,
      isTainted: true,
    });
  });

  test('a denial stays the denial', () => {
    expect(tightened({denylist: ['write'], mode: 'auto'})).toEqual({
      finding: {
        decision: 'deny',
        by: by('denylist'),
        reason: 'tools.approval.denylist names "write".',
        overruled: [ALLOWED],
      },
      taint: TAINT,
      isTainted: false,
    });
  });

  test('a rule that says "tainted" allows it as before, and another one does not', () => {
    const rule = ruleOf({path: 'Makefile'});
    expect(tightened({rules: [{...rule, tainted: true}]})).toMatchObject({
      finding: {decision: 'allow', by: by('rules[0]')},
      isTainted: false,
    });
    expect(tightened({rules: [rule]})).toMatchObject({finding: {by: 'tools.taint.mode'}, isTainted: true});
    const asks = {...rule, decision: 'ask' as const, tainted: true};
    expect(tightened({rules: [asks]})).toMatchObject({isTainted: true});
  });

  test('"warn" says it in a question that is asked anyway, and nowhere else', () => {
    const warn = {mode: 'warn'} as const;
    expect(tightened({}, warn)).toEqual({
      finding: {...ASKED, reason: `${ASKED.reason} Note: ${WHY}`, overruled: []},
      taint: TAINT,
      isTainted: false,
    });
    expect(tightened({mode: 'auto'}, warn)).toEqual({
      finding: {...ALLOWED, overruled: []},
      taint: TAINT,
      isTainted: false,
    });
  });

  test.each([
    ['without a run', {run: false}],
    ['for what only reads', {action: 'none' as const}],
    ['for a file that nothing executes', {subject: {...MAKEFILE, values: ['a.txt']}}],
  ])('nothing changes %s', (_, more) => {
    expect(tightened({mode: 'auto'}, more)).toMatchObject({
      finding: {decision: 'allow'},
      taint: undefined,
      isTainted: false,
    });
  });

  test('what passes keeps its bits and changes nothing', () => {
    const subject: ApprovalSubject = {kind: 'url', values: ['https://a.example/']};
    expect(tightened({mode: 'auto'}, {subject, action: 'web_fetch' as const})).toMatchObject({
      finding: {decision: 'allow', by: by('mode')},
      taint: {decision: 'pass', about: 'made-up'},
      isTainted: false,
    });
  });
});

test('T1: a connection of a command is about its host', () => {
  const subject: ApprovalSubject = {kind: 'url', values: ['https://a.example:8443/x']};
  expect(sinkOf('egress', subject)).toEqual({kind: 'host', host: 'a.example:8443'});
  expect(sinkOf('web_fetch', subject)).toBe(subject);
});
