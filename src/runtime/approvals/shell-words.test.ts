// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code is quoted here
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import fc from 'fast-check';
import {afterAll, describe, expect, test} from 'vitest';
import {commandParts, compileCommandPrefix} from './shell-words.ts';

function parts(text: string): readonly string[] | string {
  const found = commandParts(text);
  return found.ok ? found.value : found.error;
}

describe('a command of which it can be told what it runs', () => {
  test.each([
    ['npm test', ['npm test']],
    ['  npm test  ', ['npm test']],
    ['npm test 2>&1 | grep ✖', ['npm test', 'grep ✖']],
    ['a && b; c | d\ne', ['a', 'b', 'c', 'd', 'e']],
    ['a&&b;c|d', ['a', 'b', 'c', 'd']],
    ['\n\na &&\n\n b |\n c\n\n', ['a', 'b', 'c']],
    ['a 2>&1&&b 2>&1;c 2>&1', ['a', 'b', 'c']],
    [`grep -E "a;b|c" 'd && e' f\\|g x\\;y`, [`grep -E "a;b|c" 'd && e' f\\|g x\\;y`]],
    ['grep "x$" a | grep x$ | echo $HOME "$HOME"', ['grep "x$" a', 'grep x$', 'echo $HOME "$HOME"']],
    ['ls *.ts src/[ab]?.c {a,b} ~/x a=b', ['ls *.ts src/[ab]?.c {a,b} ~/x a=b']],
    ["awk '{print $1}' f", ["awk '{print $1}' f"]],
    ['find . -name x -exec rm {} \\;', ['find . -name x -exec rm {} \\;']],
    ['cd packages/a && npm test', ['cd packages/a', 'npm test']],
    ['./a-b.sh c#d', ['./a-b.sh c#d']],
    ['export A=b', ['export A=b']],
    // A backslash takes one character along, whatever that is.
    ['echo \\a;ls', ['echo \\a', 'ls']],
    ['echo \\😀;ls', ['echo \\😀', 'ls']],
    // A dollar sign that no shell takes for more, at the end of a word.
    ['echo a$', ['echo a$']],
    ['echo $;ls $|ls $&&ls', ['echo $', 'ls $', 'ls $', 'ls']],
    ['echo "$ a" "b$"', ['echo "$ a" "b$"']],
    // A quote of one line, whatever lines there are behind it.
    ["echo 'a' b\nls", ["echo 'a' b", 'ls']],
    ['echo "a" b\nls', ['echo "a" b', 'ls']],
    ['echo "\\"" b', ['echo "\\"" b']],
    ['ls\t-l\t2>&1\t-a', ['ls\t-l\t\t-a']],
  ])('policy: %j', (text, expected) => {
    expect(parts(text)).toEqual(expected);
  });
});

describe('what hides a command, or may be read in two ways', () => {
  test.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['a $(b)', 'substitution'],
    ['a "$(b)"', 'substitution'],
    ["a '$(b)'", 'substitution'],
    ['a `b`', 'substitution'],
    ['a <(b)', 'redirection'],
    ['a >(b)', 'redirection'],
    ['a > f', 'redirection'],
    ['a 2>/dev/null', 'redirection'],
    ['a >&2', 'redirection'],
    ['a 2>&1x', 'redirection'],
    ['a b2>&1', 'redirection'],
    ['a "b"2>&1', 'redirection'],
    ['a 2>&1-', 'redirection'],
    ['2>&1 a', 'begins a part'],
    ['a < f', 'redirection'],
    ['a <<E\nb\nE', 'redirection'],
    ['a &', '`&`'],
    ['a & b', '`&`'],
    ['a &&& b', '`&`'],
    ['a || b', '`||`'],
    ['a |& b', '`|&`'],
    ['a;', 'ends where'],
    ['a &&', 'ends where'],
    ['a |\n', 'ends where'],
    [';a', 'empty part'],
    ['a;;b', 'empty part'],
    ['a\n&& b', 'empty part'],
    ['&& a', 'empty part'],
    ['(a)', 'parentheses'],
    ['a() { b', 'parentheses'],
    ['a # b', 'comment'],
    ['#a\nb', 'comment'],
    ['X=1 a', 'no plain program'],
    ['X=1', 'no plain program'],
    ['$X a', 'place of a program'],
    ['a; b$X', 'place of a program'],
    ['a && "b" c', 'no plain program'],
    ['a && \\b c', 'no plain program'],
    ['a && b* c', 'no plain program'],
    ['a && ~/b', 'no plain program'],
    ['a && {b,c}', 'no plain program'],
    ['! a', 'shell word'],
    ['if a; then b; fi', 'shell word'],
    ['a | while b', 'shell word'],
    ['{ a; }', 'shell word'],
    ['time a', 'shell word'],
    ['a ${b}', 'expansion'],
    ['a $((1))', 'substitution'],
    ['a $[1]', 'expansion'],
    ["a $'b'", 'expansion'],
    ['a $"b"', 'expansion'],
    ['a "$1"', 'expansion'],
    ['a $X[1]', 'expansion'],
    ['a "b', 'quote that does not end'],
    ["a 'b", 'quote that does not end'],
    ['a "b\nc"', 'several lines'],
    ["a 'b\nc'", 'several lines'],
    ['a \\\nb', 'backslash'],
    ['a \\', 'backslash'],
    ['a\rb', 'cannot be seen'],
    ['a\0', 'cannot be seen'],
    ['a\u00a0b', 'cannot be seen'],
    ['a \u202e b', 'cannot be seen'],
    ['a\u2028b', 'cannot be seen'],
    ['export PATH=. && npm test', '`export`'],
    ['. x; npm test', '`.`'],
    ['alias a=b\na', '`alias`'],
    ['eval x | cat', '`eval`'],
    ['cat | read x', '`read`'],
    ["test -v 'a[$''(id)]'", '`test`'],
  ])('policy: %j is refused', (text, problem) => {
    expect(parts(text)).toContain(problem);
  });
});

