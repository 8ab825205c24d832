import {expect, test} from 'vitest';
import {contentHash} from '../content-hash.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {ReadTracker} from './read-tracker.ts';

test('ruling W6: what was not read has no basis; the last read or write of one counts', () => {
  const tracker = new ReadTracker();
  const path = 'a.txt' as WorkspacePath;
  const [one, two] = [contentHash(Buffer.from('1')), contentHash(Buffer.from('2'))];
  expect(tracker.baseVersion(path)).toMatchObject({ok: false, error: {code: 'not_read', details: {path}}});
  tracker.record(path, one);
  tracker.record(path, two);
  expect(tracker.baseVersion(path)).toEqual({ok: true, value: two});
  expect(tracker.baseVersion('b.txt' as WorkspacePath).ok).toBe(false);
  expect(new ReadTracker().baseVersion(path).ok).toBe(false);
  tracker.forget(path);
  expect(tracker.baseVersion(path).ok).toBe(false);
});
