import {expect, test} from 'vitest';
import {KeyedLock} from './keyed-lock.ts';

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
