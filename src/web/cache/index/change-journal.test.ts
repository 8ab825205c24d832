import {appendFileSync, rmSync, statSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {ChangeJournal} from './change-journal.ts';

const RENEW = 1_048_576;
const key = (digit: string): string => digit.repeat(64);

test('ruling F6 a writer hears of what others noted, once, and not of itself', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  expect(await one.news()).toBeUndefined();
  expect(await other.news()).toBeUndefined();
  await one.note(key('a'));
  await one.note(key('b'));
  await other.note(key('c'));
  expect(await other.news()).toEqual(new Set([key('a'), key('b')]));
  expect(await other.news()).toEqual(new Set());
  expect(await one.news()).toEqual(new Set([key('c')]));
});

test('ruling F6 half a line is read when it is whole, and rubbish never', async () => {
  const directory = temporaryDirectory();
  const journal = new ChangeJournal(directory);
  await journal.news();
  const path = join(directory, 'changes.log');
  appendFileSync(path, `rubbish\n0123abcd ../../etc/passwd\n0123abcd ${key('d').slice(9)}`);
  expect(await journal.news()).toEqual(new Set());
  appendFileSync(path, `${key('d').slice(0, 9)}\n`);
  expect(await journal.news()).toEqual(new Set([key('d')]));
});

test('ruling F6 a journal that was lost is begun anew, and the reader knows that it missed something', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.news();
  rmSync(join(directory, 'changes.log'));
  await expect(one.note(key('a'))).rejects.toThrow('ENOENT');
  expect(await one.news()).toBeUndefined();
  await one.note(key('b'));
  expect(await other.news()).toBeUndefined();
  expect(await other.news()).toEqual(new Set());
});

test('ruling F6 a journal of the same name that has become shorter is one of which something was missed', async () => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.note(key('a'));
  const path = join(directory, 'changes.log');
  const size = statSync(path).size;
  expect(await one.news()).toEqual(new Set([key('a')]));
  truncateSync(path, size - 1);
  expect(await one.news()).toBeUndefined();
});

test.each([
  ['up to 1 MiB', 0, false],
  ['above 1 MiB', 1, true],
])('ruling F6 a journal of %s is read; above that it is begun anew', async (_, more, anew) => {
  const directory = temporaryDirectory();
  const [one, other] = [new ChangeJournal(directory), new ChangeJournal(directory)];
  await one.news();
  await other.news();
  await other.note(key('a'));
  const path = join(directory, 'changes.log');
  appendFileSync(path, `${'x'.repeat(RENEW + more - statSync(path).size - 1)}\n`);
  expect(await one.news()).toEqual(new Set([key('a')]));
  expect(statSync(path).size < 100).toBe(anew);
});
