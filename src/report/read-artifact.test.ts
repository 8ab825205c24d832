import {createHash} from 'node:crypto';
import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {readArtifact} from './read-artifact.ts';

function makeRun(): string {
  const run = temporaryDirectory();
  mkdirSync(join(run, 'logs'));
  writeFileSync(join(run, 'logs/a.txt'), 'content');
  return run;
}

const sha256 = createHash('sha256').update('content').digest('hex');

test('policy: what the log vouches for is told from what was changed or is missing', async () => {
  const run = makeRun();
  const read = (path: string, hash: string | undefined) => readArtifact(run, {path, sha256: hash});
  expect(await read('logs/a.txt', sha256)).toMatchObject({
    text: 'content',
    altered: false,
    problem: undefined,
  });
  expect(await read('logs/a.txt', undefined)).toMatchObject({text: 'content', altered: false});
  expect(await read('logs/a.txt', 'f'.repeat(64))).toMatchObject({text: 'content', altered: true});
  expect(await read('logs/b.txt', sha256)).toMatchObject({text: undefined, altered: true});
});

test.each([
  '../secret',
  '/etc/passwd',
  'logs/../../secret',
  'logs/.hidden',
  'secret',
  'logs//a.txt',
  'a\\b/c',
  'logs/a.txt\0',
])('policy: the path %j of a log is not read', async path => {
  const {text, problem} = await readArtifact(makeRun(), {path, sha256: undefined});
  expect({text, problem}).toEqual({text: undefined, problem: expect.stringContaining('not read')});
});

test('policy: no link leads out of the run, and no directory is a file', async () => {
  const run = makeRun();
  const outside = temporaryDirectory();
  writeFileSync(join(outside, 'a.txt'), 'secret');
  symlinkSync(outside, join(run, 'diffs'));
  symlinkSync(join(outside, 'a.txt'), join(run, 'logs/link.txt'));
  mkdirSync(join(run, 'logs/directory'));
  for (const path of ['diffs/a.txt', 'logs/link.txt', 'logs/directory']) {
    expect(await readArtifact(run, {path, sha256: undefined}), path).toMatchObject({text: undefined});
  }
});
