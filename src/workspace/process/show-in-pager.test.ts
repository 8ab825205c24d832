import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {showInPager} from './show-in-pager.ts';

/** A pager that writes down what it was given. */
function pager(name = 'less', script = 'echo "$LESS $*" >"$SEEN"; cat >>"$SEEN"') {
  const directory = join(temporaryDirectory(), 'bin');
  mkdirSync(directory);
  const program = join(directory, name);
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const seen = join(temporaryDirectory(), 'seen');
  const show = (env: Record<string, string> = {}, untrustedTrees: readonly string[] = [], text = 'a\nb\n') =>
    showInPager(text, {env: {PATH: `${directory}:/usr/bin:/bin`, SEEN: seen, ...env}, untrustedTrees}, []);
  return {directory, program, show, seen: () => (existsSync(seen) ? readFileSync(seen, 'utf8') : undefined)};
}

test('policy: a text goes to less, which ends where it fits and leaves it on the screen', async () => {
  const {show, seen} = pager();
  expect(await show()).toBe(true);
  expect(seen()).toBe('FRX \na\nb\n');
});

test('policy: PAGER is a program and its arguments, and no line for a shell', async () => {
  const {show, seen, program} = pager('forge-pager');
  expect(await show({PAGER: 'forge-pager -a  $(id)', LESS: 'i'})).toBe(true);
  expect(seen()).toBe('i -a $(id)\na\nb\n');
  expect(await show({PAGER: program})).toBe(true);
  expect(await show({PAGER: 'no-such-program'})).toBe(false);
});

test.each(['', 'cat', ' '])('policy: PAGER=%j is none', async PAGER => {
  const {show, seen} = pager();
  expect(await show({PAGER})).toBe(false);
  expect(seen()).toBeUndefined();
});

test('review R3: no pager is taken from the directory that is worked in', async () => {
  const {show, seen, directory, program} = pager('forge-pager');
  expect(await show({PAGER: 'forge-pager'}, [directory])).toBe(false);
  expect(await show({PAGER: program}, [directory])).toBe(false);
  expect(seen()).toBeUndefined();
});

test('policy: a user who leaves the pager before the end is no failure', async () => {
  const {show} = pager('less', 'exit 0');
  expect(await show({}, [], 'line\n'.repeat(1_000_000))).toBe(true);
});
