import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {createGroup} from './control-group.ts';

const LIMITS = {memoryBytes: 1_048_576, processes: 1, cpus: 1};

/** Directories that are no control groups, so that nothing is set in them. */
function parentsAt(...paths: readonly string[]) {
  return {version: 1, parents: paths.map(path => ({path, controllers: []}))} as const;
}

test('policy: of a group that cannot be made in one of its places, nothing is left in the others', async () => {
  const place = temporaryDirectory();
  const missing = join(place, 'missing', 'missing');
  await expect(createGroup(parentsAt(place, missing), LIMITS, systemClock)).rejects.toThrow('ENOENT');
  expect(readdirSync(place)).toEqual([]);
});

test('policy: a group that cannot be asked for its memory has not run out of it', async () => {
  const place = temporaryDirectory();
  const group = await createGroup(parentsAt(place), LIMITS, systemClock);
  expect(await group.remove()).toBe(true);
  expect(existsSync(place)).toBe(true);
  expect(group.ranOutOfMemory()).toBe(false);
});
