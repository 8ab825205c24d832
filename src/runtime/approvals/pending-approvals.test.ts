import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {tempDirectory} from '../../../test/support/open-test-runtime.ts';
import {systemClock} from '../../core/clock.ts';
import {PendingApprovals} from './pending-approvals.ts';

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

test('policy: a repeated call is one question, and many calls fill nothing', async () => {
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
