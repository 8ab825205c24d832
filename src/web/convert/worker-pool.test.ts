import {readdirSync, readFileSync} from 'node:fs';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import type {ConvertJob} from './jobs.ts';
import {DEFAULT_WORKER_POOL, priceOf, WorkerPool, type WorkerPoolSettings} from './worker-pool.ts';

const html = Buffer.from(`<div id=app></div><p>${'Some words of a page. '.repeat(4000)}</p>`);

async function convert(bytes: Uint8Array, threshold: number) {
  const workers = new WorkerPool({
    threshold: {convert: threshold, chunk: threshold, read: threshold, quote: threshold},
    maxThreads: 1,
  });
  const budget = new Deadline(60_000, systemClock);
  const result = await workers.run(
    {
      kind: 'convert',
      bytes,
      media: 'html',
      headerCharset: undefined,
      baseUrl: 'https://example.com/',
      honorBaseHref: false,
      mode: 'full',
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
  ])('makes of a large page the same: %s', {tags: 'stress', timeout: 30_000}, async (_, page) => {
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

const conversion = (media: ConvertJob['media'], text: string): ConvertJob => ({
  kind: 'convert',
  bytes: Buffer.from(text),
  media,
  headerCharset: undefined,
  baseUrl: 'https://example.com/',
  honorBaseHref: false,
  mode: 'full',
  maxTokens: 600,
});

/** A pool, and jobs that run in it until the test has ended. */
function openPool(settings: Partial<WorkerPoolSettings>) {
  const workers = new WorkerPool({...DEFAULT_WORKER_POOL, ...settings});
  const caller = new AbortController();
  const budget = new Deadline(600_000, systemClock, caller.signal);
  onTestFinished(async () => {
    budget.close();
    await workers.close();
  });
  return {run: (job: ConvertJob) => workers.run(job, budget), end: () => caller.abort()};
}

const PAGE = `<p>${'Some words of a page. '.repeat(4000)}</p>`;
const HEAVY_PAGE = '<p><a href="/x"><b><i>*a* _b_ `c` &amp; <code>d</code>'.repeat(400_000);

/** Forms that draw each other twice: 2 ** 60 of them. */
function endlessPdf(): string {
  const form = (content: string, next: number): string =>
    `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${next} 0 R >> /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
    '<< /Length 5 >>\nstream\n/X Do\nendstream',
    ...Array.from({length: 60}, (_, at) => form('/X Do /X Do', at + 6)),
    // A form without text is remembered as empty and not read again.
    form('BT /F 9 Tf (x) Tj ET', 1),
  ];
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join('');
  return `%PDF-1.7\n${body}trailer << /Root 1 0 R >>`;
}

describe('work has a place and a price', () => {
  test('red team F7: PDFs that are never read hold no place of a page', async () => {
    const {run, end} = openPool({maxThreads: 1, pdfMs: 600_000});
    let ended = 0;
    const endless = [1, 2, 3].map(() =>
      run(conversion('pdf', endlessPdf())).finally(() => {
        ended += 1;
      }),
    );
    expect(await run(conversion('html', PAGE))).toMatchObject({ok: true});
    expect(ended).toBe(0);
    end();
    for (const result of endless) expect(await result).toMatchObject({error: {code: 'cancelled'}});
  });

  test('red team F7: a PDF that takes too long is too complex, and the next one is read', async () => {
    const {run} = openPool({pdfMs: 1000});
    const endless = run(conversion('pdf', endlessPdf()));
    const next = run(conversion('pdf', 'not a PDF'));
    expect(await endless).toMatchObject({
      error: {
        code: 'extraction_failed',
        details: {reason: 'too_complex', error: 'Reading it took longer than 1 s.'},
      },
    });
    expect(await next).toMatchObject({error: {code: 'extraction_failed'}});
  });

  test('red team F7: heavy pages leave the last thread to others', async () => {
    const {run, end} = openPool({maxThreads: 2});
    let ended = 0;
    const heavy = [1, 2].map(() =>
      run(conversion('html', HEAVY_PAGE)).finally(() => {
        ended += 1;
      }),
    );
    expect(await run(conversion('html', PAGE))).toMatchObject({ok: true});
    expect(ended).toBe(0);
    end();
    for (const result of heavy) expect(await result).toMatchObject({error: {code: 'cancelled'}});
  });

  test.runIf(process.platform === 'linux')(
    'red team F13: the system bounds the memory of the process of a PDF',
    async () => {
      const {run, end} = openPool({pdfMs: 600_000});
      const reading = run(conversion('pdf', endlessPdf()));
      let limits = '';
      while (!limits.includes('2147483648')) {
        const children = readdirSync('/proc/self/task').flatMap(task =>
          readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
        );
        limits = children.map(child => readFileSync(`/proc/${child}/limits`, 'utf8')).join('');
        await new Promise(setImmediate);
      }
      expect(limits).toMatch(/Max data size +2147483648 +2147483648/);
      expect(limits).toMatch(/Max core file size +0 +0/);
      end();
      expect(await reading).toMatchObject({error: {code: 'cancelled'}});
    },
  );

  test('red team F24: others have their turn before each job on the event loop', async () => {
    const {run} = openPool({});
    await run(conversion('text', 'loads what jobs need'));
    let turns = 0;
    setImmediate(() => {
      turns += 1;
      setImmediate(() => {
        turns += 1;
      });
    });
    await run(conversion('text', 'one'));
    expect(turns).toBe(1);
    await run(conversion('text', 'two'));
    expect(turns).toBe(2);
  });

  test('red team F24: the price counts entries, tags, and quotes times the page', () => {
    const entries = '<item><title>A</title></item>'.repeat(500);
    const {convert: most, quote: mostQuotes} = DEFAULT_WORKER_POOL.threshold;
    expect(entries.length).toBeLessThan(most);
    expect(priceOf(conversion('feed', `<rss>${entries}</rss>`))).toBeGreaterThan(most);
    expect(priceOf(conversion('html', '<font><p>x'.repeat(3000)))).toBeGreaterThan(most);
    expect(priceOf(conversion('html', '<p>Some words of a paragraph.</p>'.repeat(500)))).toBeLessThan(most);
    const markdown = 'a'.repeat(2000);
    expect(priceOf({kind: 'quote', markdown, quotes: Array(20).fill('a')})).toBeGreaterThan(mostQuotes);
    expect(priceOf({kind: 'quote', markdown, quotes: ['a']})).toBeLessThan(mostQuotes);
  });
});
