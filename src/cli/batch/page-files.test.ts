import {existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {PageFiles} from './page-files.ts';

async function open(out: string): Promise<PageFiles> {
  const files = await PageFiles.open(out, createManualClock(Date.now()));
  if (!files.ok) throw new Error(files.error.message);
  return files.value;
}

test('policy: a page is written whole, again over itself, and nothing else is left', async () => {
  const out = join(temporaryDirectory(), 'new', 'out');
  const files = await open(out);
  expect(await files.write('host/a.md', 'one')).toMatchObject({ok: true});
  expect(await files.write('host/a.md', 'two')).toMatchObject({ok: true});
  await files.close();
  expect(readdirSync(out, {recursive: true}).sort()).toEqual(['host', 'host/a.md']);
  expect(readFileSync(join(out, 'host/a.md'), 'utf8')).toBe('two');
});

test('policy: what cannot be written is an io_error with the path, and leaves no part behind', async () => {
  const out = temporaryDirectory();
  const files = await open(out);
  writeFileSync(join(out, 'host'), 'a file');
  expect(await files.write('host/a.md', 'one')).toMatchObject({
    ok: false,
    error: {code: 'io_error', details: {path: join(out, 'host/a.md'), error: 'EEXIST'}},
  });
  mkdirSync(join(out, 'other/a.md'), {recursive: true});
  expect(await files.write('other/a.md', 'one')).toMatchObject({ok: false});
  expect(readdirSync(join(out, '.partial'))).toEqual([]);
});

test('policy: parts that a killed run left are cleared away, those of a running one are not', async () => {
  const out = temporaryDirectory();
  mkdirSync(join(out, '.partial'));
  for (const name of ['old', 'new']) writeFileSync(join(out, '.partial', name), '');
  const hours = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(out, '.partial/old'), hours, hours);
  const files = await open(out);
  await files.close();
  expect(readdirSync(join(out, '.partial'))).toEqual(['new']);
  expect(existsSync(out)).toBe(true);
});

test('policy: an output directory that is a file is an io_error', async () => {
  const out = join(temporaryDirectory(), 'file');
  writeFileSync(out, '');
  expect(await PageFiles.open(out, createManualClock())).toMatchObject({
    ok: false,
    error: {code: 'io_error'},
  });
});
