import {describe, expect, test} from 'vitest';
import {compileCommandPrefix} from './command-prefix.ts';

function matches(prefix: string, command: string, decision: 'allow' | 'deny'): boolean {
  const compiled = compileCommandPrefix(prefix, decision);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.value(command);
}

describe('an allow rule', () => {
  test.each([
    ['npm test', true],
    ['  npm test  ', true],
    ['npm test -- --watch', true],
    ['npm\ttest', false],
    ['npm testing', false],
    ['npm tes', false],
    ['sudo npm test', false],
    ['X=1 npm test', false],
    ['npm test; rm -rf /', false],
    ['npm test;', false],
    ['npm test && x', false],
    ['npm test & x', false],
    ['npm test | x', false],
    ['npm test `x`', false],
    ['npm test $(x)', false],
    ['npm test "$(x)"', false],
    ['npm test\nx', false],
    ['npm test\rx', false],
    ['npm test > ~/.bashrc', false],
    ['npm test <(x)', false],
    ['npm test\0', false],
    ['npm test && npm test -- x 2>&1', true],
    ['npm test\u00a0x', false],
    ['\u00a0npm test', false],
  ])('policy: "npm test" on %j is %s', (command, expected) => {
    expect(matches('npm test', command, 'allow')).toBe(expected);
  });
});

describe('a deny or ask rule', () => {
  test.each([
    'git 2>&1 push',
    'cd a && git 2>&1 push',
    'git >log push',
    'git $X push',
    "git p$X'ush'",
    'git {push,origin}',
    'git pus[h]',
    'git $(echo push)',
    '$GIT push',
  ])('review: %s may be a git push to a shell, so it is one to a rule', command => {
    expect(matches('git push', command, 'deny')).toBe(true);
  });

  test.each(['git status $X', 'ls *.txt', 'echo $X', 'git 2>&1 status'])('review: %s is none', command => {
    expect(matches('git push', command, 'deny')).toBe(false);
  });

  test.each([
    ['git push', true],
    ['git   push origin', true],
    ['cd x && git push', true],
    ['cd x;git push', true],
    ['true || (git push)', true],
    ['echo $(git push)', true],
    ['echo `git push`', true],
    ['a\ngit push', true],
    ['{ git push; }', true],
    ['X=1 git push', true],
    ['X= git push', true],
    ['LONG_1+=value git push', true],
    ['echo sudo git push', false],
    ['echo >log git push', false],
    ['if true; then git push; fi', true],
    ['! git push', true],
    ['2>&1 git push', true],
    ['>log git push', true],
    ['"git" p\\ush', true],
    ['git \\\npush', true],
    ['sudo git push', true],
    ['git pusher', false],
    ['echo git push', false],
  ])('policy: "git push" on %j is %s', (command, expected) => {
    expect(matches('git push', command, 'deny')).toBe(expected);
  });
});

test('policy: a prefix with operators stops start-up', () => {
  expect(compileCommandPrefix('a && b', 'deny').ok).toBe(false);
});
