import {chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {pretendPlatform} from '../../../test/support/pretend-platform.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {HeldDirectory} from './held-directory.ts';
import {mendGit} from './mend-git.ts';

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
