import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {approvalOptions, ruleOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import {createConfirmationPolicy, type PolicyDecision} from './confirmation-policy.ts';
import type {ApprovalOptions} from './options.ts';

const TOOLS = ['read_file', 'str_replace', 'apply_patch', 'run', 'web_fetch'];
const SETTING = 'tools.webfetch.allow_auto_execution';

function policyOf(options: Partial<ApprovalOptions>, autoFetch = false) {
  const policy = createConfirmationPolicy(approvalOptions(options), {
    knownTools: TOOLS,
    autoExecution: new Map([['web_fetch', {setting: SETTING, enabled: autoFetch}]]),
  });
  if (!policy.ok) throw new Error(policy.error.join('\n'));
  return policy.value;
}

function check(
  options: Partial<ApprovalOptions>,
  [tool, action, kind, ...values]: readonly [
    string,
    ApprovalAction | undefined,
    ApprovalSubject['kind'],
    ...string[],
  ],
  autoFetch = false,
): string {
  const {decision, by} = policyOf(options, autoFetch).check(action, {tool, subject: {kind, values}});
  return `${decision} by ${by.replace('tools.approval.', '')}`;
}

const EDIT = ['str_replace', 'patch_file', 'path', 'src/a.ts'] as const;
const FETCH = ['web_fetch', 'web_fetch', 'url', 'https://example.com/'] as const;
const READ = ['read_file', undefined, 'path', 'src/a.ts'] as const;
const RUN = ['run', 'run', 'command', 'npm test'] as const;

describe('ruling H3', () => {
  test('FR-WF-OP-02 allow_auto_execution allows web_fetch, and nothing else', () => {
    expect(check({}, FETCH, false)).toBe('ask by mode');
    expect(check({}, FETCH, true)).toBe('allow by tools.webfetch.allow_auto_execution');
    expect(check({}, RUN, true)).toBe('ask by mode');
  });

  test('FR-WF-OP-02 deny mode overrides allow_auto_execution, lists and rules', () => {
    const rules = [ruleOf({host: 'example.com', decision: 'allow'})];
    expect(check({mode: 'deny', allowlist: ['web_fetch'], rules}, FETCH, true)).toBe('deny by mode');
  });

  test('ruling H3 denylist before allowlist before mode', () => {
    expect(check({mode: 'auto', denylist: ['run'], allowlist: ['run']}, RUN)).toBe('deny by denylist');
    expect(check({allowlist: ['run']}, RUN)).toBe('allow by allowlist');
    expect(check({mode: 'auto'}, RUN)).toBe('allow by mode');
    expect(check({}, RUN)).toBe('ask by mode');
  });

  test('ruling H4 lists name tools or actions', () => {
    expect(check({allowlist: ['patch_file']}, EDIT)).toBe('allow by allowlist');
    expect(check({allowlist: ['str_replace']}, EDIT)).toBe('allow by allowlist');
    expect(check({allowlist: ['apply_patch']}, EDIT)).toBe('ask by mode');
    expect(check({denylist: ['patch_file'], allowlist: ['str_replace']}, EDIT)).toBe('deny by denylist');
  });

  test('policy: what only reads runs in every mode, unless a list or a rule says otherwise', () => {
    for (const mode of ['prompt', 'auto', 'deny'] as const)
      expect(check({mode}, READ)).toBe('allow by read-only');
    expect(check({denylist: ['read_file']}, READ)).toBe('deny by denylist');
    const deny = [ruleOf({path: 'src', decision: 'deny'})];
    expect(check({rules: deny}, READ)).toBe('deny by rules[0]');
    const ask = [ruleOf({path: 'src', decision: 'ask'})];
    expect(check({rules: ask}, READ)).toBe('ask by rules[0]');
    expect(check({rules: ask, mode: 'deny'}, READ)).toBe('deny by mode');
  });
});

describe('rules on arguments', () => {
  const rules = [
    ruleOf({path: 'src', decision: 'allow'}),
    ruleOf({path: 'docs', decision: 'allow'}),
    ruleOf({path: '*.lock', decision: 'ask'}),
    ruleOf({path: 'secrets', decision: 'deny'}),
  ];
  const patch = (...paths: readonly string[]) =>
    check({rules, allowlist: []}, ['apply_patch', 'patch_file', 'path', ...paths]);

  test('policy: the strictest wins', () => {
    expect(patch('src/a')).toBe('allow by rules[0]');
    expect(patch('src/a.lock')).toBe('ask by rules[2]');
    expect(patch('src/secrets/a.lock')).toBe('deny by rules[3]');
  });

  test('policy: allow needs all paths of a call, ask and deny one', () => {
    expect(patch('src/a', 'docs/b')).toBe('allow by rules[0]');
    expect(patch('src/a', 'other/b')).toBe('ask by mode');
    expect(patch('src/a', 'b.lock')).toBe('ask by rules[2]');
    expect(patch('src/a', 'secrets/b')).toBe('deny by rules[3]');
    expect(patch()).toBe('ask by mode');
  });

  test('policy: an ask rule beats the allowlist and mode auto', () => {
    expect(
      check({rules, mode: 'auto', allowlist: ['run', 'patch_file']}, [
        ...EDIT.slice(0, 3),
        'a.lock',
      ] as never),
    ).toBe('ask by rules[2]');
  });

  test('policy: explain shows what decided and what it overruled', () => {
    const decision: PolicyDecision = policyOf({rules, allowlist: ['patch_file']}).check('patch_file', {
      tool: 'apply_patch',
      subject: {kind: 'path', values: ['src/secrets/a.lock']},
    });
    expect([decision, ...decision.overruled].map(({decision, by}) => [decision, by])).toEqual([
      ['deny', 'tools.approval.rules[3]'],
      ['ask', 'tools.approval.rules[2]'],
      ['allow', 'tools.approval.allowlist'],
      ['allow', 'tools.approval.rules[0]'],
      ['ask', 'tools.approval.mode'],
    ]);
  });
});

describe('start-up', () => {
  test('policy: is refused with everything that is wrong at once', () => {
    const policy = createConfirmationPolicy(
      approvalOptions({
        allowlist: ['webfetch'],
        denylist: ['runn'],
        rules: [ruleOf({tool: 'edit', path: 'x'}), ruleOf({path: '[', decision: 'deny'})],
      }),
      {knownTools: TOOLS, autoExecution: new Map()},
    );
    const problems = policy.ok ? [] : policy.error;
    expect(problems.map(problem => problem.split(' ')[0])).toEqual([
      'tools.approval.allowlist',
      'tools.approval.denylist',
      'tools.approval.rules[0].tool',
      'tools.approval.rules[1].path',
    ]);
  });
});

test('policy: adding a rule or a denied name never allows more', () => {
  const strictness = {allow: 0, ask: 1, deny: 2};
  const rule = fc
    .record({
      path: fc.constantFrom('src', '*.ts', '/a', '**'),
      decision: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
    })
    .map(ruleOf);
  fc.assert(
    fc.property(
      fc.array(rule, {maxLength: 4}),
      fc.constantFrom('prompt' as const, 'auto' as const, 'deny' as const),
      fc.constantFrom('ask' as const, 'deny' as const),
      fc.constantFrom('src/a.ts', 'a', 'b/a.ts'),
      (rules, mode, decision, path) => {
        const decide = (all: typeof rules, denylist: readonly string[] = []) =>
          strictness[
            policyOf({mode, rules: all, denylist}).check('patch_file', {
              tool: 'apply_patch',
              subject: {kind: 'path', values: [path]},
            }).decision
          ];
        const before = decide(rules);
        expect(decide([...rules, ruleOf({path: '**', decision})])).toBeGreaterThanOrEqual(before);
        expect(decide(rules, ['patch_file'])).toBe(2);
      },
    ),
  );
});
