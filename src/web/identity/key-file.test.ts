import {existsSync, mkdirSync, readFileSync, statSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {openBotKey} from './key-file.ts';

test('policy: a key is made with its directory, for the user alone, and never again', () => {
  const home = temporaryDirectory();
  const path = join(home, '.config/forge/key.pem');
  const made = openBotKey(path, []);
  expect(made).toMatchObject({ok: true, value: {isNew: true}});
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, '.config')).mode & 0o777).toBe(0o700);
  const before = readFileSync(path, 'utf8');
  expect(openBotKey(path, [])).toMatchObject({ok: true, value: {isNew: false}});
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('policy: no key and no directory is made in the working tree, also by a link', () => {
  const home = temporaryDirectory();
  const tree = join(home, 'project');
  mkdirSync(tree);
  symlinkSync(tree, join(home, 'link'));
  for (const path of [join(tree, 'a/b/key.pem'), join(home, 'link/a/key.pem')]) {
    expect(openBotKey(path, [tree])).toMatchObject({ok: false, error: expect.stringContaining('elsewhere')});
  }
  expect(existsSync(join(tree, 'a'))).toBe(false);
});
