import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {type CliOptions, runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock, timestamp} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import {openDiskCache} from '../../web/cache/disk-cache.ts';

const URL_A = 'https://a.example/page?q=1';
const DAY_MS = 86_400_000;

/** A cache with a fresh page and one that has expired, and how to call the command on it. */
async function fixture() {
  const directory = join(temporaryDirectory(), 'cache');
  const {flags} = cliConfig();
  const env = {};
  const cache = openDiskCache({
    directory,
    ttlDays: 7,
    maxEntries: 100,
    maxBytes: 2 ** 30,
    clock: systemClock,
    log: silentLog,
  });
  const write = (url: string, ageMs: number, markdown: string): Promise<boolean> =>
    cache.write({
      canonical_url: url,
      rendering_method: 'http',
      fetched_at: timestamp(systemClock.now() - ageMs),
      notes: [],
      extracted: {markdown, title: 'A \u001b[31mtitle'},
    });
  await write(URL_A, 3_600_000, '# Head\n\nText \u001b]0;x\u0007.\n');
  await write('https://b.example/', 9 * DAY_MS, 'old');
  writeFileSync(flags[1] ?? '', `[tools.webfetch]\ncache_dir = ${JSON.stringify(directory)}\n`);
  return {
    directory,
    run: (argv: readonly string[], options: CliOptions = {}) =>
      runCliHere(['cache', ...argv, ...flags], {env, ...options}),
  };
}

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));

describe('forge-tools cache', () => {
  test('policy: stats say how full it is, as text and as JSON', async () => {
    const {run, directory} = await fixture();
    const {code, stdout} = await run(['stats']);
    expect(code).toBe(0);
    expect(stdout).toContain(`directory  ${directory}\n`);
    expect(stdout).toContain('pages      2 of at most 10,000\n');
    expect(stdout).toContain('fresh      1\nstale      1\n');
    expect(stdout).toMatch(/hosts {6}1 {2}a\.example {2}\d+ B\n/);
    expect(lines((await run(['stats', '--json'])).stdout)).toMatchObject([{entries: 2, fresh: 1, stale: 1}]);
  });

  test('policy: list has one line for each page, the latest first', async () => {
    const {run} = await fixture();
    expect((await run(['list'])).stdout).toMatch(
      /^1h {2}fresh {2}\d+ B {2}http {5}https:\/\/a\.example\/page\?q=1\n9d {2}stale {2}\d+ B {2}http {5}https:\/\/b\.example\/\n$/,
    );
    expect(lines((await run(['list', '--json'])).stdout)).toMatchObject([
      {url: URL_A, fresh: true},
      {url: 'https://b.example/', fresh: false},
    ]);
  });

  test('policy: show has the Markdown in a pipe, facts with it on a terminal, the entry as JSON', async () => {
    const {run} = await fixture();
    expect((await run(['show', `${URL_A}#part`])).stdout).toBe('# Head\n\nText \u001b]0;x\u0007.\n');
    const {stdout} = await run(['show', URL_A], {answers: []});
    expect(stdout).toMatch(/^A \[31mtitle\nhttps:\/\/a\.example\/page\?q=1\nfetched {4}20.* \(1h ago\)\n/);
    expect(stdout).toMatch(/\n\n# Head\n\nText \]0;x\.\n$/);
    expect((await run(['show', 'https://b.example/'], {answers: []})).stdout).toContain('(stale: ');
    expect(lines((await run(['show', URL_A, '--json'])).stdout)).toMatchObject([
      {canonical_url: URL_A, extracted: {markdown: '# Head\n\nText \u001b]0;x\u0007.\n'}},
    ]);
  });

  test('policy: show of what is not there, or is no URL, is a failure that says what to do', async () => {
    const {run} = await fixture();
    const missing = await run(['show', 'https://a.example/other?secret=1']);
    expect(missing).toMatchObject({code: 1, stdout: ''});
    expect(JSON.parse(missing.stderr)).toMatchObject({code: 'file_not_found'});
    expect(missing.stderr).toContain('cache list');
    expect(missing.stderr).not.toContain('secret');
    expect(JSON.parse((await run(['show', 'nonsense'])).stderr)).toMatchObject({code: 'invalid_url'});
  });

  test('policy: prune drops what has expired and says what it freed', async () => {
    const {run} = await fixture();
    expect((await run(['prune'])).stdout).toMatch(
      /^Removed 1 page, \d+ B freed \(1 expired\); 1 left, \d+ B\.\n$/,
    );
    expect(lines((await run(['prune', '--json'])).stdout)).toMatchObject([{removed: {expired: 0}, kept: 1}]);
  });

  test('policy: clear asks at a terminal, and does nothing without a yes', async () => {
    const {run, directory} = await fixture();
    const no = await run(['clear'], {answers: ['']});
    expect(no).toMatchObject({code: 1, stdout: ''});
    expect(no.stderr).toMatch(/^Remove 2 cached pages \(\d+ B\) in .*\? \[y\/N\] Nothing was removed\.\n$/);
    expect(lines((await run(['stats', '--json'])).stdout)).toMatchObject([{entries: 2}]);
    const yes = await run(['clear'], {answers: ['y']});
    expect(yes).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Removed 2 pages, .* 0 left, 0 B\.\n$/),
    });
    expect(existsSync(directory)).toBe(true);
    expect((await run(['list'], {answers: []})).stdout).toBe('The page cache is empty.\n');
    expect((await run(['list'])).stdout).toBe('');
  });

  test('policy: clear without a terminal needs --yes', async () => {
    const {run} = await fixture();
    expect(await run(['clear'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--yes'),
    });
    expect(lines((await run(['clear', '--yes', '--json'])).stdout)).toMatchObject([{removed: {cleared: 2}}]);
  });

  test('ruling F4 a cache that is switched off is a failure that names the setting', async () => {
    const {env, flags} = cliConfig();
    const {code, stderr} = await runCliHere(['cache', 'stats', ...flags], {env});
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({code: 'cache_read_failed'});
    expect(stderr).toContain('tools.webfetch.cache_dir');
  });

  test.each([
    [[]],
    [['look']],
    [['show']],
    [['show', 'a', 'b']],
    [['list', 'x']],
    [['list', '--yes']],
    [['toString']],
  ])('policy: cache %j is wrong usage', async argv => {
    expect(await runCliHere(['cache', ...argv])).toMatchObject({code: 2, stdout: ''});
  });
});
