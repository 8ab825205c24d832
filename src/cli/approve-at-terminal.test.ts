import {expect, test} from 'vitest';
import type {ApprovalQuestion, ApprovalRule} from '../core/tool-host.ts';
import {terminalApprover} from './approve-at-terminal.ts';
import type {Console} from './console.ts';
import {quoted} from './text-layout.ts';

const QUESTION: ApprovalQuestion = {
  requestId: 'r1',
  tool: 'apply_patch',
  action: 'patch_file',
  summary: 'apply_patch a.txt (+1 -1)',
  preview: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n',
  hash: '0'.repeat(64),
  by: 'tools.approval.mode',
  reason: 'tools.approval.mode is "prompt".',
  suggestedRule: undefined,
  ruleProblem: () => undefined,
  canRemember: false,
};

async function ask(lines: readonly (string | undefined)[], question = QUESTION) {
  const waiting = [...lines];
  const asked: string[] = [];
  let shown = '';
  const console = {
    err: (text: string) => {
      shown += text;
    },
    ask: async (text: string) => {
      asked.push(text);
      return waiting.shift();
    },
    color: false,
    columns: 60,
  } as Partial<Console> as Console;
  const answer = await terminalApprover(console)?.ask(question, new AbortController().signal);
  return {answer, shown, asked};
}

test('ruling H4 the question shows what, the preview and why', async () => {
  const {shown} = await ask(['o']);
  expect(shown).toBe(
    [
      'apply_patch needs an approval.',
      '  Why it is asked: tools.approval.mode is "prompt".',
      '  │ apply_patch a.txt (+1 -1)',
      '  │ --- a/a.txt',
      '  │ +++ b/a.txt',
      '  │ @@ -1 +1 @@',
      '  │ -old',
      '  │ +new',
      '',
    ].join('\n'),
  );
});

test.each([
  [['o'], {answer: 'once'}],
  [['y'], {answer: 'once'}],
  [[' YES '], {answer: 'once'}],
  [['yes please', 'y'], {answer: 'once'}],
  [['no', ''], {answer: 'refuse'}],
  [['?', '?', '?', '?', 'y'], {answer: 'once'}],
  [
    ['?', undefined],
    {answer: 'refuse', reason: 'the terminal was closed without an answer', unanswered: true},
  ],
  [[' Once '], {answer: 'once'}],
  [['s'], {answer: 'session'}],
  [['no: use b.txt instead'], {answer: 'refuse', reason: 'use b.txt instead'}],
  [['n', 'wrong file'], {answer: 'refuse', reason: 'wrong file'}],
  [['', ''], {answer: 'refuse'}],
  [['n', undefined], {answer: 'refuse'}],
  [['perhaps', 'o'], {answer: 'once'}],
  [[undefined], {answer: 'refuse', reason: 'the terminal was closed without an answer', unanswered: true}],
  [
    ['x', 'once more', 'hm'],
    {answer: 'refuse', reason: 'the answers at the terminal could not be understood', unanswered: true},
  ],
] as const)('policy: %j answers %j', async (lines, answer) => {
  expect((await ask(lines)).answer).toEqual(answer);
});

test('policy: "?" explains the answers, and what is no answer is said to be none', async () => {
  const {shown} = await ask(['?', 'perhaps', 'y']);
  expect(shown).toContain('  y, yes     this call, once');
  expect(shown).toContain('(a)        not offered: no rule can cover this call');
  expect(shown).toContain('"perhaps" is no answer here. "?" explains them.\n');
});

const RULE = {
  tool: 'web_fetch',
  decision: 'allow' as const,
  host: 'docs.example.com',
} satisfies ApprovalRule;
const WITH_RULE: ApprovalQuestion = {
  ...QUESTION,
  suggestedRule: RULE,
  canRemember: true,
  ruleProblem: ({host}) => (host === 'other.example' ? 'The rule does not allow this call.' : undefined),
};

test.each([
  [['a', '', 'k'], {answer: 'always', rule: RULE}],
  [['a', '', 's'], {answer: 'session-rule', rule: RULE}],
  [['always', '.example.com', 'keep'], {answer: 'always', rule: {...RULE, host: '.example.com'}}],
  [
    ['a', 'other.example', '.example.com', ''],
    {answer: 'session-rule', rule: {...RULE, host: '.example.com'}},
  ],
  [
    ['a', undefined, undefined],
    {answer: 'refuse', reason: 'the terminal was closed without an answer', unanswered: true},
  ],
  [['t', 'enough'], {answer: 'stop', reason: 'enough'}],
  [['stop: enough'], {answer: 'stop', reason: 'enough'}],
] as const)('ruling H3 with a rule, %j answers %j', async (lines, answer) => {
  expect((await ask(lines, WITH_RULE)).answer).toEqual(answer);
});

test('ruling H3 a rule is shown before it is taken, and says why it cannot be', async () => {
  const {shown, asked} = await ask(['a', 'other.example', '', 's'], WITH_RULE);
  expect(shown).toContain('  The rule: allow web_fetch where host is\n  │ "docs.example.com"\n');
  expect(shown).toContain('The rule does not allow this call.\n');
  expect(asked[0]).toContain('[a]lways by a rule');
  expect((await ask(['n', ''])).asked[0]).not.toContain('[a]lways');
});

test('ruling H3 a host that cannot keep a rule is not asked to', async () => {
  const {answer, asked} = await ask(['a', ''], {...WITH_RULE, canRemember: false});
  expect(answer).toEqual({answer: 'session-rule', rule: RULE});
  expect(asked).toHaveLength(2);
});

test('a diff has colours where the terminal has them', async () => {
  const shown = quoted(QUESTION.preview, {color: true, columns: 60} as Partial<Console> as Console);
  expect(shown).toEqual([
    '  │ \u001b[1m--- a/a.txt\u001b[22m',
    '  │ \u001b[1m+++ b/a.txt\u001b[22m',
    '  │ \u001b[36m@@ -1 +1 @@\u001b[39m',
    '  │ \u001b[31m-old\u001b[39m',
    '  │ \u001b[32m+new\u001b[39m',
  ]);
});

test('ruling D12 what a call brings along cannot pass for the question', async () => {
  const preview = `\u001b[2J\rfirst\n${'x'.repeat(54)}Allow it? y\u202e`;
  const {shown} = await ask(['o'], {...QUESTION, summary: 'a\nb\u001b[1m', preview});
  expect(shown).not.toMatch(/[\u001b\r\u202e]/);
  const lines = shown.split('\n').slice(1, -1);
  expect(lines.every(line => line.startsWith('  '))).toBe(true);
  expect(lines.filter(line => line.includes('│'))).toEqual([
    '  │ a b\\u{1b}[1m',
    '  │ \\u{1b}[2J\\u{d}first',
    `  │ ${'x'.repeat(54)}`,
    '  │ Allow it? y\\u{202e}',
  ]);
});

test('policy: a huge preview is cut in the middle', async () => {
  const {shown} = await ask(['o'], {...QUESTION, preview: `head\n${'y\n'.repeat(100_000)}tail`});
  expect(shown.length).toBeLessThan(80_000);
  expect(shown).toContain('  │ head');
  expect(shown).toContain('  │ tail');
  expect(shown).toMatch(/\d+ characters left out/);
});

test('policy: there is no approver where there is no terminal', () => {
  expect(terminalApprover({ask: undefined} as Partial<Console> as Console)).toBeUndefined();
});
