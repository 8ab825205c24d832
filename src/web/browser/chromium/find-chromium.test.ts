import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, isAbsolute, join, win32} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {chromiumPlaces} from '../chromium-places.data.ts';
import {findChromium} from './find-chromium.ts';

function program(path: string): string {
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

const NOWHERE = {path: '', untrustedTrees: [], standard: []};

test('FR-WF-11: an application counts where no name is in PATH, and nothing that others may write to', async () => {
  const root = temporaryDirectory();
  const application = program(join(root, 'Chromium.app/Contents/MacOS/Chromium'));
  const absent = join(root, 'absent');
  expect(await findChromium('', NOWHERE, [absent, application])).toBe(application);
  expect(await findChromium('', NOWHERE, [absent])).toBeUndefined();
  expect(await findChromium('', {...NOWHERE, untrustedTrees: [root]}, [application])).toBeUndefined();
  const named = program(join(root, 'bin/chromium'));
  expect(await findChromium('', {...NOWHERE, path: join(root, 'bin')}, [application])).toBe(named);
});

test('policy: the places are absolute, and Linux has names alone', () => {
  expect(chromiumPlaces('linux')).toEqual([]);
  expect(chromiumPlaces('darwin').every(isAbsolute)).toBe(true);
  expect(chromiumPlaces('win32').every(path => win32.isAbsolute(path))).toBe(true);
  expect(chromiumPlaces('darwin').length * chromiumPlaces('win32').length).toBeGreaterThan(0);
});
