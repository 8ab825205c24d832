import {describe, expect, test} from 'vitest';
import {Budget} from '../../core/budget.ts';
import {systemClock} from '../../core/clock.ts';
import {WorkerPool} from './worker-pool.ts';

const html = Buffer.from(`<p>${'Some words of a page. '.repeat(4000)}</p>`);

async function convert(bytes: Uint8Array, threshold: number) {
  const workers = new WorkerPool({
    threshold: {convert: threshold, chunk: threshold, read: threshold, quote: threshold},
    maxThreads: 1,
  });
  const budget = new Budget(60_000, systemClock);
  const result = await workers.run(
    {
      kind: 'convert',
      bytes,
      media: 'html',
      headerCharset: undefined,
      baseUrl: 'https://example.com/',
      honorBaseHref: false,
      mode: 'srd',
      maxTokens: 600,
    },
    budget,
  );
  budget.close();
  await workers.close();
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe('ruling C3 a conversion in a thread', () => {
  test('gives the same as one that stays, and the bytes back', async () => {
    const here = await convert(Buffer.from(html), html.length + 1);
    const there = await convert(Buffer.from(html), 0);
    expect(there.document).toEqual(here.document);
    expect(there.plan).toEqual(here.plan);
    expect(Buffer.compare(there.bytes, html)).toBe(0);
    expect(Buffer.compare(here.bytes, html)).toBe(0);
  });

  test('takes the bytes over, and leaves a buffer alone of which they are a part', async () => {
    const own = new Uint8Array(html);
    await convert(own, 0);
    expect(own.length).toBe(0);
    const larger = Buffer.concat([Buffer.alloc(8), html]);
    const {bytes} = await convert(larger.subarray(8), 0);
    expect(Buffer.compare(bytes, html)).toBe(0);
    expect(Buffer.compare(larger.subarray(8), html)).toBe(0);
  });
});
