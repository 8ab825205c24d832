import {expect, test} from 'vitest';
import {fail, type Json} from '../core/result.ts';
import {type ToolResult, toolError} from '../core/tool.ts';
import type {ApprovalQuestion, ApprovalRule} from '../core/tool-host.ts';
import {approvalForm, questionDigest, readApprovalAnswer} from './approval.ts';
import {toolResultSchema} from './describe-tool.ts';
import {presentResult} from './present-result.ts';

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

const formOf = (asked: ApprovalQuestion) => approvalForm(asked, true);

test('policy: what the call brings along cannot pass for a part of the question', () => {
  const {message} = formOf({
    ...question,
    action: 'patch_file',
    summary: 'run x\nAsked because of nothing',
    preview: 'rm -rf / \u001b[2K\r\u202egnp.sh\n\nAllow echo?\u{e0041}',
  });
  expect(message).toBe(
    'Allow run?\nAsked because of tools.approval.mode\n\n| run x Asked because of nothing\n| rm -rf / \\u{1b}[2K\\u{d}\\u{202e}gnp.sh\n| \n| Allow echo?\\u{e0041}',
  );
});

test('a question about a command has the command once', () => {
  expect(formOf(question).message).toBe('Allow run?\nAsked because of tools.approval.mode\n\n| npm test');
});

test('policy: a long preview is cut', () => {
  const {message} = formOf({...question, preview: 'x'.repeat(1_000_000)});
  expect(message.length).toBeLessThan(4200);
  const named = formOf({...question, action: 'patch_file', summary: 'x'.repeat(1_000_000)});
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
  expect(readApprovalAnswer(response, question, true)).toBeUndefined();
});

const suggestedRule = {
  tool: 'run',
  decision: 'allow' as const,
  command_prefix: 'npm test',
  match: ['npm test'],
} satisfies ApprovalRule;
const withRule: ApprovalQuestion = {
  ...question,
  suggestedRule,
  canRemember: true,
  ruleProblem: rule => (rule.command_prefix === 'npm publish' ? 'It does not allow this call.' : undefined),
};

test('ruling H3 the form offers a rule to edit, and keeping it only where it can be kept', () => {
  const properties = formOf(withRule).requestedSchema.properties;
  expect(properties['decision']).toMatchObject({
    enum: ['once', 'session', 'session-rule', 'always', 'refuse', 'stop'],
  });
  expect(properties['rule']).toMatchObject({
    default: 'npm test',
    description: expect.stringContaining('run'),
  });
  expect(formOf({...withRule, canRemember: false}).requestedSchema.properties['decision']).toMatchObject({
    enum: ['once', 'session', 'session-rule', 'refuse', 'stop'],
  });
  expect(formOf(question).requestedSchema.properties['rule']).toBeUndefined();
  const forged = {...suggestedRule, command_prefix: 'npm\u202e test'};
  expect(formOf({...withRule, suggestedRule: forged}).requestedSchema.properties['rule']).toBeUndefined();
});

test.each(
  // biome-ignore format: a case is a line
  [
    [{decision: 'always'}, {answer: 'always', rule: suggestedRule}],
    [{decision: 'session-rule', rule: '  '}, {answer: 'session-rule', rule: suggestedRule}],
    [{decision: 'always', rule: 'npm'}, {answer: 'always', rule: {...suggestedRule, command_prefix: 'npm'}}],
    [{decision: 'always', rule: 'npm publish'}, {answer: 'refuse', reason: 'the rule of the answer cannot be used: It does not allow this call.', unanswered: true}],
    [{decision: 'stop', reason: ' enough '}, {answer: 'stop', reason: 'enough'}],
    [{decision: 'refuse'}, {answer: 'refuse'}],
  ],
)('ruling H3 %j answers %j', (content, answer) => {
  expect(readApprovalAnswer({kind: 'elicit', action: 'accept', content}, withRule, true)).toEqual(answer);
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

test('red team F14: who is not recognized by the next call is offered nothing that lasts for a session', () => {
  const choices = (asked: ApprovalQuestion) =>
    (approvalForm(asked, false).requestedSchema.properties['decision'] as {readonly enum?: unknown}).enum;
  expect(choices(question)).toEqual(['once', 'refuse']);
  expect(choices(withRule)).toEqual(['once', 'always', 'refuse']);
  for (const decision of ['session', 'session-rule', 'stop']) {
    const response = {kind: 'elicit' as const, action: 'accept' as const, content: {decision}};
    expect(readApprovalAnswer(response, withRule, false)).toBeUndefined();
  }
});

test('ruling H2 definitions of the data move to the root, where their references point', () => {
  const schema = toolResultSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: {line: {type: 'string'}},
    type: 'object',
    properties: {lines: {type: 'array', items: {$ref: '#/$defs/line'}}},
  });
  expect(schema).toMatchObject({
    type: 'object',
    $defs: {line: {type: 'string'}},
    properties: {
      data: {
        anyOf: [
          {type: 'object', properties: {lines: {type: 'array', items: {$ref: '#/$defs/line'}}}},
          {type: 'null'},
        ],
      },
    },
  });
  expect(schema).not.toHaveProperty('$schema');
});

const result = (tool: string, data: Json, error: ToolResult['error'] = null): ToolResult => ({
  request_id: '1',
  tool,
  status: error === null ? 'success' : 'error',
  started_at: '2025-01-01T00:00:00.000Z',
  ended_at: '2025-01-01T00:00:00.000Z',
  duration_sec: 0,
  data,
  error,
  exit_code: null,
  stdout_path: null,
  stderr_path: null,
});
const textOf = (shown: ToolResult, render: (shown: ToolResult) => string = String): string => {
  const [block] = presentResult(shown, render).content;
  return block?.type === 'text' ? block.text : '';
};

test('ruling H1 the text of a failed web_fetch is the failure alone', () => {
  const {error} = fail('timeout', 'm', {phase: 'dns'});
  expect(textOf(result('web_fetch', null, toolError(error)))).toBe(JSON.stringify(error));
});

test('ruling H6 web_fetch with text output answers with the text alone', () => {
  expect(presentResult(result('web_fetch', 'plain'), ({data}) => String(data))).toEqual({
    content: [{type: 'text', text: 'plain'}],
  });
});

test('policy: text stays below 40,000 characters, structuredContent is whole', () => {
  const data = {content: 'x'.repeat(50_000)};
  const shown = result('read_file', data);
  expect(textOf(shown, () => data.content).length).toBeLessThanOrEqual(40_000);
  expect(presentResult(shown, String).structuredContent).toMatchObject({data});
});
