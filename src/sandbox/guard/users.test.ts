import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {ownIdentity} from '../../system/process.ts';
import {WorkspaceUsers} from './users.ts';

const ROOT = {dev: 7n, ino: 11n};

function place(): string {
  return join(temporaryDirectory(), 'sessions');
}

/** What a host leaves that was killed: no process has this number. */
const GONE = {...ownIdentity(), pid: 2 ** 22 + 1};

describe('WorkspaceUsers', () => {
  test('policy: one entry for a session, which says who it is, in a directory for this user alone', () => {
    const directory = place();
    const users = new WorkspaceUsers(ROOT, directory);
    users.enter();
    users.enter();
    const [name = '', ...others] = readdirSync(directory);
    expect(others).toEqual([]);
    expect(name).toMatch(new RegExp(`^7-11\\.${process.pid}\\.[0-9a-f]{8}$`));
    expect(JSON.parse(readFileSync(join(directory, name), 'utf8'))).toEqual(ownIdentity());
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(users.leave()).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
    // Who has left, or was never there, is not the last one.
    expect(users.leave()).toBe(false);
    expect(new WorkspaceUsers(ROOT, directory).leave()).toBe(false);
  });

  test('policy: the last session of a workspace is the last one, whatever sessions others have', () => {
    const directory = place();
    const [first, second] = [new WorkspaceUsers(ROOT, directory), new WorkspaceUsers(ROOT, directory)];
    const elsewhere = new WorkspaceUsers({dev: 7n, ino: 110n}, directory);
    for (const users of [first, second, elsewhere]) users.enter();
    expect([first.leave(), second.leave(), elsewhere.leave()]).toEqual([false, true, true]);
  });

  test('review R14: entries of hosts that are gone go, with the next one that enters or leaves', () => {
    const directory = place();
    const users = new WorkspaceUsers(ROOT, directory);
    mkdirSync(directory, {mode: 0o700});
    const [other, half] = [join(directory, '9-9.1.a'), join(directory, '9-9.2.b')];
    writeFileSync(other, JSON.stringify(GONE));
    writeFileSync(half, '{"pid":');
    writeFileSync(join(directory, 'lock-x'), JSON.stringify(GONE));
    users.enter();
    expect(existsSync(other)).toBe(false);
    // Its session is just beginning; and a lock is none of ours.
    expect([half, join(directory, 'lock-x')].map(path => existsSync(path))).toEqual([true, true]);
    writeFileSync(join(directory, '7-11.1.a'), JSON.stringify(GONE));
    expect(users.leave()).toBe(true);
  });

  test.each([
    ['half an entry', '{"pid":'],
    ['an entry without a number', JSON.stringify({...GONE, pid: String(GONE.pid)})],
    ['an entry of another machine', JSON.stringify({...GONE, host: 'elsewhere'})],
    ['an entry of another process namespace', JSON.stringify({...GONE, namespace: 'elsewhere'})],
  ])('policy: %s counts as somebody', (_, content) => {
    const directory = place();
    const users = new WorkspaceUsers(ROOT, directory);
    users.enter();
    writeFileSync(join(directory, '7-11.1.a'), content);
    expect(users.leave()).toBe(false);
    expect(readdirSync(directory)).toEqual(['7-11.1.a']);
  });

  test('policy: in a directory that others can read no session enters, locks or is the last one', async () => {
    const directory = place();
    mkdirSync(directory);
    chmodSync(directory, 0o710);
    const users = new WorkspaceUsers(ROOT, directory);
    expect(await users.lock(systemClock)).toBeUndefined();
    users.enter();
    expect(readdirSync(directory)).toEqual([]);
    expect(users.leave()).toBe(false);
    // Closed again, the same session enters.
    chmodSync(directory, 0o700);
    users.enter();
    chmodSync(directory, 0o701);
    expect(users.leave()).toBe(false);
  });

  test('policy: no session enters a directory of another user', needs('root'), () => {
    const directory = place();
    mkdirSync(directory, {mode: 0o700});
    chownSync(directory, 1001, 1001);
    const users = new WorkspaceUsers(ROOT, directory);
    users.enter();
    expect(readdirSync(directory)).toEqual([]);
    expect(users.leave()).toBe(false);
  });

  test('policy: where no directory can be made no session enters, and nothing is thrown', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    for (const directory of [file, join(file, 'below')]) {
      const users = new WorkspaceUsers(ROOT, directory);
      users.enter();
      expect(users.leave()).toBe(false);
      expect(await users.lock(systemClock)).toBeUndefined();
    }
  });

  test('policy: an entry is not written through a link, which goes', () => {
    const directory = place();
    const users = new WorkspaceUsers(ROOT, directory);
    users.enter();
    const [name = ''] = readdirSync(directory);
    users.leave();
    const elsewhere = join(temporaryDirectory(), 'file');
    symlinkSync(elsewhere, join(directory, name));
    users.enter();
    expect(existsSync(elsewhere)).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
    // It is there without an entry, and can be the last one.
    expect(users.leave()).toBe(true);
  });

  test('policy: a bug in the wait for the lock is thrown', async () => {
    const directory = place();
    const broken = {
      ...systemClock,
      monotonic: () => {
        throw new Error('a bug');
      },
    };
    await expect(new WorkspaceUsers(ROOT, directory).lock(broken)).rejects.toThrow('a bug');
  });

  test('policy: an entry that was removed makes no session the last one', () => {
    const directory = place();
    const users = new WorkspaceUsers(ROOT, directory);
    users.enter();
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
    expect(users.leave()).toBe(false);
  });

  test('policy: a lock is of one workspace, keeps all others out, and is given back', async () => {
    const directory = place();
    let now = 0;
    // Two seconds pass at once.
    const hurried = {...systemClock, monotonic: () => (now += 1000)};
    const lockOf = (ino: bigint) => new WorkspaceUsers({...ROOT, ino}, directory).lock(hurried);
    const release = await lockOf(11n);
    expect(release).toBeTypeOf('function');
    expect(readdirSync(directory)).toEqual(['lock-7-11']);
    expect(await lockOf(11n)).toBeUndefined();
    const other = await lockOf(12n);
    expect(other).toBeTypeOf('function');
    release?.();
    other?.();
    const again = await lockOf(11n);
    expect(again).toBeTypeOf('function');
    again?.();
    expect(readdirSync(directory)).toEqual([]);
  });
});
