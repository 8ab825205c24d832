import {readdirSync, readFileSync} from 'node:fs';
import {deflateSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {Deadline} from '../../src/core/deadline.ts';
import type {Failure, Result} from '../../src/core/result.ts';
import type {ConvertedDocument} from '../../src/web/convert/jobs.ts';
import {WorkerPool} from '../../src/web/convert/worker-pool.ts';

const CORPUS = new URL('../fixtures/pdf/', import.meta.url);
const SEED = Number(process.env['PDF_SEED'] ?? 20_261_122);
const DAMAGED = Number(process.env['PDF_DAMAGED'] ?? 200);
const DEADLINE_MS = 30_000;
/** What a reading may add to the memory of the process, two threads together. */
const MOST_BYTES = 1_500_000_000;

const files = readdirSync(CORPUS)
  .filter(name => name.endsWith('.pdf'))
  .map(name => readFileSync(new URL(name, CORPUS)));

/** mulberry32 */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of the files with a few bytes flipped, a piece cut out, doubled or overwritten, numbers changed, or its end gone. */
function damage(next: () => number): Uint8Array {
  const at = (most: number): number => Math.floor(next() * most);
  let bytes = Buffer.from(files[at(files.length)] ?? []);
  for (let rounds = 1 + at(4); rounds > 0; rounds -= 1) {
    const from = at(bytes.length);
    const to = Math.min(bytes.length, from + 1 + at(2000));
    switch (at(6)) {
      case 0:
        for (let flips = 1 + at(40); flips > 0; flips -= 1) bytes[at(bytes.length)] = at(256);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
        break;
      case 3:
        bytes.fill(at(256), from, to);
        break;
      case 4:
        bytes = Buffer.from(
          bytes.toString('latin1').replace(/\d+/g, number => (next() < 0.02 ? String(at(1e9)) : number)),
          'latin1',
        );
        break;
      default:
        bytes = bytes.subarray(0, Math.max(8, from));
    }
  }
  return new Uint8Array(bytes);
}

function outcomeOf({code, details}: Failure): string {
  return code === 'extraction_failed' ? `${code} ${details['reason']}` : code;
}

async function read(bytes: Uint8Array, pool: WorkerPool): Promise<Result<ConvertedDocument>> {
  const budget = new Deadline(DEADLINE_MS, systemClock);
  try {
    const job = {kind: 'convert', bytes, media: 'pdf', headerCharset: undefined} as const;
    return await pool.run(
      {...job, baseUrl: 'https://x/', honorBaseHref: false, mode: 'full', maxTokens: 600},
      budget,
    );
  } finally {
    budget.close();
  }
}

/** A PDF with `objects` after the catalogue (1 0), whose pages are 2 0. Readers find them without a table. */
function pdf(objects: readonly (string | Buffer)[]): Uint8Array {
  const parts = ['<< /Type /Catalog /Pages 2 0 R >>', ...objects].flatMap((object, index) => [
    Buffer.from(`${index + 1} 0 obj\n`),
    Buffer.from(object),
    Buffer.from('\nendobj\n'),
  ]);
  return new Uint8Array(
    Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts, Buffer.from('trailer << /Root 1 0 R >>')]),
  );
}

function stream(bytes: Buffer, more = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} ${more} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);
}

const PAGE =
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>';
const PAGES = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

