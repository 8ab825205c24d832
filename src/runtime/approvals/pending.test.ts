import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {tempDirectory} from '../../../test/support/open-test-runtime.ts';
import {systemClock, timestamp} from '../../core/clock.ts';
import {PendingApprovals} from './pending.ts';

const HASH = 'ab'.repeat(32);
const CALL = {tool: 'run', summary: 'run ls', preview: 'ls', hash: HASH};

async function open() {
  const directory = await tempDirectory();
  let now = 1_800_000_000_000;
  const clock = {...systemClock, now: () => now};
  return {
    directory,
    pending: new PendingApprovals(directory, clock),
    /** As another process sees it. */
    other: new PendingApprovals(directory, clock),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('policy: another process approves, and the same call passes once', async () => {
  const {pending, other} = await open();
  const added = await pending.add(CALL);
  const id = added.ok ? added.value.id : '';
  expect(await pending.redeem(HASH)).toBe(false);
  expect(await other.list()).toMatchObject({ok: true, value: [{id, summary: 'run ls', preview: 'ls'}]});
  expect(await other.approve(id)).toMatchObject({ok: true, value: {tool: 'run'}});
  expect(await other.list()).toEqual({ok: true, value: []});
  expect(await pending.redeem('cd'.repeat(32))).toBe(false);
  expect(await Promise.all([pending.redeem(HASH), other.redeem(HASH), pending.redeem(HASH)])).toEqual(
    expect.arrayContaining([true, false, false]),
  );
  expect(await pending.redeem(HASH)).toBe(false);
});

test('policy: a hash that only begins alike is another call', async () => {
  const {pending} = await open();
  const added = await pending.add(CALL);
  await pending.approve(added.ok ? added.value.id : '');
  expect(await pending.redeem(`${HASH.slice(0, 40)}${'0'.repeat(24)}`)).toBe(false);
});

test('policy: calls and approvals expire within the hour', async () => {
  const {pending, pass} = await open();
  const added = await pending.add(CALL);
  const id = added.ok ? added.value.id : '';
  pass(3_600_001);
  expect(await pending.approve(id)).toMatchObject({ok: false, error: {code: 'invalid_params'}});
  await pending.add(CALL);
  expect((await pending.approve(id)).ok).toBe(true);
  pass(3_600_001);
  expect(await pending.redeem(HASH)).toBe(false);
});

test('policy: a repeated call is one question, and many calls fill nothing', {tags: 'slow'}, async () => {
  const {pending, directory, pass} = await open();
  for (let call = 0; call < 120; call++) {
    pass(1);
    await pending.add({...CALL, hash: call.toString(16).padStart(64, '0').split('').reverse().join('')});
  }
  await pending.add(CALL);
  await pending.add(CALL);
  const names = await readdir(join(directory, 'approvals'));
  expect(names.length).toBeLessThanOrEqual(101);
  expect(names.filter(name => name.startsWith(HASH.slice(0, 20)))).toHaveLength(1);
  expect((await stat(join(directory, 'approvals'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'approvals', names[0] ?? ''))).mode & 0o777).toBe(0o600);
});

test.each(['', '../../etc/passwd', 'x', 'AB'.repeat(10), 'ab'.repeat(10)])(
  'policy: the id %j is unknown and names no file',
  async id => {
    const {pending} = await open();
    expect(await pending.approve(id)).toMatchObject({ok: false, error: {code: 'invalid_params'}});
    expect(await pending.dismiss(id)).toMatchObject({ok: false});
  },
);

test('policy: a dismissed call is asked about again', async () => {
  const {pending} = await open();
  const added = await pending.add(CALL);
  expect((await pending.dismiss(added.ok ? added.value.id : '')).ok).toBe(true);
  expect(await pending.list()).toEqual({ok: true, value: []});
});

const NOW = 1_800_000_000_000;
const unknown = (id: string) => ({
  ok: false,
  error: {
    code: 'invalid_params',
    message: `No approval "${id}" is waiting. It may have been given or have expired; list those that wait, or make the call again.`,
    retryable: false,
    details: {field: 'id', reason: 'unknown or expired'},
  },
});

test('policy: what waits is whole, oldest first, and an approval is good for an hour from then', async () => {
  const {pending, pass} = await open();
  const first = {
    id: HASH.slice(0, 20),
    ...CALL,
    created_at: timestamp(NOW),
    expires_at: timestamp(NOW + 3_600_000),
  };
  expect(await pending.add(CALL)).toEqual({ok: true, value: first});
  pass(1000);
  const second = await pending.add({...CALL, hash: '00'.repeat(32), preview: 'x'.repeat(70_000)});
  const listed = await pending.list();
  expect(listed).toEqual({ok: true, value: [first, second.ok && second.value]});
  expect(listed.ok && listed.value[1]?.preview.length).toBe(65_535);
  expect(await pending.approve(first.id)).toEqual({
    ok: true,
    value: {...first, expires_at: timestamp(NOW + 3_601_000)},
  });
  expect(await pending.approve(first.id)).toEqual(unknown(first.id));
  expect(await pending.dismiss('x'.repeat(50))).toEqual(unknown('x'.repeat(40)));
});

test('policy: of a hundred the oldest goes, and no other', async () => {
  const {pending, directory} = await open();
  const where = join(directory, 'approvals');
  await mkdir(where);
  const idOf = (at: number) => String(at).padStart(20, '0');
  const write = (at: number) =>
    writeFile(
      join(where, `${idOf(at)}.pending.json`),
      JSON.stringify({
        ...CALL,
        id: idOf(at),
        created_at: timestamp(NOW - 1000 + ((at * 7) % 100)),
        expires_at: timestamp(NOW + 1),
      }),
    );
  for (let at = 0; at < 99; at += 1) await write(at);
  await pending.add(CALL);
  expect(await readdir(where)).toHaveLength(100);
  await pending.add({...CALL, hash: 'cd'.repeat(32)});
  const names = await readdir(where);
  expect(names).toHaveLength(100);
  expect(names).not.toContain(`${idOf(0)}.pending.json`);
});

test.each([
  ['no JSON', '{'],
  ['null', 'null'],
  ['a text', '"x"'],
  ['a missing field', JSON.stringify({...CALL, id: HASH.slice(0, 20), created_at: 'a'})],
  [
    'an expired one',
    JSON.stringify({...CALL, id: HASH.slice(0, 20), created_at: 'a', expires_at: timestamp(NOW)}),
  ],
])('policy: a file with %s is no approval, and goes', async (_, content) => {
  const {pending, directory} = await open();
  const where = join(directory, 'approvals');
  await mkdir(where);
  await writeFile(join(where, `${HASH.slice(0, 20)}.pending.json`), content);
  await writeFile(join(where, `${HASH.slice(0, 20)}.approved.json`), content);
  await writeFile(join(where, 'note.txt'), 'mine');
  expect(await pending.approve(HASH.slice(0, 20))).toEqual(unknown(HASH.slice(0, 20)));
  expect(await pending.list()).toEqual({ok: true, value: []});
  expect(await pending.redeem(HASH)).toBe(false);
  expect(await readdir(where)).toEqual(['note.txt']);
});

test('policy: what cannot be read or stored is said, and no folder is nothing that waits', async () => {
  const {pending, directory} = await open();
  expect(await pending.list()).toEqual({ok: true, value: []});
  expect(await pending.redeem(HASH)).toBe(false);
  const path = join(directory, 'approvals');
  await writeFile(path, 'no folder');
  const failure = (error: string, operation: string) => ({
    ok: false,
    error: {
      code: 'io_error',
      message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
      retryable: false,
      details: {path, error, operation},
    },
  });
  expect(await pending.add(CALL)).toEqual(failure('EEXIST', 'store an approval in'));
  expect(await pending.list()).toEqual(failure('ENOTDIR', 'read'));
  expect(await pending.approve(HASH.slice(0, 20))).toEqual(failure('ENOTDIR', 'read'));
  await expect(pending.redeem(HASH)).rejects.toThrow('ENOTDIR');
  expect(await readFile(path, 'utf8')).toBe('no folder');
});
