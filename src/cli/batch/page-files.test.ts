import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join, resolve, sep} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {parseListedUrl} from '../../create-toolbox/crawl.ts';
import {canonicalizeUrl} from '../../index.ts';
import {FinishedUrls} from './list.ts';
import type {BatchRecord, FailureRecord, PageRecord} from './outcome.ts';
import {Manifest, PageFiles, pageFileName, urlDigest} from './page-files.ts';

async function open(out: string): Promise<PageFiles> {
  const files = await PageFiles.open(out, createManualClock(Date.now()));
  if (!files.ok) throw new Error(files.error.message);
  return files.value;
}

test('policy: a page is written whole, again over itself, and nothing else is left', async () => {
  const out = join(temporaryDirectory(), 'new', 'out');
  const files = await open(out);
  expect(await files.write('host/a.md', 'one')).toMatchObject({ok: true});
  expect(await files.write('host/a.md', 'two')).toMatchObject({ok: true});
  await files.close();
  expect(readdirSync(out, {recursive: true}).sort()).toEqual(['host', 'host/a.md']);
  expect(readFileSync(join(out, 'host/a.md'), 'utf8')).toBe('two');
});

test('policy: what cannot be written is an io_error with the path, and leaves no part behind', async () => {
  const out = temporaryDirectory();
  const files = await open(out);
  writeFileSync(join(out, 'host'), 'a file');
  expect(await files.write('host/a.md', 'one')).toMatchObject({
    ok: false,
    error: {code: 'io_error', details: {path: join(out, 'host/a.md'), error: 'EEXIST'}},
  });
  mkdirSync(join(out, 'other/a.md'), {recursive: true});
  expect(await files.write('other/a.md', 'one')).toMatchObject({ok: false});
  expect(readdirSync(join(out, '.partial'))).toEqual([]);
});

test('policy: parts that a killed run left are cleared away, those of a running one are not', async () => {
  const out = temporaryDirectory();
  mkdirSync(join(out, '.partial'));
  for (const name of ['old', 'new']) writeFileSync(join(out, '.partial', name), '');
  const hours = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(out, '.partial/old'), hours, hours);
  const files = await open(out);
  await files.close();
  expect(readdirSync(join(out, '.partial'))).toEqual(['new']);
  expect(existsSync(out)).toBe(true);
});

test('policy: an output directory that is a file is an io_error', async () => {
  const out = join(temporaryDirectory(), 'file');
  writeFileSync(out, '');
  expect(await PageFiles.open(out, createManualClock())).toMatchObject({
    ok: false,
    error: {code: 'io_error'},
  });
});

const nameOf = (url: string): string => pageFileName(canonicalizeUrl(url), 'md');

describe('the name of a page file', () => {
  test.each([
    ['https://example.com/', 'example.com/'],
    ['https://example.com/Docs/Getting_Started.html?a=b', 'example.com/docs-getting-started-'],
    ['http://example.com:8080/x', 'example.com_8080/x-'],
    ['http://[2001:db8::1]/x', '_2001_db8_1_/x-'],
    ['https://example.com/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 'example.com/etc-passwd-'],
    ['https://example.com/a%00b%0Ac', 'example.com/a-b-c-'],
    ['https://example.com/%E0%A4%A', 'example.com/e0-a4-a-'],
    ['https://example.com/%F0%9F%98%80', 'example.com/'],
    ['https://con/x', '_con/x-'],
    ['https://aux.example./x', '_aux.example/x-'],
    [`https://example.com/${'long-'.repeat(100)}`, `example.com/${'long-'.repeat(12)}`],
  ])('policy: %j is kept as %j and its digest', (url, start) => {
    expect(nameOf(url)).toBe(`${start}${urlDigest(canonicalizeUrl(url))}.md`);
  });

  test('policy: addresses that differ have names that differ, without regard to case', () => {
    const names = ['/a', '/A', '/a?b', '/a?B', '/a/', '/%61b', '/ab'].map(path =>
      nameOf(`https://e.com${path}`),
    );
    // %61 is an a.
    expect(new Set(names.map(name => name.toLowerCase())).size).toBe(6);
  });

  test('policy: no address leads out of the directory, to a hidden file or to a device', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '%2f',
      '%5c',
      'con',
      'nul.txt',
      'a',
      '%00',
      ':',
      '~',
      '*',
      'É',
      '-',
    );
    const paths = fc.array(part, {maxLength: 12}).map(parts => parts.join(''));
    const hosts = fc.constantFrom('e.com', 'nul.e.com', 'lpt1', '[::1]', 'xn--nxasmq6b', 'com1.', '-.e.com');
    fc.assert(
      fc.property(hosts, paths, (host, path) => {
        const name = nameOf(`https://${host}/${path}`);
        expect(name).toMatch(/^[a-z0-9_-][a-z0-9._-]*\/[a-z0-9-]+\.md$/);
        expect(name).not.toMatch(/^(?:con|nul|lpt1|com1)[./]/);
        expect(resolve('/out', name).startsWith(`/out${sep}`)).toBe(true);
      }),
    );
  });
});

describe('manifest', () => {
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
});
