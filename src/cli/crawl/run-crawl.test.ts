import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {type MemoryFrontier, memoryFrontier} from '../../../test/support/memory-frontier.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {fail, ok} from '../../core/result.ts';
import type {PageReader, ReadPage} from '../toolbox-services.ts';

const A = 'https://a.example/';
const B = 'https://b.example/';

/** `forge-tools crawl …` with a job in memory and pages that are there. */
function world(job: MemoryFrontier, given: Partial<PageReader> = {}) {
  const {cwd, env, flags} = cliConfig('[tools.hub]\nurl = "redis://127.0.0.1:1"\n');
  const jobs: string[] = [];
  const ownHosts: (readonly string[] | undefined)[] = [];
  let closed = 0;
  const reader: Partial<PageReader> = {
    read: async ({url}) =>
      ok({
        markdown: `The text of ${url}.`,
        response: {final_url: url, fetched_at: '2026-01-01T00:00:00.000Z', chunks: [], notes: []},
      } as unknown as ReadPage),
    close: async () => {
      closed += 1;
    },
    ...given,
  };
  const run = (argv: readonly string[], signal?: AbortSignal) =>
    runCliHere(['crawl', ...argv, '--job', 'docs', ...flags, '--log-level', 'silent'], {
      cwd,
      env,
      ...(signal && {signal}),
      services: {
        openFrontier: async (_, name) => {
          jobs.push(name);
          return ok({
            frontier: job,
            close: async () => {
              closed += 1;
            },
          });
        },
        openPageReader: (_, deps) => {
          ownHosts.push(deps.ownHosts);
          return reader as PageReader;
        },
      },
    });
  const list = (...lines: readonly string[]): string => {
    writeFileSync(join(cwd, 'urls.txt'), lines.join('\n'));
    return 'urls.txt';
  };
  return {run, list, cwd, jobs, ownHosts, closed: () => closed};
}

const lastLine = (text: string): unknown => JSON.parse(text.trim().split('\n').at(-1) ?? '');

test('red team G5: a worker has rights at the hosts of its command line, and at no others', async () => {
  const {run, ownHosts} = world(memoryFrontier([A]));
  await run(['work', '--out', 'results']);
  await run(['work', '--out', 'results', '--own-hosts', 'wiki.example.com,localhost']);
  expect(ownHosts).toEqual([[], ['wiki.example.com', 'localhost']]);
});

test('S1 work writes what it fetched into a file of its own, and closes what it opened', async () => {
  const {run, cwd, closed} = world(memoryFrontier([A, B]));
  const {code, stdout} = await run(['work', '--out', 'results']);
  expect(code).toBe(0);
  expect(lastLine(stdout)).toMatchObject({job: 'docs', fetched: 2, failed: 0, state: 'finished', late: 0});
  const [name = '', ...others] = readdirSync(join(cwd, 'results'));
  expect(others).toEqual([]);
  expect(name).toMatch(/^docs\.[0-9a-f]{12}\.jsonl$/);
  const lines = readFileSync(join(cwd, 'results', name), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map(line => JSON.parse(line).url).sort()).toEqual([A, B]);
  expect(closed()).toBe(2);
});

test('S1 work says once what keeps it waiting, and ends where it is told to', async () => {
  const job = memoryFrontier([A]);
  job.state = 'paused';
  const stop = new AbortController();
  const {run} = world(job);
  const working = run(['work', '--out', 'results'], stop.signal);
  await expect
    .poll(() => job.calls.filter(call => call === 'take').length, {timeout: 10_000})
    .toBeGreaterThan(2);
  stop.abort();
  const {code, stderr} = await working;
  expect(code).toBe(130);
  expect(stderr.match(/The job is paused/g)).toHaveLength(1);
});

test('S1 work that cannot write its results takes nothing', async () => {
  const job = memoryFrontier([A]);
  const {run, cwd} = world(job);
  writeFileSync(join(cwd, 'file'), '');
  const {code, stderr} = await run(['work', '--out', 'file']);
  expect(code).toBe(1);
  expect(stderr).toContain('io_error');
  expect(job.calls).toEqual([]);
});

test('S1 start adds a list once, says what of it is no address, and then that it was read', async () => {
  const job = memoryFrontier([B]);
  const {run, list} = world(job);
  const file = list(A, B, 'no address', `${A}#part`, '', '# a comment');
  const {code, stdout, stderr} = await run(['start', file, '--delay', '5', '--tries', '2', '--lease', '30']);
  expect(code).toBe(1);
  expect(lastLine(stdout)).toEqual({job: 'docs', listed: 4, added: 1, known: 2, finished: 0, invalid: 1});
  expect(stderr).toContain('Line 3 of the list');
  const [start, ...rest] = job.calls;
  expect(start).toContain('"gapMs":5,"perHost":1,"leaseMs":30000');
  expect(rest.at(-1)).toBe('listed');
});