describe('R3 PDF made to harm', () => {
  test(`R3: ${DAMAGED} damaged ones give text or a typed failure within the deadline, in bounded memory`, async () => {
    const next = random(SEED);
    const pool = new WorkerPool();
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 50);
    const documents = Array.from({length: DAMAGED}, () => damage(next));
    const outcomes: Record<string, number> = {};
    const readSome = async (): Promise<void> => {
      for (let bytes = documents.pop(); bytes !== undefined; bytes = documents.pop()) {
        const result = await read(bytes, pool);
        const outcome = result.ok ? 'text' : outcomeOf(result.error);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    };
    await Promise.all([readSome(), readSome()]);
    clearInterval(watch);
    await pool.close();
    const known = [
      'text',
      'timeout',
      ...['damaged', 'encrypted', 'no_text', 'too_complex'].map(one => `extraction_failed ${one}`),
    ];
    expect(
      Object.keys(outcomes).filter(name => !known.includes(name)),
      JSON.stringify(outcomes),
    ).toEqual([]);
    expect(peak - before).toBeLessThan(MOST_BYTES);
  }, 1_800_000);

  const bomb = deflateSync(Buffer.alloc(256 * 1024 * 1024, ' '), {level: 9});

  test.each<readonly [name: string, bytes: () => Uint8Array, outcomes: readonly string[]]>(
    // biome-ignore format: a case is a line
    [
      ['a content stream that unpacks to 256 MB', () => pdf([PAGES, PAGE, stream(bomb, '/Filter /FlateDecode'), FONT]), ['too_complex', 'damaged', 'no_text']],
      ['a bomb in a bomb', () => pdf([PAGES, PAGE, stream(deflateSync(bomb), '/Filter [/FlateDecode /FlateDecode]'), FONT]), ['too_complex', 'damaged', 'no_text']],
      ['pages that are their own parents', () => pdf(['<< /Type /Pages /Kids [2 0 R] /Count 1 >>']), ['damaged', 'no_text', 'too_complex']],
      ['a billion pages', () => pdf(['<< /Type /Pages /Kids [3 0 R] /Count 1000000000 >>', PAGE, stream(Buffer.from('')), FONT]), ['damaged', 'no_text', 'too_complex']],
      [
        'a form that draws itself',
        () =>
          pdf([
            PAGES,
            '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 6 8] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>',
            stream(Buffer.from('/X Do')),
            FONT,
            stream(
              Buffer.from('/X Do /X Do'),
              '/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 6 0 R >> >>',
            ),
          ]),
        ['damaged', 'no_text', 'too_complex'],
      ],
      ['deep brackets', () => pdf([PAGES, PAGE, stream(Buffer.from('['.repeat(2_000_000))), FONT]), ['damaged', 'no_text', 'too_complex']],
      ['no text, as a scan', () => pdf([PAGES, PAGE, stream(Buffer.from('0 0 10 10 re f')), FONT]), ['no_text']],
      ['HTML under the name of PDF', () => new Uint8Array(Buffer.from('<!DOCTYPE html><p>text')), ['damaged']],
      ['nothing', () => new Uint8Array(), ['damaged']],
    ],
  )(
    'R3: %s is refused in time',
    async (_, bytes, outcomes) => {
      const pool = new WorkerPool();
      const result = await read(bytes(), pool);
      await pool.close();
      const said = result.ok
        ? result.value.document.markdown.slice(0, 100)
        : (result.error.details['reason'] ?? result.error.code);
      // What takes too long is ended by the deadline, with its thread.
      expect([...outcomes, 'timeout'], `${said} ${result.ok ? '' : result.error.message}`).toContain(said);
    },
    120_000,
  );

  test('R3: JavaScript of a document does not run, and nothing of it is fetched', async () => {
    const script = '<< /Type /Action /S /JavaScript /JS (app.alert\\(1\\)) >>';
    const bytes = pdf([PAGES, PAGE, stream(Buffer.from('BT /F 12 Tf 10 10 Td (text) Tj ET')), FONT]);
    const withScript = Buffer.from(bytes)
      .toString('latin1')
      .replace('/Pages 2 0 R', `/Pages 2 0 R /OpenAction ${script}`);
    const pool = new WorkerPool();
    const result = await read(new Uint8Array(Buffer.from(withScript, 'latin1')), pool);
    await pool.close();
    expect(result).toMatchObject({ok: true, value: {document: {markdown: '# Page 1\n\ntext\n'}}});
  }, 120_000);
});
