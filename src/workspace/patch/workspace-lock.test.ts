import {mkdirSync, readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {lockWorkspace} from './workspace-lock.ts';

test('regression: a lock that cannot be removed is no failure of what it was for', async () => {
  const directory = temporaryDirectory();
  const release = unwrap(await lockWorkspace('/work', {directory, clock: systemClock}));
  const [name = ''] = readdirSync(directory);
  rmSync(join(directory, name));
  // Reading it fails from now on.
  mkdirSync(join(directory, name));
  await expect(release()).resolves.toBeUndefined();
});
