import {readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {RenderingMethod} from '../page.ts';
import {cacheKey, entryPath, KeyedLock, replaceFile} from './files.ts';

const bytes = Buffer.from('new');
const failing = (code: string) => () =>
  Promise.reject(Object.assign(new Error(code), {code, syscall: 'rename'}));

test('FR-WF-16g where a rename is not possible the file is copied, never through a link', async () => {
  const directory = temporaryDirectory();
  const [path, outside] = [join(directory, 'a.json'), join(directory, 'outside')];
  writeFileSync(outside, 'old');
  symlinkSync(outside, path);
  expect(await replaceFile(path, bytes, {rename: failing('EXDEV')})).toBe(true);
  expect([path, outside].map(file => readFileSync(file, 'utf8'))).toEqual(['new', 'old']);
  expect(readdirSync(directory).sort()).toEqual(['a.json', 'outside']);
});

test('FR-WF-16g until it is put in its place it lies beside it, under a name that a later look clears away', async () => {
  const directory = temporaryDirectory();
  const names: string[] = [];
  const still = async (): Promise<boolean> => {
    names.push(...readdirSync(directory));
    return true;
  };
  expect(await replaceFile(join(directory, 'a.json'), bytes, {still})).toBe(true);
  expect(names).toEqual([expect.stringMatching(/^a\.tmp\.[0-9a-f]{16}$/)]);
  expect(readdirSync(directory)).toEqual(['a.json']);
});

test('FR-WF-16g what fails leaves the old file and no other', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'a.json');
  writeFileSync(path, 'old');
  await expect(replaceFile(path, bytes, {rename: failing('EIO')})).rejects.toThrow('EIO');
  expect(await replaceFile(path, bytes, {still: async () => false})).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(directory)).toEqual(['a.json']);
});

/** Work that begins and ends when it is told; and what has begun. */
function work() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    begun,
    end: (name: string, error?: Error) => ends.get(name)?.(error),
    of: (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        begun.push(name);
        ends.set(name, error => (error ? reject(error) : resolve(name)));
      }),
  };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

test('policy: one at a time for a key, in order; others beside it', async () => {
  const lock = new KeyedLock();
  const {begun, end, of} = work();
  const done = [
    lock.hold('a', of('a1')),
    lock.hold('a', of('a2')),
    lock.hold('b', of('b1')),
    lock.hold('a', of('a3')),
  ];
  await turn();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await turn();
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  end('a2');
  await turn();
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
  end('a3');
  end('b1');
  expect(await Promise.all(done)).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('policy: a failure is that of its own work, and the next one has its turn', async () => {
  const lock = new KeyedLock();
  const {begun, end, of} = work();
  const first = lock.hold('a', of('a1'));
  const second = lock.hold('a', of('a2'));
  await turn();
  end('a1', new Error('disk'));
  await expect(first).rejects.toThrow('disk');
  await turn();
  expect(begun).toEqual(['a1', 'a2']);
  // Who comes while the last one is at work waits for it, though others before it are over.
  const third = lock.hold('a', of('a3'));
  await turn();
  expect(begun).toEqual(['a1', 'a2']);
  end('a2');
  await turn();
  end('a3');
  expect(await Promise.all([second, third])).toEqual(['a2', 'a3']);
});

/** Computed by sha256sum from the URL, a newline and the method. */
test.each<readonly [string, RenderingMethod, string]>([
  ['https://example.com/', 'http', 'e3b70279a026dc1e40092994175e7e2b7a52d90c778099ad96dee1b624370c67'],
  ['https://example.com/', 'browser', 'fd02b83e204a74352cb1e1106fa9134f9584f5a22739ac6b24259c34befcedc5'],
  [
    'https://example.com/caf%C3%A9?b=2&a=1',
    'http',
    'cc79a5bd5924a1bab7edc1255440899df9435e1d574801331a842bd3147188a4',
  ],
])('FR-WF-16 FR-WF-16a FR-WF-CCH-KEY-02 the key and the path of %s, %s', (url, method, key) => {
  expect(cacheKey(url, method)).toBe(key);
  expect(entryPath('/cache', key)).toBe(`/cache/${key.slice(0, 2)}/${key}.json`);
});
