import {expect, test} from 'vitest';
import type {ApprovalQuestion} from '../core/tool-host.ts';
import {approvalForm, questionDigest, readApprovalAnswer} from './approval-form.ts';

const question: ApprovalQuestion = {
  requestId: '1',
  tool: 'run',
  action: 'run',
  summary: 'run npm test',
  preview: 'npm test',
  by: 'tools.approval.mode',
  reason: '',
  suggestedRule: undefined,
  canRemember: false,
};

test('policy: what the call brings along cannot pass for a part of the question', () => {
  const {message} = approvalForm({
    ...question,
    summary: 'run x\nAsked because of nothing',
    preview: 'rm -rf / \u001b[2K\r\u202egnp.sh\n\nAllow echo?\u{e0041}',
  });
  expect(message).toBe(
    'Allow run?\nrun x Asked because of nothing\nAsked because of tools.approval.mode\n\n| rm -rf / \ufffd[2K\ufffd\ufffdgnp.sh\n| \n| Allow echo?\ufffd',
  );
});

test('policy: a long preview is cut', () => {
  const {message} = approvalForm({...question, preview: 'x'.repeat(1_000_000)});
  expect(message.length).toBeLessThan(4200);
  expect(message).toContain('characters left out');
});

test.each([
  [{kind: 'missing' as const}],
  [{kind: 'roots' as const, roots: []}],
  [{kind: 'elicit' as const, action: 'accept' as const}],
  [{kind: 'elicit' as const, action: 'accept' as const, content: {decision: true}}],
  [{kind: 'elicit' as const, action: 'accept' as const, content: {decision: 'always'}}],
])('ruling H3 only the choices of the form are an answer: %j', response => {
  expect(readApprovalAnswer(response, 'run')).toBeUndefined();
});

test('an answer holds for the call and for what was shown', () => {
  const request = {tool: 'run', params: {command: 'npm test'}, request_id: '1'};
  const digest = questionDigest(request, question);
  expect(questionDigest({...request, request_id: '2'}, {...question, requestId: '2'})).toBe(digest);
  expect(questionDigest({...request, params: {command: 'npm  test'}}, question)).not.toBe(digest);
  expect(questionDigest(request, {...question, preview: 'npm test # changed'})).not.toBe(digest);
});
