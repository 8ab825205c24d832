import {spawnSync} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {SESSIONS} from '../../../test/support/open-sandbox.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {bootId} from '../../system/process.ts';
import {checkMounts, mountPoints, REPORT_MOUNTS, WorkspaceGuard} from './guard.ts';
import {HeldDirectory} from './held-directory.ts';
import type {GitAccess} from './hold-git.ts';
import type {GuardedTree} from './hold-protected.ts';
import {rootIdentity, WorkspaceUsers} from './users.ts';

function guardOf(
  workspace: string,
  protectedPaths: readonly string[] = [],
  git: GitAccess = 'read-only',
  clock = systemClock,
) {
  const root = rootIdentity(workspace);
  const guard = new WorkspaceGuard({
    workspace,
    root,
    git,
    protectedPaths,
    sessions: SESSIONS,
    log: silentLog,
    clock,
  });
  onTestFinished(() => guard.close());
  return guard;
}

function repository(): string {
  const workspace = temporaryDirectory();
  for (const name of ['hooks', 'objects', 'refs'])
    mkdirSync(join(workspace, '.git', name), {recursive: true});
  writeFileSync(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(workspace, '.git/config'), '');
  return workspace;
}

function partsOf(guard: WorkspaceGuard): readonly string[] {
  return unwrap(guard.look()).map(({path, writable}) => `${path || '.'} ${writable ? 'rw' : 'ro'}`);
}