test('S1 start leaves out what results hold, but for failures that may pass', async () => {
  const job = memoryFrontier([]);
  const {run, list, cwd} = world(job);
  const facts = {depth: 0, time: '2026-01-10T12:00:00.000Z', duration_ms: 1, attempts: 1};
  const line = (url: string, retryable: boolean): string =>
    JSON.stringify({url, status: 'failed', code: 'http_4xx', message: 'm', retryable, details: {}, ...facts});
  mkdirSync(join(cwd, 'results'));
  writeFileSync(
    join(cwd, 'results', 'docs.0123456789ab.jsonl'),
    `${line(A, false)}\n${line(B, true)}\n{"url":`,
  );
  const {stdout} = await run(['start', list(A, B), '--results', 'results']);
  expect(lastLine(stdout)).toMatchObject({added: 1, finished: 1});
  expect(job.waiting.map(({url}) => url)).toEqual([B]);
  expect((await run(['start', list(A), '--results', 'nowhere'])).code).toBe(2);
});

test('S1 start takes sitemaps, and says which of them could not be had', async () => {
  const job = memoryFrontier([]);
  async function* sitemap() {
    yield {url: A};
    yield {file: `${A}gone.xml`, failure: fail('http_4xx', 'The server answered 404.').error};
  }
  const {run} = world(job, {sitemap});
  const {code, stderr} = await run(['start', '--sitemap', `${A}robots.txt`]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Sitemap ${A}gone.xml: The server answered 404.`);
  expect(job.waiting.map(({url}) => url)).toEqual([A]);
});

test('S1 start that is interrupted does not say that its list was read', async () => {
  const job = memoryFrontier([]);
  const {run, list} = world(job);
  const {code} = await run(['start', list(A)], AbortSignal.abort());
  expect(code).toBe(130);
  expect(job.calls.some(call => call === 'listed')).toBe(false);
});

test.each([
  [['start'], 'needs a list'],
  [['start', 'a', 'b'], 'takes one FILE'],
  [['start', 'urls.txt', '--same-site'], 'goes with --depth'],
  [['start', 'nowhere.txt'], 'cannot be read'],
  [['start', '.'], 'is a directory'],
  [['start', 'urls.txt', '--lease', '4'], '--lease'],
  [['work'], 'needs --out'],
  [['work', '--out', 'o', '--delay', '5'], 'takes no --delay'],
  [['work', 'x', '--out', 'o'], 'takes no arguments'],
  [['export'], 'needs the directories'],
  [['exprot'], 'Did you mean "export"?'],
])('S1 crawl %j is refused before anything is asked', async (argv, said) => {
  const job = memoryFrontier([]);
  const {run, list} = world(job);
  list(A);
  const {code, stderr} = await run(argv);
  expect({code, stderr}).toMatchObject({code: 2, stderr: expect.stringContaining(said)});
  expect(job.calls).toEqual([]);
});

test('S1 a job is paused, goes on, is shown and cancelled, and what is not there is said', async () => {
  const job = memoryFrontier([A]);
  const {run} = world(job);
  expect((await run(['pause'])).stderr).toContain('Job docs is paused');
  expect(lastLine((await run(['status', '--json'])).stdout)).toMatchObject({job: 'docs', state: 'paused'});
  expect((await run(['resume'])).stderr).toContain('goes on');
  expect((await run(['status'])).stdout).toContain('docs: running, 0 of 1 (0%)');
  expect((await run(['cancel'])).stderr).toContain('Results are kept');
  expect(await run(['resume'])).toMatchObject({code: 1, stderr: expect.stringContaining('was cancelled')});
  job.state = 'gone';
  for (const verb of ['pause', 'resume', 'status', 'cancel'])
    expect(await run([verb])).toMatchObject({code: 1, stderr: expect.stringContaining('has no job')});
  job.failures.push(fail('hub_unavailable', 'The hub did not answer.'));
  expect(await run(['status'])).toMatchObject({code: 1, stderr: expect.stringContaining('hub_unavailable')});
});

test('S1 an export needs no engine, and its file is whole or not there', async () => {
  const {run, cwd, jobs} = world(memoryFrontier([A, B]));
  await run(['work', '--out', 'results']);
  jobs.length = 0;
  expect((await run(['export', 'results', '--to', 'all.jsonl'])).code).toBe(0);
  const lines = readFileSync(join(cwd, 'all.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map(line => JSON.parse(line).url).sort()).toEqual([A, B]);
  const {stdout, stderr} = await run(['export', 'results']);
  expect(stdout.trim().split('\n').sort()).toEqual(lines.sort());
  expect(lastLine(stderr)).toEqual({exported: {files: 1, pages: 2, failed: 0, repeated: 0}});
  expect(jobs).toEqual([]);
  expect((await run(['export', 'results', '--to', 'results'])).code).toBe(1);
  expect(readdirSync(cwd).filter(name => name.includes('.partial'))).toEqual([]);
  expect((await run(['export', 'nowhere'])).code).toBe(1);
});
