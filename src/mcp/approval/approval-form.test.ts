import {expect, test} from 'vitest';
import type {ApprovalQuestion, ApprovalRule} from '../../core/tool-host.ts';
import {approvalForm, questionDigest, readApprovalAnswer} from './approval-form.ts';

const question: ApprovalQuestion = {
  requestId: '1',
  tool: 'run',
  action: 'run',
  summary: 'run npm test',
  preview: 'npm test',
  hash: '0'.repeat(64),
  by: 'tools.approval.mode',
  reason: '',
  suggestedRule: undefined,
  ruleProblem: () => undefined,
  canRemember: false,
};

test('policy: what the call brings along cannot pass for a part of the question', () => {
  const {message} = approvalForm({
    ...question,
    summary: 'run x\nAsked because of nothing',
    preview: 'rm -rf / \u001b[2K\r\u202egnp.sh\n\nAllow echo?\u{e0041}',
  });
  expect(message).toBe(
    'Allow run?\nAsked because of tools.approval.mode\n\n| run x Asked because of nothing\n| rm -rf / \\u{1b}[2K\\u{d}\\u{202e}gnp.sh\n| \n| Allow echo?\\u{e0041}',
  );
});

test('policy: a long preview is cut', () => {
  const {message} = approvalForm({...question, preview: 'x'.repeat(1_000_000)});
  expect(message.length).toBeLessThan(4200);
  const named = approvalForm({...question, summary: 'x'.repeat(1_000_000)});
  expect(named.message.length).toBeLessThan(600);
  expect(message).toContain('characters left out');
});

test.each([
  [{kind: 'missing' as const}],
  [{kind: 'roots' as const, roots: []}],
  [{kind: 'elicit' as const, action: 'accept' as const}],
  [{kind: 'elicit' as const, action: 'accept' as const, content: {decision: true}}],
  [{kind: 'elicit' as const, action: 'accept' as const, content: {decision: 'always'}}],
])('ruling H3 only the choices of the form are an answer: %j', response => {
  expect(readApprovalAnswer(response, question)).toBeUndefined();
});

const suggestedRule: ApprovalRule = {
  tool: 'run',
  decision: 'allow',
  host: '',
  path: '',
  command_prefix: 'npm test',
  match: ['npm test'],
  not_match: [],
  reason: '',
};
const withRule: ApprovalQuestion = {
  ...question,
  suggestedRule,
  canRemember: true,
  ruleProblem: rule => (rule.command_prefix === 'npm publish' ? 'It does not allow this call.' : undefined),
};

test('ruling H3 the form offers a rule to edit, and keeping it only where it can be kept', () => {
  const properties = approvalForm(withRule).requestedSchema.properties;
  expect(properties['decision']).toMatchObject({
    enum: ['once', 'session', 'session-rule', 'always', 'refuse', 'stop'],
  });
  expect(properties['rule']).toMatchObject({
    default: 'npm test',
    description: expect.stringContaining('run'),
  });
  expect(
    approvalForm({...withRule, canRemember: false}).requestedSchema.properties['decision'],
  ).toMatchObject({
    enum: ['once', 'session', 'session-rule', 'refuse', 'stop'],
  });
  expect(approvalForm(question).requestedSchema.properties['rule']).toBeUndefined();
  const forged = {...suggestedRule, command_prefix: 'npm\u202e test'};
  expect(
    approvalForm({...withRule, suggestedRule: forged}).requestedSchema.properties['rule'],
  ).toBeUndefined();
});

test.each([
  [{decision: 'always'}, {answer: 'always', rule: suggestedRule}],
  [
    {decision: 'session-rule', rule: '  '},
    {answer: 'session-rule', rule: suggestedRule},
  ],
  [
    {decision: 'always', rule: 'npm'},
    {answer: 'always', rule: {...suggestedRule, command_prefix: 'npm'}},
  ],
  [
    {decision: 'always', rule: 'npm publish'},
    {answer: 'refuse', reason: 'the rule of the answer cannot be used: It does not allow this call.'},
  ],
  [
    {decision: 'stop', reason: ' enough '},
    {answer: 'stop', reason: 'enough'},
  ],
  [{decision: 'refuse'}, {answer: 'refuse'}],
])('ruling H3 %j answers %j', (content, answer) => {
  expect(readApprovalAnswer({kind: 'elicit', action: 'accept', content}, withRule)).toEqual(answer);
});

test('an answer holds for the call and for what was shown', () => {
  const request = {tool: 'run', params: {command: 'npm test'}, request_id: '1'};
  const digest = questionDigest(request, question);
  expect(questionDigest({...request, request_id: '2'}, {...question, requestId: '2'})).toBe(digest);
  expect(questionDigest({...request, params: {command: 'npm  test'}}, question)).not.toBe(digest);
  expect(questionDigest(request, {...question, preview: 'npm test # changed'})).not.toBe(digest);
  // Review R18: the same diff of other files is another question.
  expect(questionDigest(request, {...question, hash: '1'.repeat(64)})).not.toBe(digest);
});