describe('WorkspaceGuard', () => {
  test('W11: .git is one mount for reading, whatever is in it', () => {
    expect(partsOf(guardOf(repository()))).toEqual(['. rw', '.git ro']);
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, '.git'), 'gitdir: /elsewhere\n');
    expect(partsOf(guardOf(elsewhere))).toEqual(['. rw', '.git ro']);
  });

  test('W11: with "commit", what is missing is held, and let go at the end', async () => {
    const workspace = repository();
    const guard = guardOf(workspace, [], 'commit');
    expect(partsOf(guard)).toEqual([
      ...[
        '. rw',
        '.git rw',
        '.git/HEAD ro',
        '.git/commondir ro',
        '.git/config ro',
        '.git/config.worktree ro',
      ],
      ...[
        '.git/hooks ro',
        '.git/info ro',
        '.git/modules ro',
        '.git/objects rw',
        '.git/refs rw',
        '.git/worktrees ro',
      ],
    ]);
    const names = ['HEAD', 'commondir', 'config', 'config.worktree', 'hooks', 'info', 'modules'];
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual([...names, 'objects', 'refs', 'worktrees']);
    writeFileSync(join(workspace, '.git/info/exclude'), 'mine');
    await guard.close();
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual([
      'HEAD',
      'config',
      'hooks',
      'info',
      'objects',
      'refs',
    ]);
  });

  test('review R7: a .git that git would pass over, or that a command could change, is refused', () => {
    const make: readonly ((git: string, workspace: string) => void)[] = [
      git => mkdirSync(git),
      git => symlinkSync('/etc', git),
      git => writeFileSync(git, 'gitdir: sub/repository\n'),
      (git, workspace) => writeFileSync(git, `gitdir: ${workspace}/x\n`),
      git => {
        for (const name of ['objects', 'refs']) mkdirSync(join(git, name), {recursive: true});
        writeFileSync(join(git, 'HEAD'), 'nothing');
      },
    ];
    for (const prepare of make) {
      const workspace = temporaryDirectory();
      prepare(join(workspace, '.git'), workspace);
      expect(codeOf(guardOf(workspace).look())).toBe('sandbox_error');
    }
    const linked = repository();
    symlinkSync('/etc', join(linked, '.git/modules'));
    expect(codeOf(guardOf(linked, [], 'commit').look())).toBe('sandbox_error');
  });

  test('policy: with "commit", a .git that its owner may not enter is opened again, by each look and after a command', () => {
    const workspace = repository();
    const parts = ['.git', '.git/objects', '.git/refs'].map(path => join(workspace, path));
    const guard = guardOf(workspace, [], 'commit');
    guard.look();
    for (const mend of [() => guard.look(), () => guard.mend()]) {
      for (const part of parts.toReversed()) chmodSync(part, 0o050);
      mend();
      expect(parts.map(part => statSync(part).mode & 0o777)).toEqual([0o750, 0o750, 0o750]);
    }
  });

  test('W11: a place holder is removed at the end, is recognised, and stays where another process has filled it', async () => {
    const workspace = temporaryDirectory();
    const killed = guardOf(workspace);
    expect(partsOf(killed)).toEqual(['. rw', '.git ro']);
    const text = readFileSync(join(workspace, '.git'), 'utf8');
    const next = guardOf(workspace);
    next.look();
    await next.close();
    // The first one still uses it.
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe(text);
    await killed.close();
    expect(existsSync(join(workspace, '.git'))).toBe(false);
    const third = guardOf(workspace);
    third.look();
    writeFileSync(join(workspace, '.git'), 'gitdir: /mine\n');
    await third.close();
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe('gitdir: /mine\n');
  });

  test('W11: who enters while the last one leaves keeps its place holder', async () => {
    const workspace = temporaryDirectory();
    const [last, next] = [guardOf(workspace), guardOf(workspace)];
    await last.enter();
    last.look();
    await Promise.all([last.close(), next.enter().then(() => next.look())]);
    expect(existsSync(join(workspace, '.git'))).toBe(true);
    await next.close();
    expect(existsSync(join(workspace, '.git'))).toBe(false);
  });

  test('W11: who has entered keeps a place holder, also before it has looked', async () => {
    const workspace = temporaryDirectory();
    const [first, next] = [guardOf(workspace), guardOf(workspace)];
    first.look();
    await next.enter();
    await first.close();
    expect(existsSync(join(workspace, '.git'))).toBe(true);
  });

  test('policy: a session that began with no directory enters and ends without a word', async () => {
    const guard = guardOf(join(temporaryDirectory(), 'missing'));
    await guard.enter();
    await guard.close();
  });

  test('W11: with "commit", place holders go also where the root is laid out as a repository, or .git is gone', async () => {
    const [whole, gone] = [repository(), repository()];
    const log: unknown[] = [];
    for (const workspace of [whole, gone]) {
      const guard = new WorkspaceGuard({
        ...{workspace, root: rootIdentity(workspace), git: 'commit', protectedPaths: [], sessions: SESSIONS},
        log: event => log.push(event),
        clock: systemClock,
      });
      guard.look();
      for (const name of ['HEAD', 'objects', 'refs']) mkdirSync(join(workspace, name));
      if (workspace === gone) rmSync(join(gone, '.git'), {recursive: true});
      await guard.close();
    }
    expect(existsSync(join(whole, '.git/config.worktree'))).toBe(false);
    expect(existsSync(join(gone, '.git'))).toBe(false);
    expect(log).toEqual([]);
  });

  test('W11: while another process holds the lock of the sessions, nothing is removed', async () => {
    const workspace = temporaryDirectory();
    const identity = rootIdentity(workspace);
    if (identity === undefined) throw new Error('Expected a directory.');
    let now = 0;
    const hurried = {...systemClock, monotonic: () => (now += 1000)};
    const guard = guardOf(workspace, [], 'read-only', hurried);
    guard.look();
    const release = await new WorkspaceUsers(identity, SESSIONS).lock(systemClock);
    await guard.close();
    expect(existsSync(join(workspace, '.git'))).toBe(true);
    release?.();
  });

  test('review R4: another directory of the same name is another workspace', () => {
    const workspace = repository();
    const guard = guardOf(workspace);
    const before = unwrap(guard.look());
    expect(unwrap(guard.look())).toEqual(before);
    renameSync(workspace, `${workspace}-aside`);
    expect(codeOf(guard.look())).toBe('sandbox_error');
    symlinkSync(`${workspace}-aside`, workspace);
    expect(codeOf(guard.look())).toBe('sandbox_error');
    rmSync(workspace);
    renameSync(`${workspace}-aside`, workspace);
    expect(unwrap(guard.look())).toEqual(before);
    // A mount that was moved away and back is gone from every sandbox.
    renameSync(join(workspace, '.git'), join(workspace, 'x'));
    renameSync(join(workspace, 'x'), join(workspace, '.git'));
    expect(unwrap(guard.look())).not.toEqual(before);
  });

  test('review R9: parents of a protected path are held; one that is missing is closed with its directory', () => {
    const workspace = repository();
    mkdirSync(join(workspace, 'a/b'), {recursive: true});
    writeFileSync(join(workspace, 'a/b/policy'), '');
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/b/policy'), '/etc/passwd']))).toEqual([
      '. rw',
      '.git ro',
      'a rw',
      'a/b rw',
      'a/b/policy ro',
    ]);
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/c/d/policy')]))).toEqual([
      '. rw',
      '.git ro',
      'a rw',
      'a/c rw',
      'a/c/d ro',
    ]);
    expect(existsSync(join(workspace, 'a/c/d/policy'))).toBe(false);
    // Below what is for reading as a whole there is nothing to hold.
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/b/policy'), join(workspace, 'a')]))).toEqual([
      '. rw',
      '.git ro',
      'a ro',
    ]);
    expect(codeOf(guardOf(workspace, [join(workspace, 'missing')]).look())).toBe('sandbox_error');
    symlinkSync('a', join(workspace, 'link'));
    expect(codeOf(guardOf(workspace, [join(workspace, 'link/b/policy')]).look())).toBe('sandbox_error');
  });
});

