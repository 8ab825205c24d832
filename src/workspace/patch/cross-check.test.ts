import {mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {FileHistory} from './apply-hunks.ts';
import {crossCheck, type RunPatch} from './cross-check.ts';
import type {HunkLine} from './patch.ts';

const GNU = {exitCode: 0, stdout: 'GNU patch 2.7.6\n', stderr: ''};
const lines = (...texts: readonly string[]): readonly HunkLine[] =>
  texts.map(text => ({kind: text[0] as HunkLine['kind'], text: text.slice(1)}));

const MODIFIED: FileHistory = {
  initial: 'a\nb\nc\nd\n',
  final: 'a\nB\nc\nd\nE',
  versions: [
    {
      kind: 'modify',
      order: 1,
      hunks: [
        {at: 0, offset: 0, lines: lines(' a\n', '-b\n', '+B\n', ' c\n', ' d\n')},
        {at: 4, offset: 0, lines: lines('+E')},
      ],
    },
  ],
};
const CREATED: FileHistory = {
  initial: undefined,
  final: 'new\n',
  versions: [{kind: 'create', order: 0, hunks: [{at: 0, offset: 0, lines: lines('+new\n')}]}],
};
const DELETED: FileHistory = {
  initial: 'x\n',
  final: undefined,
  versions: [{kind: 'delete', order: 2, hunks: [{at: 0, offset: 0, lines: lines('-x\n')}]}],
};

/** What comes of it where `patch` makes this of its directory. */
async function checked(
  histories: readonly FileHistory[],
  work: (
    directory: string,
  ) => {readonly exitCode: number; readonly stdout: string; readonly stderr: string} | undefined,
) {
  const directory = join(temporaryDirectory(), 'deep/stage');
  const seen: {stdin: string; files: Record<string, string>; args: readonly string[]}[] = [];
  const run: RunPatch = async (_, args, {cwd, env, stdin}) => {
    const stage = join(cwd, '..');
    expect(env).toEqual({PATH: stage, TMPDIR: stage, LC_ALL: 'C'});
    if (args.includes('--version')) return GNU;
    const files = Object.fromEntries(
      readdirSync(cwd).map(name => [
        name,
        `${(statSync(join(cwd, name)).mode & 0o777).toString(8)} ${readFileSync(join(cwd, name), 'latin1')}`,
      ]),
    );
    seen.push({stdin: Buffer.from(stdin).toString('latin1'), files, args});
    return work(cwd) ?? {exitCode: 0, stdout: '', stderr: ''};
  };
  const outcome = await crossCheck(histories, {run, directory});
  return {outcome, seen, left: readdirSync(directory), mode: statSync(directory).mode & 0o777};
}

test('TA-PATCH-1 W7: the hunks are passed under numbers, in the order of the patch, with equal context on both sides', async () => {
  const {outcome, seen, left, mode} = await checked([MODIFIED, CREATED, DELETED], directory => {
    writeFileSync(join(directory, 'content-0'), 'a\nB\nc\nd\nE');
    writeFileSync(join(directory, 'content-1'), 'new\n');
    rmSync(join(directory, 'content-2'));
    return undefined;
  });
  expect(outcome).toEqual({outcome: 'agrees'});
  expect(seen).toEqual([
    {
      args: ['-p1', '-u', '--force', '--fuzz=0', '--no-backup-if-mismatch', '--silent'],
      files: {'content-0': '600 a\nb\nc\nd\n', 'content-2': '600 x\n'},
      stdin: [
        '--- /dev/null\n+++ b/content-1\n@@ -0,0 +1 @@\n+new\n',
        '--- a/content-0\n+++ b/content-0\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
        '@@ -4,0 +5 @@\n+E\n\\ No newline at end of file\n',
        '--- a/content-2\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      ].join(''),
    },
  ]);
  expect([left, mode]).toEqual([[], 0o700]);
});

test.each<
  readonly [string, FileHistory, (directory: string) => ReturnType<Parameters<typeof checked>[1]>, string]
>(
  // biome-ignore format: a case is a line
  [
    [
      'another content',
      MODIFIED,
      directory => {
        writeFileSync(join(directory, 'content-0'), 'else');
        return undefined;
      },
      'the content of a file is another one',
    ],
    ['a missing file', CREATED, () => undefined, 'a file is missing'],
    ['a file that is left', DELETED, () => undefined, 'a file is left over'],
    [
      'one more file',
      DELETED,
      directory => {
        rmSync(join(directory, 'content-0'));
        mkdirSync(join(directory, 'more'));
        return undefined;
      },
      'it made a file that the patch does not name',
    ],
    ['a failure', DELETED, () => ({exitCode: 1, stdout: 'said\n', stderr: ` ${'x'.repeat(301)}`}), `it ended with exit code 1: ${'x'.repeat(300)}`],
    ['a failure without words of error', DELETED, () => ({exitCode: 2, stdout: ' said \n', stderr: '\n'}), 'it ended with exit code 2: said'],
  ],
)('W7: GNU patch differs by %s', async (_, history, work, reason) => {
  const {outcome, left} = await checked([history], work);
  expect([outcome, left]).toEqual([{outcome: 'differs', reason}, []]);
});

test.each(['ENOENT', 'EACCES'])('W7: without GNU patch (%s) there is no second opinion', async code => {
  const run: RunPatch = async () => {
    throw Object.assign(new Error(code), {code, syscall: 'spawn'});
  };
  const directory = temporaryDirectory();
  expect(await crossCheck([DELETED], {run, directory})).toEqual({outcome: 'unavailable'});
  expect(readdirSync(directory)).toEqual([]);
});

test('W7: another failure to start GNU patch is no want of it', async () => {
  const run: RunPatch = async () => {
    throw Object.assign(new Error('EMFILE'), {code: 'EMFILE', syscall: 'spawn'});
  };
  await expect(crossCheck([DELETED], {run, directory: temporaryDirectory()})).rejects.toThrow('EMFILE');
});

test('W7: where there are no hunks, nothing is run but for the version', async () => {
  const {outcome, seen} = await checked([{initial: undefined, final: '', versions: []}], () => undefined);
  expect(seen).toEqual([]);
  expect(outcome).toEqual({outcome: 'differs', reason: 'a file is missing'});
});

describe('W7: a way to ask that is kept', () => {
  const AGREES = 'a\nB\nc\nd\nE';
  /** What comes of it where the kept one makes `kept` of the content, and another one `other`. */
  async function asked(kept: string | Error | undefined, other: string) {
    const directory = temporaryDirectory();
    const seen: string[] = [];
    const look = (who: string, files: string) => {
      seen.push(`${who}: ${readFileSync(join(files, 'content-0'), 'utf8')}`);
    };
    const run: RunPatch = async (_, args, {cwd}) => {
      if (args.includes('--version')) return GNU;
      look('other', cwd);
      writeFileSync(join(cwd, 'content-0'), other);
      return {exitCode: 0, stdout: '', stderr: ''};
    };
    const askWarm = async (stage: string): Promise<boolean> => {
      look('kept', join(stage, 'files'));
      seen.push(readFileSync(join(stage, 'hunks'), 'latin1'));
      if (kept instanceof Error) throw kept;
      writeFileSync(join(stage, 'files/content-0'), kept ?? 'half');
      return kept !== undefined;
    };
    const outcome = await crossCheck([MODIFIED], {run, directory, warmServer: () => askWarm}).catch(String);
    return {outcome, seen, left: readdirSync(directory)};
  }
  const HUNKS =
    '--- a/content-0\n+++ b/content-0\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -4,0 +5 @@\n+E\n\\ No newline at end of file\n';
  const BOTH = ['kept: a\nb\nc\nd\n', HUNKS, 'other: a\nb\nc\nd\n'];

  test('W7: its word is enough where it agrees', async () => {
    expect(await asked(AGREES, 'else')).toEqual({
      outcome: {outcome: 'agrees'},
      seen: BOTH.slice(0, 2),
      left: [],
    });
  });

  test.each([
    ['fails', undefined],
    ['comes to another content', 'else'],
  ])('W7: where it %s, another one is asked on a copy of its own, and has the word', async (_, kept) => {
    expect(await asked(kept, AGREES)).toEqual({outcome: {outcome: 'agrees'}, seen: BOTH, left: []});
    expect((await asked(kept, 'other')).outcome).toEqual({
      outcome: 'differs',
      reason: 'the content of a file is another one',
    });
  });

  test('W7: nothing is left where asking it throws', async () => {
    expect(await asked(new TypeError('x'), AGREES)).toEqual({
      outcome: 'TypeError: x',
      seen: BOTH.slice(0, 2),
      left: [],
    });
  });
});

test('review R12 W7: large contents are compared as small ones are', async () => {
  const many = 'line\n'.repeat(100_000);
  const large: FileHistory = {...MODIFIED, initial: `a\nb\nc\nd\n${many}`, final: `a\nB\nc\nd\n${many}E`};
  const {outcome, left} = await checked([large], directory => {
    writeFileSync(join(directory, 'content-0'), `a\nB\nc\nd\n${many}E`);
    return undefined;
  });
  expect([outcome, left]).toEqual([{outcome: 'agrees'}, []]);
  const other = await checked([large], directory => {
    writeFileSync(join(directory, 'content-0'), `a\nB\nc\nd\n${many}`);
    return undefined;
  });
  expect(other.outcome).toEqual({outcome: 'differs', reason: 'the content of a file is another one'});
});
