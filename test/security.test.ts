import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {PROMISES} from '../scripts/promises.js';
import {renderPromises} from '../scripts/render-promises.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TESTS = ['src', 'test'].flatMap(folder =>
  readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map(name => join(folder, name)),
);

test.each(PROMISES)('policy: $promise: names tests that are there', ({proofs}) => {
  expect(proofs.filter(proof => !TESTS.some(path => path.startsWith(proof)))).toEqual([]);
});

test('policy: SECURITY.md has every promise, none of them failed, skipped or without a case', () => {
  const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const rows = page.split('\n').filter(line => /^\| .* \| `/.test(line));
  expect(rows.map(row => row.split(' | ')[0]?.slice(2))).toEqual(PROMISES.map(({promise}) => promise));
  for (const row of rows) expect(row).toMatch(/\| [1-9]\d* \| [1-9]\d* passed \|$/);
});

test('policy: every hostile test belongs to a promise', () => {
  const hostile = TESTS.filter(path => path.startsWith('test/hostile/'));
  const isClaimed = (path: string): boolean =>
    PROMISES.some(({proofs}) => proofs.some(proof => path.startsWith(proof)));
  expect(hostile.filter(path => !isClaimed(path))).toEqual([]);
});

test('policy: a failed and a skipped case stand out', () => {
  const table = renderPromises(
    [{promise: 'P', proofs: ['a.test.ts'], titles: /x/}],
    [
      {file: 'a.test.ts', title: 'x 1', status: 'passed'},
      {file: 'a.test.ts', title: 'x 2', status: 'failed'},
      {file: 'a.test.ts', title: 'x 3', status: 'pending'},
      {file: 'a.test.ts', title: 'y', status: 'failed'},
      {file: 'b.test.ts', title: 'x', status: 'failed'},
    ],
  );
  expect(table).toContain('| 3 | 1 passed, **1 failed**, **1 skipped** |');
});