describe('a guard that is asked in all ways', () => {
  const messageOf = (guard: WorkspaceGuard): string => {
    const looked = guard.look();
    return looked.ok ? 'ok' : looked.error.message;
  };

  test('review R4: a workspace that is another one, or gone, is refused with what to do', () => {
    const workspace = temporaryDirectory();
    const guard = guardOf(workspace);
    renameSync(workspace, `${workspace}-aside`);
    onTestFinished(() => rmSync(`${workspace}-aside`, {recursive: true}));
    const sentence = `"${workspace}" is not the directory any more that this session began with. Nothing was run. To fix it: put it back in its place, or begin a new session on what is there now.`;
    expect(messageOf(guard)).toBe(sentence);
    mkdirSync(workspace);
    expect(messageOf(guard)).toBe(sentence);
    guard.mend();
    // It began with nothing.
    const early = guardOf(join(workspace, 'later'));
    mkdirSync(join(workspace, 'later'));
    expect(messageOf(early)).toContain('is not the directory any more');
  });

  test('review R4: each part is told by its device and inode, the workspace first', () => {
    const workspace = repository();
    const {dev, ino} = statSync(workspace, {bigint: true});
    const [root, git] = unwrap(guardOf(workspace).look());
    expect(root).toMatchObject({path: '', place: `${dev}:${ino}`, writable: true});
    expect(git?.place).toBe(`${dev}:${statSync(join(workspace, '.git'), {bigint: true}).ino}`);
    // What is made in the workspace changes nothing of it.
    writeFileSync(join(workspace, 'new'), '');
    expect(unwrap(guardOf(workspace).look())[0]).toEqual(root);
  });

  test.each([
    [['HEAD', 'objects', 'refs'], true],
    [['objects', 'refs'], false],
    [['HEAD', 'refs'], false],
    [['HEAD', 'objects'], false],
  ])('review R7: with %j in the root the place holder stays: %s', async (names, stays) => {
    const workspace = temporaryDirectory();
    const log: unknown[] = [];
    const guard = new WorkspaceGuard({
      workspace,
      root: rootIdentity(workspace),
      git: 'read-only',
      protectedPaths: [],
      sessions: SESSIONS,
      log: event => log.push(event),
      clock: systemClock,
    });
    guard.look();
    for (const name of names) mkdirSync(join(workspace, name));
    await guard.close();
    expect(existsSync(join(workspace, '.git'))).toBe(stays);
    const message = `A command has made HEAD, objects and refs in ${JSON.stringify(workspace)}: git would take them for a repository and run what they say. The file .git keeps it from that. Remove them, then the file.`;
    expect(log).toEqual(stays ? [{level: 'warn', event: 'sandbox_repository_in_root', message}] : []);
  });

  test('W11: modes are repaired for "commit" alone, and by a guard alone that has looked', () => {
    for (const git of ['read-only', 'commit'] as const) {
      const workspace = repository();
      const objects = join(workspace, '.git/objects');
      const guard = guardOf(workspace, [], git);
      chmodSync(objects, 0o500);
      guard.mend();
      expect(statSync(objects).mode & 0o777).toBe(0o500);
      guard.look();
      expect(statSync(objects).mode & 0o777).toBe(git === 'commit' ? 0o700 : 0o500);
      chmodSync(objects, 0o500);
      guard.mend();
      expect(statSync(objects).mode & 0o777).toBe(git === 'commit' ? 0o700 : 0o500);
    }
  });

  test('W11: a .git that cannot be mended is refused by a look, and is nothing to what ran before', () => {
    const workspace = repository();
    const guard = guardOf(workspace, [], 'commit');
    guard.look();
    const at = vi.spyOn(HeldDirectory.prototype, 'at').mockReturnValue('/proc/self/fdinfo');
    expect(messageOf(guard)).toContain('The owner of ".git" cannot enter it');
    guard.mend();
    at.mockReturnValue(`/${'x'.repeat(300)}`);
    guard.mend();
    at.mockImplementation(() => {
      throw new Error('a bug');
    });
    expect(() => guard.mend()).toThrow('a bug');
    at.mockRestore();
    renameSync(workspace, `${workspace}-aside`);
    onTestFinished(() => rmSync(`${workspace}-aside`, {recursive: true}));
    guard.mend();
  });

  test('policy: no way leaves a handle open', {...needs('Linux'), tags: 'slow'}, async () => {
    const count = (): number => readdirSync('/proc/self/fd').length;
    const workspaces = [repository(), temporaryDirectory(), temporaryDirectory()];
    const [whole = '', plain = '', linked = ''] = workspaces;
    symlinkSync('/usr', join(linked, '.git'));
    mkdirSync(join(whole, 'a'));
    symlinkSync('a', join(whole, 'a/link'));
    const before = count();
    for (let round = 0; round < 20; round++) {
      for (const git of ['read-only', 'commit'] as const) {
        for (const path of ['a/b/c/d', 'a/link/x', 'missing']) {
          for (const workspace of [whole, plain, linked]) {
            const guard = guardOf(workspace, [join(workspace, path)], git);
            guard.look();
            guard.mend();
            await guard.close();
          }
        }
      }
    }
    // Others of this process come and go.
    expect(count() - before).toBeLessThan(20);
  });
});

test('policy: where another user has made the directory of sessions, no session counts as the last one', () => {
  const identity = rootIdentity(temporaryDirectory());
  if (identity === undefined) throw new Error('Expected a directory.');
  const open = temporaryDirectory();
  const link = join(temporaryDirectory(), 'link');
  symlinkSync(open, link);
  const users = new WorkspaceUsers(identity, link);
  users.enter();
  expect(users.leave()).toBe(false);
  const own = new WorkspaceUsers(identity, join(open, 'own'));
  own.enter();
  expect(own.leave()).toBe(true);
});

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
