import {expect, test} from 'vitest';
import {contentHash} from '../content-hash.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {ReadLedger} from './read-ledger.ts';

test('ruling W6: what was not read has no basis; the last read or write of one counts', () => {
  const ledger = new ReadLedger();
  const path = 'a.txt' as WorkspacePath;
  const [one, two] = [contentHash(Buffer.from('1')), contentHash(Buffer.from('2'))];
  expect(ledger.basis(path)).toMatchObject({ok: false, error: {code: 'not_read', details: {path}}});
  ledger.record(path, one);
  ledger.record(path, two);
  expect(ledger.basis(path)).toEqual({ok: true, value: two});
  expect(ledger.basis('b.txt' as WorkspacePath).ok).toBe(false);
  expect(new ReadLedger().basis(path).ok).toBe(false);
  ledger.forget(path);
  expect(ledger.basis(path).ok).toBe(false);
});
