import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const PROGRAM = resolve(import.meta.dirname, '../../dist/bin/forge-tools.js');
const AS_ROOT = process.getuid?.() === 0 ? [] : ['--map-root-user'];

/** A command line in a mount namespace whose /proc is gone. */
function withoutProc(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const script = 'umount -l /proc && exec "$@"';
  const {status, stdout, stderr} = spawnSync(
    'unshare',
    ['--mount', ...AS_ROOT, 'sh', '-c', script, 'sh', process.execPath, PROGRAM, ...args],
    {encoding: 'utf8', env: {PATH: process.env['PATH'], HOME: temporaryDirectory(), ...env}},
  );
  return {status, text: stdout + stderr};
}

test.each([
  ['read_file', {path: 'a.txt'}],
  ['run', {command: 'true'}],
])('review B14: without /proc %s says what is missing, and runs nothing', (tool, params) => {
  const workspace = temporaryDirectory();
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
  const {status, text} = withoutProc(['call', tool, JSON.stringify(params), '--workspace', workspace]);
  expect(status).not.toBe(0);
  expect(text).toContain(`Could not open the workspace "${workspace}": ENOENT.`);
  expect(text).toContain('/proc mounted');
});

test('review B14: without /proc doctor says why each sandbox does not work', () => {
  const {text} = withoutProc(['doctor']);
  expect(text).toMatch(/^BROKEN\s+bubblewrap\s.*\/proc/m);
  expect(text).toMatch(/^Missing or broken: .*a sandbox for run/m);
});
