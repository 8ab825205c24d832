import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TESTS = ['src', 'test'].flatMap(folder =>
  readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map(name => join(folder, name)),
);
/** The rows of SECURITY.md: a promise, and the tests that prove it as paths or beginnings of paths. */
const PROMISES = [...readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').matchAll(/^\| (.*) \| (`.*) \|$/gm)].map(
  ([, promise = '', cell = '']) => ({
    promise,
    proofs: [...cell.matchAll(/`((?:src|test)\/[^`…]*)/g)].map(([, proof = '']) => proof),
  }),
);

test.each(PROMISES)('policy: $promise: names tests that are there', ({proofs}) => {
  expect(proofs).not.toEqual([]);
  expect(proofs.filter(proof => !TESTS.some(path => path.startsWith(proof)))).toEqual([]);
});

test('policy: every hostile test belongs to a promise', () => {
  expect(PROMISES.length).toBeGreaterThan(25);
  const hostile = TESTS.filter(path => path.startsWith('test/hostile/'));
  const claims = PROMISES.flatMap(({proofs}) => proofs);
  expect(hostile.filter(path => !claims.some(claim => path.startsWith(claim)))).toEqual([]);
});
