import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {approvalOptions, openTestRuntime, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import type {Approver} from '../../core/tool-host.ts';
import type {TaintOptions} from '../taint/options.ts';
import {RunTaint} from '../taint/run-taint.ts';
import type {ApprovalOptions} from './options.ts';
import {createConfirmationPolicy, createSink, type PolicyDecision, tighten} from './policy.ts';

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
    {untrusted: [], private: [], hasSecret: false, bits: 0, isUnknown: false},
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
  expect(createSink('egress', subject)).toEqual({kind: 'host', host: 'a.example:8443'});
  expect(createSink('web_fetch', subject)).toBe(subject);
});

const ALLOW = ruleOf({decision: 'allow', host: '.example.com'});
const DENY = ruleOf({decision: 'deny', host: 'denied.example', reason: 'It is the rival.'});
const ASK = ruleOf({decision: 'ask', host: '.ask.example'});

/** What of the hosts a call of `https://www.example.com/` may be led to. */
async function reached(options: Partial<ApprovalOptions>, hosts: readonly string[], approver?: Approver) {
  const fetch = toolOf('web_fetch', async ({mayReach}) => hosts.map(host => ({...mayReach(host)})), {
    action: 'web_fetch',
    subject: {kind: 'url', values: ['https://www.example.com/a?b']},
  });
  const {call} = await openTestRuntime({tools: [fetch], approval: approvalOptions(options), approver});
  const {data, error} = await call('web_fetch');
  expect(error).toBeNull();
  const decisions = data as readonly {allowed: boolean; reason?: string}[];
  return {
    allowed: hosts.filter((_, at) => decisions[at]?.allowed),
    reasons: decisions.flatMap(({reason = []}) => reason),
  };
}

const answer = (given: Awaited<ReturnType<Approver['ask']>>): Approver => ({ask: async () => given});

test('review R11: a denied host is out of reach in every spelling, whatever allowed the call', async () => {
  const hosts = [
    'denied.example',
    'DENIED.example.',
    'denied.example:8080',
    'other.example',
    'sub.denied.example',
  ];
  for (const options of [{mode: 'auto'}, {allowlist: ['web_fetch']}] as const) {
    const {allowed, reasons} = await reached({...options, rules: [DENY]}, hosts);
    expect(allowed).toEqual(['other.example', 'sub.denied.example']);
    expect(reasons[0]).toBe('tools.approval.rules[0] denies it: It is the rival.');
  }
  const {allowed} = await reached({rules: [DENY]}, hosts, answer({answer: 'once'}));
  expect(allowed).toEqual(['other.example', 'sub.denied.example']);
});

test('review R11: a call that an allow rule allowed stays within the hosts of such rules', async () => {
  const hosts = [
    'www.example.com',
    'cdn.example.com',
    'example.com',
    'other.example',
    '127.0.0.1',
    '::1',
    'denied.example',
  ];
  const rules = [ALLOW, DENY, ruleOf({decision: 'allow', host: '[::1]'})];
  const {allowed, reasons} = await reached({rules}, hosts);
  expect(allowed).toEqual(['www.example.com', 'cdn.example.com', '::1']);
  expect(reasons[0]).toBe('The call was allowed by a rule, and no rule allows this host.');
});

test.each(['session-rule', 'always'] as const)(
  'review R11: so does a call that was allowed with %s',
  async by => {
    const hosts = ['www.example.com', 'cdn.example.com', 'other.example'];
    const {allowed} = await reached({}, hosts, answer({answer: by, rule: ALLOW}));
    expect(allowed).toEqual(['www.example.com', 'cdn.example.com']);
    const once = await reached({}, hosts, answer({answer: 'once'}));
    expect(once.allowed).toEqual(hosts);
  },
);

test('review R11: a host that a rule asks about is asked about by itself', async () => {
  const {allowed, reasons} = await reached({mode: 'auto', rules: [ASK]}, ['a.ask.example', 'other.example']);
  expect(allowed).toEqual(['other.example']);
  expect(reasons).toEqual([
    'tools.approval.rules[0] asks about it, and a fetch that is under way cannot ask. Fetch that address in a call of its own.',
  ]);
});

test('review R11: the host of the call itself was decided about with the call', async () => {
  const ask = ruleOf({decision: 'ask', host: 'www.example.com'});
  const {allowed} = await reached(
    {rules: [ask]},
    ['www.example.com', 'WWW.example.com.'],
    answer({answer: 'once'}),
  );
  expect(allowed).toEqual(['www.example.com', 'WWW.example.com.']);
});

test('review R11: an IPv6 host is the same with and without brackets, and with a port', async () => {
  const rules = [ALLOW, ruleOf({decision: 'allow', host: '[::1]'})];
  const hosts = ['[::1]', '::1', '[::1]:8080', 'www.example.com:8080', '::2', '[::2]'];
  const {allowed} = await reached({rules}, hosts);
  expect(allowed).toEqual(['[::1]', '::1', '[::1]:8080', 'www.example.com:8080']);
});

test('review R11: a denial without a reason names the rule', async () => {
  const rules = [ruleOf({decision: 'deny', host: 'denied.example'})];
  const {reasons} = await reached({mode: 'auto', rules}, ['denied.example']);
  expect(reasons).toEqual(['tools.approval.rules[0] denies it.']);
});
