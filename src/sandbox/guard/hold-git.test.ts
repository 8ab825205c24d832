import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {pretendPlatform} from '../../../test/support/pretend-platform.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {HeldDirectory} from './held-directory.ts';
import {type GitAccess, holdGit, mendGit, NO_REPOSITORY} from './hold-git.ts';

const HASH = '0123456789abcdef0123456789abcdef01234567';

/** A workspace whose `.git` is a directory with these files; of `null`, a directory. */
function withGit(files: Readonly<Record<string, string | null>>): string {
  const workspace = temporaryDirectory();
  mkdirSync(join(workspace, '.git'));
  for (const [name, content] of Object.entries(files)) {
    if (content === null) mkdirSync(join(workspace, '.git', name));
    else writeFileSync(join(workspace, '.git', name), content);
  }
  return workspace;
}

function withGitFile(content: string): string {
  const workspace = temporaryDirectory();
  writeFileSync(join(workspace, '.git'), content);
  return workspace;
}

function hold(workspace: string, access: GitAccess = 'read-only') {
  const root = new HeldDirectory(workspace);
  onTestFinished(() => root.close());
  return holdGit(root, workspace, access);
}

/** The sentence of a refusal; `ok` where there is none. */
function saidOf(workspace: string, access?: GitAccess): string {
  const held = hold(workspace, access);
  return held.ok ? 'ok' : held.error.message;
}

const WHOLE = {HEAD: 'ref: refs/heads/main\n', objects: null, refs: null, config: '', hooks: null};