describe('words that a shell does not take for a program', () => {
  test.each(
    (
      '. : [ alias bind break builtin caller command compgen complete compopt continue coproc declare dirs disown ' +
      'enable eval exec exit export fc getopts hash history let local logout mapfile popd printf pushd read ' +
      'readarray readonly return set shift shopt source suspend test trap type typeset ulimit umask unalias unset wait'
    )
      .split(' ')
      .filter(word => !/^(?:coproc|:|\[)$/.test(word)),
  )('policy: `%s` stands alone or nowhere', word => {
    expect(parts(`${word} x`)).toEqual([`${word} x`]);
    const refused = `has \`${word}\`, which can change what the other parts do`;
    expect([parts(`${word} x; a`), parts(`a; ${word} x`), parts(`${word} x[1]`)]).toEqual(
      Array(3).fill(refused),
    );
  });

  test.each(
    '! [[ ]] { } case coproc do done elif else esac fi for function if in namespace select then time until while'.split(
      ' ',
    ),
  )('policy: `%s` is a word of the grammar', word => {
    expect([parts(`${word} x`), parts(`a; ${word} x`)]).toEqual(
      Array(2).fill(`has the shell word \`${word}\``),
    );
  });

  test.each([
    ['a; "b"', 'begins a part with `"b"`, which is no plain program'],
    ['X=1', 'begins a part with `X=1`, which is no plain program'],
    ['2>&1 a', 'begins a part with `2>&1`'],
    ['', 'is empty'],
    ['a &', 'has `&`'],
    ['a || b', 'has `||`'],
    ['a |& b', 'has `|&`'],
    ['a;', 'ends where a command is expected'],
    ['a;;b', 'has an empty part'],
    ['a \\', 'has a backslash at the end of a line'],
    ['a $(b)', 'has a substitution'],
    ['$X', 'has an expansion in the place of a program'],
    ['a $1', 'has an expansion'],
    ['a "$X[1]"', 'has an expansion'],
    ['a < f', 'has a redirection'],
    ['a (b)', 'has parentheses'],
    ['a # b', 'has a comment'],
    ["a 'b", 'has a quote that does not end'],
    ['a "b', 'has a quote that does not end'],
    ["a 'b\nc'", 'has a quote of several lines'],
    ['a "b\nc"', 'has a quote of several lines'],
    ['a\u200b', 'has a character that cannot be seen'],
  ])('policy: %j %s', (text, problem) => {
    expect(parts(text)).toBe(problem);
  });
});

describe('beside real shells', () => {
  const place = mkdtempSync(join(tmpdir(), 'forge-parts-'));
  const log = join(place, 'log');
  // Each says that it was run, in one write.
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(
      join(place, name),
      `#!/bin/sh
echo ${name} >>'${log}'
`,
      {mode: 0o755},
    );
  }
  afterAll(() => rmSync(place, {recursive: true, force: true}));

  const shells = [['/bin/sh'], ['/bin/bash', '--posix'], ['/bin/busybox', 'sh']].filter(([program = '']) =>
    existsSync(program),
  );
  const run = ([program = '', ...first]: readonly string[], args: readonly string[]) =>
    spawnSync(program, [...first, ...args], {
      cwd: place,
      env: {PATH: place},
      encoding: 'utf8',
      // With a socket there, bash would read the settings of the user.
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const programs = (all: readonly string[]): string[] =>
    all.map(part => part.split(/[ \t]/, 1)[0] ?? '').sort();

  const separator = fc.constantFrom('&&', ' && ', ';', '; ', '|', ' | ', '\n', ' 2>&1 | ', '\n\n', ' &&\n');
  const strange = fc.constantFrom(
    ...[
      '`',
      '$',
      '$(',
      '(',
      ')',
      '{',
      '}',
      '&',
      '||',
      '|&',
      '<',
      '>',
      '2>&1',
      '>&2',
      '<<',
      '#',
      '\\',
      '\n',
      '!',
    ],
    ...[
      "'",
      '"',
      '=',
      'X=1 ',
      'if ',
      'then ',
      'fi',
      'do ',
      'done',
      'eval ',
      '. ',
      '[',
      ']',
      '*',
      '~',
      "$'",
      '$"',
    ],
    ...['${', '$X', '$[', ';;', ';', '\t', ' ', '%', '^', '@', ',', '-', '+', ':', '2', '>'],
  );
  const word = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('a', 'b', 'c', 'x', '-y', '1', "'x y'", '"x y"', '"x $X"', 'x\\;y', '$X'),
    },
    {weight: 1, arbitrary: strange},
  );
  const command = fc
    .tuple(fc.constantFrom('a', 'b', 'c'), fc.array(word, {maxLength: 4}), fc.constantFrom(' ', ' ', ' ', ''))
    .map(([program, words, blank]) => [program, ...words].join(blank));
  const text = fc
    .array(fc.tuple(command, separator), {minLength: 1, maxLength: 4})
    .map(all => all.flat().slice(0, -1).join(''));

  test('policy: what a shell runs is what was told, and nothing else', {
    tags: 'stress',
    timeout: 600_000,
  }, () => {
    let accepted = 0;
    fc.assert(
      fc.property(text, written => {
        const told = commandParts(written);
        if (!told.ok) return;
        accepted += 1;
        for (const shell of shells) {
          expect(run(shell, ['-n', '-c', written]).stderr).toBe('');
          writeFileSync(log, '');
          run(shell, ['-c', written]);
          const ran = readFileSync(log, 'utf8').trim().split('\n').sort();
          const expected = programs(told.value);
          // Behind a program that is not there, `&&` runs nothing.
          if (expected.every(name => /^[abc]$/.test(name))) expect(ran).toEqual(expected);
          else expect(expected).toEqual(expect.arrayContaining(ran.filter(name => name !== '')));
        }
      }),
      {numRuns: Number(process.env['FORGE_TEST_RUNS'] ?? 60)},
    );
    expect(accepted).toBeGreaterThan(10);
  });

  test('policy: nothing outside of the subset is covered, wherever it stands', () => {
    const outside = fc.constantFrom(
      ...['`b`', '$(b)', '<(b)', '>(b)', '>f', '<f', ' & ', '(b)', '${X}', '||', '|&', ';;', '\r', '\0'],
      ...[
        '\u00a0',
        '\\\n',
        '$[1]',
        '<<E',
        '\nX=1 b',
        '; if b',
        ' && eval b',
        '\n. b',
        '| $X',
        ';"b"',
        ' #b',
        '\u202e',
      ],
    );
    const plain = fc.array(fc.constantFrom('a', 'b', ' c', ' && b', '; c', ' | a', '\nb', ' 2>&1'), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(plain, outside, plain, (before, inserted, after) => {
        expect(commandParts(`a${before.join('')}${inserted}${after.join('')}`).ok).toBe(false);
      }),
      {numRuns: 3000},
    );
  });

  test('policy: a text of 100,000 characters takes linear time', () => {
    const started = performance.now();
    for (const unit of ['a ', '"x" ', 'a;', '\\x', '$X ', ' 2>&1', "'y'"]) {
      commandParts(`a ${unit.repeat(100_000 / unit.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

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
