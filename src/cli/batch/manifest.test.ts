import {appendFileSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {parseListedUrl} from '../../create-toolbox/parse-listed-url.ts';
import type {BatchRecord, FailureRecord, PageRecord} from './batch-record.ts';
import {FinishedUrls} from './finished-urls.ts';
import {Manifest} from './manifest.ts';
import {pageFileName, urlDigest} from './page-file-name.ts';

const page = (url: string): PageRecord => ({
  url,
  status: 'ok',
  file: pageFileName(url, 'md'),
  final_url: url,
  tokens: 1,
  bytes: 1,
  cached: false,
  fetched_at: '2026-01-10T12:00:00.000Z',
  time: '2026-01-10T12:00:00.000Z',
  duration_ms: 1,
});

const failure = (url: string, code: FailureRecord['code'], retryable = false): FailureRecord => ({
  url,
  status: 'failed',
  code,
  message: 'm',
  retryable,
  details: {},
  attempts: 1,
  time: '2026-01-10T12:00:00.000Z',
  duration_ms: 1,
});

async function open(out: string): Promise<Manifest> {
  const manifest = await Manifest.open(out);
  if (!manifest.ok) throw new Error(manifest.error.message);
  return manifest.value;
}

async function append(out: string, ...records: BatchRecord[]): Promise<void> {
  const manifest = await open(out);
  await Promise.all(records.map(record => manifest.append(record)));
  await manifest.close();
}

/** The addresses of `urls` that a later run passes over. */
async function finishedOf(out: string, urls: readonly string[], format: 'md' | 'json' = 'md') {
  const manifest = await open(out);
  const finished = new FinishedUrls(parseListedUrl, format);
  for await (const entry of manifest.finished()) finished.note(entry);
  await manifest.close();
  return urls.filter(url => finished.has(urlDigest(url)));
}

const A = 'https://example.com/a';
const B = 'https://example.com/b';

test('policy: what was written is finished, and so is what another try would only repeat', async () => {
  const out = temporaryDirectory();
  const codes = [
    'http_4xx',
    'unsupported_content_type',
    'timeout',
    'robots_disallowed',
    'browser_unavailable',
  ] as const;
  const urls = codes.map(code => `https://example.com/${code}`);
  await append(out, page(A), ...codes.map((code, at) => failure(urls[at] ?? '', code, code === 'timeout')));
  expect(await finishedOf(out, [A, B, ...urls])).toEqual([A, ...urls.slice(0, 2)]);
});

test('policy: the last line of an address holds', async () => {
  const out = temporaryDirectory();
  await append(out, failure(A, 'timeout', true), page(A), page(B), failure(B, 'timeout', true));
  expect(await finishedOf(out, [A, B])).toEqual([A]);
});

test('policy: a page in the other format is fetched again', async () => {
  const out = temporaryDirectory();
  await append(out, page(A));
  expect(await finishedOf(out, [A], 'json')).toEqual([]);
});

test('policy: a line of the list that was no address finishes no other one', async () => {
  const out = temporaryDirectory();
  // What may be shown of http://user:secret@example.com/ is an address.
  await append(out, {...failure('http://example.com/', 'invalid_url'), line: 3});
  expect(await finishedOf(out, ['http://example.com/'])).toEqual([]);
});

test('policy: a torn last line counts for nothing, and the next line starts behind it', async () => {
  const out = temporaryDirectory();
  const path = join(out, 'manifest.jsonl');
  await append(out, page(A));
  const whole = readFileSync(path, 'utf8');
  appendFileSync(path, JSON.stringify(page(B)).slice(0, 40));
  expect(await finishedOf(out, [A, B])).toEqual([A]);
  await append(out, page(B));
  expect(await finishedOf(out, [A, B])).toEqual([A, B]);
  const text = readFileSync(path, 'utf8');
  expect(text.startsWith(whole)).toBe(true);
  expect(text.split('\n').length).toBe(4);
});

test('policy: lines that are not ours, however long, end nothing', async () => {
  const out = temporaryDirectory();
  const strange = [
    'null',
    '[]',
    '7',
    '{"url":7}',
    '{"status":"ok","url":"x"}',
    'x'.repeat(2 ** 21),
    '\u0000',
  ];
  writeFileSync(join(out, 'manifest.jsonl'), `${strange.join('\n')}\n${JSON.stringify(page(A))}\n`);
  expect(await finishedOf(out, [A, B])).toEqual([A]);
});

test('policy: a directory that is not there, or is a file, is an io_error that says so', async () => {
  const out = join(temporaryDirectory(), 'gone');
  expect(await Manifest.open(out)).toMatchObject({
    ok: false,
    error: {code: 'io_error', details: {error: 'ENOENT'}},
  });
});