describe('holdGit', () => {
  test.each([
    ['a branch', {...WHOLE}],
    ['a branch, with a tab', {...WHOLE, HEAD: 'ref:\trefs/heads/x\n'}],
    ['a branch, without a blank', {...WHOLE, HEAD: 'ref:refs/heads/x\n'}],
    ['a commit', {...WHOLE, HEAD: `${HASH}\n`}],
    ['objects and refs of another directory', {HEAD: `${HASH}\n`, commondir: '..\n'}],
  ])('W11: %s makes a repository, as git has it', (_, files) => {
    expect(saidOf(withGit(files))).toBe('ok');
  });

  test('W11: a HEAD that is a link is taken for one by git', () => {
    const workspace = withGit({objects: null, refs: null});
    symlinkSync('refs/heads/main', join(workspace, '.git/HEAD'));
    expect(saidOf(workspace)).toBe('ok');
  });

  test.each([
    ['no HEAD', {objects: null, refs: null, commondir: '..'}],
    ['no objects', {HEAD: `${HASH}\n`, refs: null}],
    ['no refs', {HEAD: `${HASH}\n`, objects: null}],
    ['a HEAD of another form', {...WHOLE, HEAD: 'ref: heads/main\n'}],
    ['a HEAD that begins with something', {...WHOLE, HEAD: `x${HASH}\n`}],
    ['a HEAD with text before its ref', {...WHOLE, HEAD: 'x ref: refs/heads/main\n'}],
    ['a HEAD that is cut', {...WHOLE, HEAD: `${HASH.slice(1)}\n`}],
    ['a HEAD that is a directory', {...WHOLE, HEAD: null}],
  ])('review R7: %s makes none, and git would look for one in what commands write', (_, files) => {
    expect(saidOf(withGit(files))).toBe(
      'The .git of the workspace is a directory that git takes for no repository, so it would look for one in what commands write. Nothing was run. To fix it: run git init, or remove the directory.',
    );
  });

  test('review R7: a link is refused', () => {
    const linked = temporaryDirectory();
    symlinkSync(withGit(WHOLE), join(linked, '.git'));
    expect(saidOf(linked)).toBe(
      'The .git of the workspace is a symbolic link, which a command could replace. Nothing was run. To fix it: put the directory in its place, or a file with the line "gitdir: PATH".',
    );
  });

  test.each([
    ['sub/repository', 'gitdir: sub/repository\n'],
    ['./sub', 'gitdir: ./sub'],
    ['.', 'gitdir: .\r\n'],
    ['a/../b', 'gitdir:a/../b\n'],
    ['..x', 'gitdir:   ..x\n'],
  ])('review R7: a file that points to %s in the workspace is refused', (target, content) => {
    expect(saidOf(withGitFile(content))).toBe(
      `The .git of the workspace is a file that points to "${target}", where commands could change what git executes. Nothing was run. To fix it: move that repository out of the workspace, or make it .git itself.`,
    );
  });

  test('review R7: what is neither a directory nor a file is refused', () => {
    const workspace = temporaryDirectory();
    execFileSync('mkfifo', [join(workspace, '.git')]);
    expect(saidOf(workspace)).toBe(
      'The .git of the workspace is neither a directory nor a file. Nothing was run. To fix it: remove it.',
    );
  });

  test.each([
    ['the directory around', 'gitdir: ..\n'],
    ['a directory beside', 'gitdir: ../elsewhere\n'],
    ['an absolute path', 'gitdir: /elsewhere\n'],
    ['nothing', 'gitdir:'],
    ['a text', 'something\n'],
    ['a text with the word in it', 'x\ngitdir: sub\n'],
  ])('W11: a file that points to %s is one mount for reading', (_, content) => {
    const held = unwrap(hold(withGitFile(content)));
    expect(held.mounts.map(({path, writable}) => [path, writable])).toEqual([['.git', false]]);
    expect(held.placeHolders).toEqual([]);
  });

  test('W11: the place holder is a file that leads nowhere and says who made it; it is known again', () => {
    const workspace = temporaryDirectory();
    for (const _ of [1, 2]) {
      const {placeHolders} = unwrap(hold(workspace, 'commit'));
      expect(placeHolders).toEqual([{directory: '', holder: NO_REPOSITORY}]);
    }
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe(
      'gitdir: /nonexistent/forge-tools keeps this name while commands run here; remove the file .git if no session is open\n',
    );
  });

  test('W11: with "commit" the missing parts are made, and only these are ours to take away', () => {
    const workspace = withGit({...WHOLE, info: null, commondir: '../.git\n'});
    const {placeHolders, mounts} = unwrap(hold(workspace, 'commit'));
    expect(placeHolders.map(({directory, holder}) => `${directory}/${holder.name}`)).toEqual([
      '.git/config.worktree',
      '.git/modules',
      '.git/worktrees',
    ]);
    expect(readFileSync(join(workspace, '.git/config.worktree'), 'utf8')).toBe(
      '# forge-tools keeps this name while commands run here\n',
    );
    // A file of a session that was killed is known by what it says; an empty directory could be anybody's.
    const again = unwrap(hold(workspace, 'commit'));
    expect(again.placeHolders.map(({holder}) => holder.name)).toEqual(['config.worktree']);
    // What was just made has changed `.git`, so it is looked at after that.
    expect(mounts[0]).toMatchObject({path: '.git', writable: true});
    expect(again.mounts).toEqual(mounts);
  });

  test('W11: with "commit" a commondir that is missing leads to the same directory', () => {
    const workspace = withGit(WHOLE);
    unwrap(hold(workspace, 'commit'));
    expect(readFileSync(join(workspace, '.git/commondir'), 'utf8')).toBe('.\n');
  });

  test.each(['hooks', 'HEAD', 'objects'])('W11: with "commit" a %s that is a link cannot be held', name => {
    const workspace = withGit(Object.fromEntries(Object.entries(WHOLE).filter(([key]) => key !== name)));
    symlinkSync('/usr', join(workspace, '.git', name));
    expect(saidOf(workspace, 'commit')).toBe(
      `The .git of the workspace cannot be committed to: "${name}" in it is missing or a symbolic link, so it cannot be held in place. Nothing was run. To fix it: set tools.run.git = "read-only".`,
    );
  });

  test('review R4: with "commit" each part is told from what takes its place', () => {
    const workspace = withGit(WHOLE);
    for (const {path, place, version} of unwrap(hold(workspace, 'commit')).mounts) {
      const {dev, ino, birthtimeNs, ctimeNs} = statSync(join(workspace, path), {bigint: true});
      expect({place, version}).toEqual({place: `${dev}:${ino}`, version: `${birthtimeNs}:${ctimeNs}`});
    }
  });

  test('review R2: what vanishes after it was made is refused', () => {
    const look = HeldDirectory.prototype.look;
    let gone = '.git';
    vi.spyOn(HeldDirectory.prototype, 'look').mockImplementation(function (this: HeldDirectory, name) {
      return name === gone ? undefined : look.call(this, name);
    });
    const workspace = withGit(WHOLE);
    expect(saidOf(workspace, 'commit')).toBe(
      'The .git of the workspace vanished while it was looked at. Nothing was run. To fix it: call again.',
    );
    gone = 'info';
    expect(saidOf(workspace, 'commit')).toContain('"info" in it is missing');
  });

  test('W11: where a look fails, a place holder of its own goes, and that of another session stays', () => {
    const workspace = temporaryDirectory();
    const root = new HeldDirectory(workspace);
    onTestFinished(() => root.close());
    let looks = 0;
    const look = (name: string) => {
      looks += 1;
      if (looks % 2 === 0) throw new Error('EIO');
      return root.look(name);
    };
    const failing = Object.assign(Object.create(root), {look});
    expect(() => holdGit(failing, workspace, 'commit')).toThrow('EIO');
    expect(existsSync(join(workspace, '.git'))).toBe(false);
    unwrap(hold(workspace));
    expect(() => holdGit(failing, workspace, 'commit')).toThrow('EIO');
    expect(existsSync(join(workspace, '.git'))).toBe(true);
  });

  test('W11: with "commit" a repository whose objects lie elsewhere cannot be held', () => {
    const workspace = withGit({HEAD: `${HASH}\n`, commondir: '..\n'});
    expect(saidOf(workspace, 'commit')).toContain('"objects" in it is missing');
  });
});

