import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {openTestRuntime, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {ApprovalAnswer, ApprovalQuestion, ApprovalRule} from '../../core/tool-host.ts';
import {compileGlob} from '../../workspace/walk/glob.ts';
import type {RuleFields} from './options.ts';
import {compileHostPattern, compilePathGlob, compileRule, suggestRule} from './rules.ts';

function problems(rule: Partial<RuleFields>): readonly string[] {
  const compiled = compileRule(ruleOf(rule), 'rules[0]');
  return compiled.ok ? [] : compiled.error;
}

describe('a rule', () => {
  test('policy: has exactly one matcher, so that a misspelt one does not match everything', () => {
    expect(problems({})).toEqual(['rules[0] needs exactly one of host, path and command_prefix, and has 0.']);
    expect(problems({host: 'a.org', path: 'b'})).toHaveLength(1);
    expect(problems({path: 'b'})).toEqual([]);
    expect(problems({path: 'b', tool: ''})).toEqual([
      'rules[0].tool is empty. Write a tool, an action, or "*".',
    ]);
    expect(problems({path: '!b'})[0]).toContain('rules[0].path = "!b" starts with "!"');
  });

  test('policy: is tested with its own examples', () => {
    expect(
      problems({
        command_prefix: 'npm test',
        match: ['npm test', 'npm testing', 'npm test; x'],
        not_match: ['npm run', 'npm test --x'],
      }),
    ).toEqual([
      'rules[0] does not match "npm testing", which its match lists. Correct command_prefix, or the example.',
      'rules[0] does not match "npm test; x", which its match lists. Correct command_prefix, or the example.',
      'rules[0] matches "npm test --x", which its not_match lists. Correct command_prefix, or the example.',
    ]);
  });

  test('policy: is about a tool or its action, and one kind of subject', () => {
    const compiled = compileRule(ruleOf({tool: 'patch_file', path: 'x'}), 'rules[0]');
    const isAbout = compiled.ok ? compiled.value.isAbout : () => undefined;
    expect(isAbout('str_replace', 'patch_file', 'path')).toBe(true);
    expect(isAbout('patch_file', undefined, 'path')).toBe(true);
    expect(isAbout('write_file', 'write_file', 'path')).toBe(false);
    expect(isAbout('str_replace', 'patch_file', 'command')).toBe(false);
  });
});

describe('the rule that is suggested', () => {
  test.each([
    ['url', 'https://Example.com/a?key=1', {host: 'example.com'}],
    ['path', 'src/[id]/a*.ts', {path: '/src/\\[id]/a\\*.ts', match: ['src/[id]/a*.ts']}],
    ['command', ' npm test -- x', {command_prefix: 'npm test -- x', match: ['npm test -- x']}],
    ['command', 'npm test 2>&1', {command_prefix: 'npm test', match: ['npm test']}],
  ] as const)('policy: covers this %s and little else', (kind, value, expected) => {
    const rule = suggestRule('t', {kind, values: [value]});
    expect(rule).toEqual(ruleOf({tool: 't', ...expected}));
  });

  test.each([
    ['url', ['no url']],
    ['path', ['.']],
    ['path', ['a', 'b']],
    ['command', ['a; b']],
    ['command', ['a $(b)']],
  ] as const)('policy: there is none for %s %j', (kind, values) => {
    expect(suggestRule('t', {kind, values})).toBeUndefined();
  });
});

test.each([
  ['example.com', 'https://example.com/a?b', true],
  ['example.com', 'https://EXAMPLE.com./', true],
  ['example.com', 'https://www.example.com/', false],
  ['example.com', 'https://notexample.com/', false],
  ['example.com', 'https://example.com.evil.org/', false],
  ['example.com', 'https://evil.org/example.com', false],
  ['example.com', 'https://example.com@evil.org/', false],
  ['example.com', 'https://evil.org\\@example.com/', false],
  ['.example.com', 'https://www.example.com/', true],
  ['.example.com', 'https://a.b.example.com/', true],
  ['.example.com', 'https://example.com/', false],
  ['.example.com', 'https://notexample.com/', false],
  ['bücher.de', 'https://xn--bcher-kva.de/', true],
  ['[::1]', 'http://[0:0::1]:8080/', true],
  ['example.com', 'no url', false],
])('policy: hosts match on dot boundaries: %s on %s is %s', (pattern, url, expected) => {
  const host = compileHostPattern(pattern);
  expect(host.ok && host.value(url)).toBe(expected);
});

test.each(['*.example.com', 'https://example.com', 'example.com/x', 'example.com:80', '.', '', 'a b', 'u@h'])(
  'policy: %j is no host and stops start-up',
  pattern => {
    expect(compileHostPattern(pattern).ok).toBe(false);
  },
);

function matches(pattern: string, path: string): boolean {
  const glob = compilePathGlob(pattern);
  if (!glob.ok) throw new Error(glob.error);
  return glob.value(path);
}

describe('ruling W2: gitignore-style', () => {
  test.each([
    ['*.md', 'a.md', true],
    ['*.md', 'deep/er/a.md', true],
    ['*.md', 'a.md.txt', false],
    ['/*.md', 'deep/a.md', false],
    ['/*.md', 'a.md', true],
    ['docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/b/a.md', false],
    ['docs/*.md', 'x/docs/a.md', false],
    ['docs/**', 'docs/b/a.md', true],
    ['**/b/**', 'docs/b/a.md', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**/z', 'a/b/c/y', false],
    ['secrets', 'secrets/key', true],
    ['secrets', 'app/secrets/deep/key', true],
    ['secrets/', 'secrets/key', true],
    ['/secrets/', 'app/secrets/key', false],
    ['secrets', 'secrets2/key', false],
    ['.env', '.env', true],
    ['.env*', 'app/.env.local', true],
    ['?.txt', 'a.txt', true],
    ['?.txt', '😀.txt', true],
    ['?.txt', 'ab.txt', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[!a-c]x', 'dx', true],
    ['[^a-c]x', 'bx', false],
    ['[]]x', ']x', true],
    ['[a-]x', '-x', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['README', 'readme', false],
    ['[\\]x]y', ']y', true],
    ['[{]x', '{x', true],
    ['b[c-a]', 'bc', true],
    ['docs/**', 'docs', true],
    ['**', '.', true],
    ['*', '.', false],
    ['src', './src//main.ts', true],
    ['x**y', 'x/y', false],
    ['x**y', 'xzzy', true],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test.each([
    ['!a', 'starts with "!"; write a rule that says the opposite'],
    ['', 'matches nothing; write ** for everything'],
    ['/', 'matches nothing; write ** for everything'],
    ['//', 'matches nothing; write ** for everything'],
    ['a//b', 'has the segment ""'],
    ['a/../b', 'has the segment ".."'],
    ['./a', 'has the segment "."'],
    ['[a', 'has a "[" without "]"; write \\[ for the character'],
    ['a\\', 'ends in a backslash'],
    ['*.{pem,key}', 'has "{"; write one rule for each alternative, or \\{ for the character'],
  ])('policy: %j stops start-up instead of meaning something else, and says why', (pattern, error) => {
    expect(compilePathGlob(pattern)).toEqual({ok: false, error});
  });

  test('policy: a path matches itself, its directory and nothing beside it', () => {
    const name = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(name, {minLength: 2, maxLength: 5}), segments => {
        const path = segments.join('/');
        const directory = segments.slice(0, -1).join('/');
        expect(matches(`/${path}`, path)).toBe(true);
        expect(matches(`/${directory}`, path)).toBe(true);
        expect(matches(`/${directory}/*`, `${path}x`)).toBe(true);
        expect(matches(`/${path}`, `${path}x`)).toBe(false);
      }),
    );
  });

  test('policy: what the tool glob finds by a pattern is what a rule with that pattern covers', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '*',
      '**',
      '?',
      '[ab]',
      '[!a]',
      '[\\]a]',
      '/',
      '/**/',
      '\\a',
      '\\{',
    );
    const pattern = fc.array(piece, {minLength: 1, maxLength: 6}).map(pieces => pieces.join(''));
    const name = fc.constantFrom('a', 'b', 'ab', ']', '{', 'ba');
    const path = fc.array(name, {minLength: 1, maxLength: 4}).map(names => names.join('/'));
    fc.assert(
      fc.property(pattern, path, (text, file) => {
        const [rule, glob] = [compilePathGlob(text), compileGlob(text, 'pattern')];
        fc.pre(rule.ok && glob.ok);
        if (glob.value.matchesPath(file)) expect([text, file, rule.value(file)]).toEqual([text, file, true]);
        // And all that lies below it.
        if (rule.value(file)) expect(rule.value(`${file}/c`)).toBe(true);
      }),
      {numRuns: 2000},
    );
  });

  test('policy: a hostile path costs at most its length times the pattern', () => {
    const started = performance.now();
    expect(matches('*a*a*a*a*b', 'a'.repeat(20_000))).toBe(false);
    expect(matches('**/a/**/a/**/b', 'a/'.repeat(20_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

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
    expect(await asked.call()).toContain('nobody can be asked here');
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
      `run needs an approval and nobody can be asked here. ${why} The operator can`,
    );
  });

  test('policy: where no part is covered, nothing is said of parts', async () => {
    const {call} = await open('a; b', [allow('npm test')]);
    expect(await call()).toContain('run needs an approval and nobody can be asked here. The operator can');
  });
});
