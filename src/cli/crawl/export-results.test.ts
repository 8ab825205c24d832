import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail, ok} from '../../core/result.ts';
import type {ReadPage} from '../toolbox-services.ts';
import {
  type CrawlRecord,
  crawlRecord,
  exportResults,
  fitForLine,
  ResultsFile,
  readResults,
  resultFiles,
} from './export-results.ts';

const facts = {depth: 0, time: '2026-01-10T12:00:00.000Z', duration_ms: 1, attempts: 1};

function read(url: string, markdown: string) {
  const chunks = [{token_count: 3}, {token_count: 4}];
  const response = {final_url: url, title: 'T', fetched_at: facts.time, chunks, notes: ['cache_hit']};
  return ok({markdown, response} as unknown as ReadPage);
}

const page = (url: string, markdown: string): CrawlRecord =>
  crawlRecord({url, result: read(url, markdown), ...facts});
const failure = (url: string, retryable: boolean): CrawlRecord =>
  crawlRecord({
    url,
    result: {ok: false, error: {...fail(retryable ? 'timeout' : 'http_4xx', 'm').error, retryable}},
    ...facts,
  });

test('S1 a line of results is written as the documents say', () => {
  expect(
    [page('https://a/', 'x'), failure('https://b/', true)].map(record => JSON.stringify(record)),
  ).toEqual([
    '{"url":"https://a/","status":"ok","final_url":"https://a/","title":"T","tokens":7,"cached":true,"fetched_at":"2026-01-10T12:00:00.000Z","notes":["cache_hit"],"depth":0,"time":"2026-01-10T12:00:00.000Z","duration_ms":1,"attempts":1,"markdown":"x"}',
    '{"url":"https://b/","status":"failed","code":"timeout","message":"m","retryable":true,"details":{},"depth":0,"time":"2026-01-10T12:00:00.000Z","duration_ms":1,"attempts":1}',
  ]);
});

test('S1 a page that no line of results holds is a failure that says so', () => {
  expect(fitForLine(read('https://a/', '"'.repeat(30 * 2 ** 20)))).toMatchObject({
    error: {code: 'response_too_large'},
  });
  expect(fitForLine(read('https://a/', 'x'.repeat(2 ** 20))).ok).toBe(true);
});

async function results(directory: string, job: string, records: readonly CrawlRecord[]): Promise<string> {
  const file = await ResultsFile.create(directory, job);
  if (!file.ok) throw new Error(file.error.message);
  const kept = await file.value.append(records);
  await file.value.close();
  expect(kept.ok).toBe(true);
  return file.value.path;
}

async function exported(files: readonly string[]) {
  const lines: string[] = [];
  const counts = await exportResults(files, async line => {
    expect(line.at(-1)).toBe(0x0a);
    lines.push(line.toString());
  });
  return {counts, records: lines.map(line => JSON.parse(line))};
}

test('S1 the export has each address once: a page before a failure, the first before the second', async () => {
  const [one, two] = [temporaryDirectory(), temporaryDirectory()];
  await results(one, 'job', [
    page('https://a/', 'first'),
    failure('https://b/', true),
    failure('https://c/', false),
  ]);
  await results(two, 'job', [
    page('https://a/', 'second'),
    page('https://b/', 'ü\n'),
    failure('https://c/', true),
  ]);
  await results(two, 'job.other', [page('https://d/', 'of another job')]);
  const files = await resultFiles([one, two], 'job');
  expect(files).toHaveLength(2);
  const {counts, records} = await exported(files);
  expect(counts).toEqual({files: 2, pages: 2, failed: 1, repeated: 3});
  expect(records.map(({url}) => url).sort()).toEqual(['https://a/', 'https://b/', 'https://c/']);
  expect(records.find(({url}) => url === 'https://a/').markdown).toBe('first');
  expect(records.find(({url}) => url === 'https://b/').markdown).toBe('ü\n');
});

test('S1 wherever a kill cuts the last line, it is passed over and the lines before it are whole', {
  tags: 'stress',
}, async () => {
  const directory = temporaryDirectory();
  const whole = Buffer.from(`${JSON.stringify(page('https://a/', 'ü'))}\n`);
  const last = Buffer.from(`${JSON.stringify(page('https://b/', 'ü'))}\n`);
  const path = join(directory, 'job.0123456789ab.jsonl');
  for (let cut = 0; cut < last.length - 1; cut += 1) {
    writeFileSync(path, Buffer.concat([whole, last.subarray(0, cut)]));
    const {records} = await exported([path]);
    expect(records.map(({url}) => url)).toEqual(['https://a/']);
  }
  writeFileSync(path, Buffer.concat([whole, last.subarray(0, -1)]));
  expect((await exported([path])).counts.pages).toBe(2);
});

test('S1 a failure that may pass is told from one that stays', async () => {
  const path = await results(temporaryDirectory(), 'job', [
    failure('https://a/', true),
    failure('https://b/', false),
  ]);
  const read = [];
  for await (const {url, outcome} of readResults([path])) read.push([url, outcome]);
  expect(read).toEqual([
    ['https://a/', 'again'],
    ['https://b/', 'failed'],
  ]);
});
