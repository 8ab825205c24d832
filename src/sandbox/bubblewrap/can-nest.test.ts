import {chmodSync, existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {canNest} from './can-nest.ts';

/** A bubblewrap that begins with `script`; `$1` is its first argument. */
function program(script: string): string {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, 'bwrap'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  return directory;
}

test('review R1: a bubblewrap that answers too late is asked again', {tags: 'slow'}, async () => {
  const directory = program('cd "$(dirname "$0")"; mkdir busy 2>/dev/null && exec sleep 600; exit 0');
  expect(await canNest([join(directory, 'bwrap')], [], [], 1500)).toBe('nests');
  expect(existsSync(join(directory, 'busy'))).toBe(true);
});

test('review R1: what never answers is not taken for a no', {tags: 'slow'}, async () => {
  expect(await canNest([join(program('exec sleep 600'), 'bwrap')], [], [], 100)).toBe('no_answer');
  expect(await canNest([join(program('exit 1'), 'bwrap')], [], [])).toBe('refused');
});
