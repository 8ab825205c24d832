import {describe, expect, test} from 'vitest';
import {Budget} from '../../core/budget.ts';
import {systemClock} from '../../core/clock.ts';
import {WorkerPool} from './worker-pool.ts';

const html = Buffer.from(`<div id=app></div><p>${'Some words of a page. '.repeat(4000)}</p>`);

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

  test('keeps the bytes of no page that a browser will not be given', async () => {
    const plain = html.subarray(html.indexOf('<p>'));
    const here = await convert(Buffer.from(plain), html.length);
    const there = await convert(Buffer.from(plain), 0);
    expect([here.bytes.length, there.bytes.length]).toEqual([0, 0]);
    expect(there.document).toEqual(here.document);
  });

  const row = '<p>One – two &ndash; <a href="/über?a=1&amp;b=2">café 😀</a></p><ul><li>x<li>y</ul>\n';
  test.each([
    ['most of it ASCII', `<title>Größe</title>${row.repeat(12_000)}`],
    ['with CR in its lines', `${row.replaceAll('\n', '\r\n').repeat(12_000)}<pre>a&#13;b\n\nc</pre>`],
    ['little of it ASCII', `<p>${'Большая страница. '.repeat(40_000)}</p>`],
    ['with bytes that are no character', `${row.repeat(12_000)}\xff`],
    ['with a NUL, for the full parser', `${row.repeat(12_000)}\0<template>é</template>`],
    ['with a chunk after all', `${'<pre>'}${'– a line of code\n'.repeat(60_000)}</pre>${row}`],
  ])('makes of a large page the same: %s', {tags: 'slow', timeout: 30_000}, async (_, page) => {
    const bytes = page.endsWith('\xff')
      ? Buffer.concat([Buffer.from(page.slice(0, -1)), Buffer.of(0xff)])
      : Buffer.from(page);
    expect(bytes.length).toBeGreaterThan(1_048_576);
    const here = await convert(Buffer.from(bytes), bytes.length + 1);
    const there = await convert(Buffer.from(bytes), 0);
    expect(there).toEqual(here);
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