function mend(workspace: string, address?: string) {
  const root = new HeldDirectory(workspace);
  onTestFinished(() => root.close());
  if (address === undefined) return mendGit(root);
  // As on a system where what is held is a name.
  return mendGit(Object.assign(Object.create(root), {at: () => address}));
}

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe('mendGit', () => {
  test('W11: what the owner of .git lacks is given to it, and nothing else is changed', () => {
    const workspace = temporaryDirectory();
    const parts = ['.git', '.git/objects', '.git/refs', '.git/hooks'].map(name => join(workspace, name));
    for (const part of parts) mkdirSync(part);
    for (const [before, after] of [
      [0o2055, 0o2755],
      [0o655, 0o755],
      [0o1700, 0o1700],
    ] as const) {
      for (const part of parts.toReversed()) chmodSync(part, before);
      expect(mend(workspace)).toEqual({ok: true, value: undefined});
      expect(parts.map(modeOf)).toEqual([after, after, after, before]);
    }
  });

  test('W11: without a .git, or its parts, there is nothing to mend; a link is not followed', () => {
    const workspace = temporaryDirectory();
    expect(mend(workspace).ok).toBe(true);
    const elsewhere = temporaryDirectory();
    chmodSync(elsewhere, 0o500);
    mkdirSync(join(workspace, '.git'), {mode: 0o755});
    symlinkSync(elsewhere, join(workspace, '.git/objects'));
    mkdirSync(join(workspace, '.git/refs'), {mode: 0o055});
    expect(mend(workspace).ok).toBe(true);
    expect(modeOf(elsewhere)).toBe(0o500);
    // One that is missing does not keep the other one.
    expect(modeOf(join(workspace, '.git/refs'))).toBe(0o755);
  });

  test('W11: what is a file is left as it is', () => {
    const workspace = temporaryDirectory();
    writeFileSync(join(workspace, '.git'), 'gitdir: /elsewhere\n', {mode: 0o444});
    expect(mend(workspace).ok).toBe(true);
    expect(modeOf(join(workspace, '.git'))).toBe(0o444);
    // Also where the handle is a name, which a file can have.
    pretendPlatform('darwin');
    expect(mend(workspace).ok).toBe(true);
    expect(modeOf(join(workspace, '.git'))).toBe(0o444);
  });

  test('review R4: where nothing is to be mended no directory changes, so its mount stays the one it was', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, '.git/objects'), {recursive: true});
    const changedAt = () => statSync(join(workspace, '.git'), {bigint: true}).ctimeNs;
    const before = changedAt();
    expect(mend(workspace).ok).toBe(true);
    expect(changedAt()).toBe(before);
  });

  test('W11: objects that cannot be mended are refused as well, and a bug is thrown', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, '.git/objects'), {recursive: true});
    const at = HeldDirectory.prototype.at;
    const spy = vi.spyOn(HeldDirectory.prototype, 'at').mockImplementation(function (
      this: HeldDirectory,
      name,
    ) {
      return name === 'objects' ? '/proc/self/fdinfo' : at.call(this, name);
    });
    const said = mend(workspace);
    expect(said.ok ? '' : said.error.message).toContain('The owner of ".git/objects" cannot enter it');
    spy.mockImplementation(() => {
      throw new Error('a bug');
    });
    expect(() => mend(workspace)).toThrow('a bug');
  });

  test('W11: what cannot be mended is refused, with the line that does it', () => {
    // A directory of the kernel: not even root changes its mode.
    const said = mend(temporaryDirectory(), '/proc/self/fdinfo');
    expect(said.ok ? '' : said.error.message).toBe(
      'The owner of ".git" cannot enter it, so git would look for a repository in what commands write. Nothing was run. To fix it: chmod u+rwx .git, or set tools.run.git = "read-only".',
    );
    expect(said.ok ? '' : said.error.details['error']).toMatch(/^EPERM|^EACCES/);
  });
});
