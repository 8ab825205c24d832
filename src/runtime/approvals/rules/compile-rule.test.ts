import {describe, expect, test} from 'vitest';
import {ruleOf} from '../../../../test/support/open-test-runtime.ts';
import type {ApprovalRule} from '../options.ts';
import {compileRule} from './compile-rule.ts';
import {suggestRule} from './suggest-rule.ts';

function problems(rule: Partial<ApprovalRule>): readonly string[] {
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
    ['url', 'https://Example.com/a?key=1', {host: 'example.com', match: []}],
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
