import {describe, expect, test} from 'vitest';
import {RequestQueue} from './request-queue.ts';

/** Work that is under way until it is let go. */
function openWork() {
  const running = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>(resolve => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });
  return {running, work};
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve));

describe('policy: requests of one page', () => {
  test('six at once towards one origin, and others pass by those that wait', async () => {
    const queue = new RequestQueue();
    const {running, work} = openWork();
    for (let n = 0; n < 9; n += 1) void queue.run('a', work(`a${n}`));
    void queue.run('b', work('b0'));
    await settled();
    expect([...running.keys()]).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b0']);
    running.get('a2')?.();
    await settled();
    expect([...running.keys()]).toContain('a6');
    expect(running.size).toBe(7);
  });

  test('twenty-four at once in all; work that throws makes room too', async () => {
    const queue = new RequestQueue();
    const {running, work} = openWork();
    const failing = queue.run('x', async () => {
      await settled();
      throw new Error('broken');
    });
    for (let n = 0; n < 40; n += 1) void queue.run(`o${n}`, work(`o${n}`));
    expect(running.size).toBe(23);
    await expect(failing).rejects.toThrow('broken');
    await settled();
    expect(running.size).toBe(24);
    for (let guard = 0; running.size > 0 && guard < 100; guard += 1) {
      for (const finish of [...running.values()]) finish();
      await settled();
    }
    expect(running.size).toBe(0);
  });
});
