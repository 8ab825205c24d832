import {chmodSync, renameSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {handleByDescriptor} from './entry-handle.ts';
import {entryVersion} from './target.ts';

function place() {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'f'), 'one');
  const directory = handleByDescriptor(root);
  return {root, version: (name = 'f') => entryVersion({directory, name, created: []})};
}

test.each<readonly [string, (root: string) => void]>([
  ['written in place, as long as before', root => writeFileSync(join(root, 'f'), 'two')],
  ['with its time put back', root => utimesSync(join(root, 'f'), 1, 1)],
  ['with another mode', root => chmodSync(join(root, 'f'), 0o600)],
  [
    'another one under its name',
    root => {
      writeFileSync(join(root, 'g'), 'one');
      renameSync(join(root, 'g'), join(root, 'f'));
    },
  ],
  ['gone', root => renameSync(join(root, 'f'), join(root, 'g'))],
])('ruling W19: a file %s has another version', (_, change) => {
  const {root, version} = place();
  const before = version();
  expect(version()).toBe(before);
  change(root);
  expect(version()).not.toBe(before);
});

test('ruling W19: nothing is as nothing', () => {
  const {version} = place();
  expect(version('g')).toBe(version('h'));
});
