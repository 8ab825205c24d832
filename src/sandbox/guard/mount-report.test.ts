import {spawnSync} from 'node:child_process';
import {mkdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {bootId} from '../boot-id.ts';
import type {GuardedTree} from './guarded-tree.ts';
import {checkMounts, mountPoints, REPORT_MOUNTS} from './mount-report.ts';

const part = (path: string, place: string, writable: boolean) => ({path, place, writable, version: ''});

/** A workspace with a part for reading and one, with a blank in its name, for writing. */
const TREE: GuardedTree = [part('', '8:1', true), part('.git', '8:2', false), part('a b', '8:3', true)];

const REPORT = [
  'kernel this-boot',
  'at 8:1',
  'at 8:2',
  'at 8:3',
  '20 1 8:1 / / ro,relatime - tmpfs tmpfs rw',
  '21 20 8:1 /home/w /workspace rw,nosuid - ext4 /dev/sda rw',
  '22 21 8:1 /home/w/.git /workspace/.git ro,nosuid - ext4 /dev/sda rw',
  '23 21 8:1 /home/w/a\\040b /workspace/a\\040b rw,nosuid - ext4 /dev/sda rw',
  'ready',
];

/** The decision where each line that has the first text has the second one in its place; none is left of `''`. */
function check(from = '', to = '', tree = TREE) {
  const lines = REPORT.map(line => (from === '' ? line : line.replace(from, to)));
  return checkMounts(
    tree,
    lines.filter(line => line !== ''),
    'this-boot',
  );
}

describe('checkMounts', () => {
  test('review R1: what was looked at is as planned', () => {
    expect(mountPoints(TREE)).toEqual(['/workspace', '/workspace/.git', '/workspace/a b']);
    expect(check()).toEqual({kind: 'as_planned'});
    // Without a word on the kernel the places count.
    expect(check('kernel this-boot', '')).toEqual({kind: 'as_planned'});
  });

  test.each([
    ['another directory in the place of the workspace', 'at 8:1', 'at 8:9', '.'],
    ['another .git', 'at 8:2', 'at 8:9', '.git'],
    ['another last part', 'at 8:3', 'at 8:30', 'a b'],
    ['a place that cannot be said', 'at 8:3', '', 'a b'],
    ['a part that is no mount', '/workspace/.git ro', '/workspace/git ro', '.git'],
    ['a mount by the name of a part elsewhere', ' /workspace/a', ' /other/workspace/a', 'a b'],
    ['a part for reading that can be written', '/.git ro,nosuid', '/.git rw,nosuid', '.git'],
    [
      'a part whose super block alone is for reading',
      '.git ro,nosuid - ext4 /dev/sda rw',
      '.git rw - x y ro',
      '.git',
    ],
    ['more places than parts', 'kernel this-boot', 'at 8:0', '.'],
    ['a place too many at the end', 'ready', 'at 8:4', '.'],
  ])('review R1, R4: %s differs', (_, from, to, path) => {
    expect(check(from, to)).toEqual({kind: 'differs', path});
  });

  test('policy: of two mounts on one place the later one counts, which lies on top', () => {
    const below = '24 22 8:1 /x /workspace/.git rw - ext4 /dev/sda rw';
    expect(checkMounts(TREE, [...REPORT, below], 'this-boot')).toEqual({kind: 'differs', path: '.git'});
  });

  test('policy: places of another kernel say nothing, nor does an image without stat', () => {
    expect(check('this-boot', 'that-boot')).toEqual({kind: 'other_kernel'});
    expect(check('at 8:1', 'no stat')).toEqual({kind: 'no_stat'});
    expect(check('at 8:1', 'x no stat')).toMatchObject({kind: 'differs'});
  });
});

test('review R1: the report of this machine says what lies at each argument, and what is mounted', () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'a b'));
  const {dev, ino} = statSync(join(directory, 'a b'), {bigint: true});
  const script = `${REPORT_MOUNTS}report_mounts "$@"; echo "$PATH"`;
  const {stdout} = spawnSync('/bin/sh', ['-c', script, 'sh', join(directory, 'a b')], {
    encoding: 'utf8',
    env: {PATH: directory},
  });
  const lines = stdout.split('\n');
  expect(lines.slice(0, 2)).toEqual([`kernel ${bootId()}`, `at ${dev}:${ino}`]);
  expect(lines.slice(-3)).toEqual(['ready', directory, '']);
  expect(lines.some(line => /^\d+ \d+ \d+:\d+ \S+ \/proc /.test(line))).toBe(true);
});
