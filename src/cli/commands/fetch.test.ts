import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import type {PathHandler, TestHttpServer} from '../../../test/support/http-server.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {answer, htmlPage, servePages} from '../../../test/support/serve-pages.ts';
import {countTokens} from '../../index.ts';

const missing: PathHandler = (_, response) => response.writeHead(404).end();

/** A site on loopback, a directory to work in, and how to call `fetch` there. */
async function fixture(pages: Readonly<Record<string, PathHandler>>, site?: TestHttpServer) {
  const server = site ?? (await servePages({'/robots.txt': missing, ...pages}));
  const {cwd, env, flags} = cliConfig(
    `[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const run = (argv: readonly string[], options: Partial<Parameters<typeof runCliHere>[1]> = {}) =>
    runCliHere(['fetch', ...argv, ...flags, '--log-level', 'silent'], {cwd, env, ...options});
  return {
    server,
    cwd,
    run,
    /** A batch over these lines. */
    batch: (lines: readonly string[], argv: readonly string[] = [], options = {}) => {
      writeFileSync(join(cwd, 'urls.txt'), `${lines.join('\n')}\n`);
      return run(['--from', 'urls.txt', '--out', 'out', '--delay', '0', ...argv], options);
    },
    files: () =>
      readdirSync(join(cwd, 'out'), {recursive: true, withFileTypes: true})
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name).slice(cwd.length + 5))
        .sort(),
    read: (file: string) => readFileSync(join(cwd, 'out', file), 'utf8'),
    manifest: () => records(readFileSync(join(cwd, 'out', 'manifest.jsonl'), 'utf8')),
  };
}

function records(text: string) {
  return text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

describe('fetch --outline', () => {
  const body = '<h1>Head</h1><p>Before it.</p><h2>One <em>two</em></h2><p>Text.</p><pre># no heading</pre>';

  test('policy: the headings as a tree, exact tokens to their left, the whole at the bottom', {
    tags: 'slow',
  }, async () => {
    const {server, run} = await fixture({'*': htmlPage(body)});
    const {code, stdout} = await run(['--outline', `${server.origin}/`]);
    expect(code).toBe(0);
    const whole = '# Head\n\nBefore it.\n\n## One *two*\n\nText.\n\n```\n# no heading\n```';
    const own = countTokens('# Head\n\nBefore it.');
    const below = countTokens('## One *two*\n\nText.\n\n```\n# no heading\n```');
    const total = countTokens(whole);
    expect(stdout).toBe(
      [
        'Page',
        `${server.origin}/`,
        '',
        'own  with below  tokens',
        `${String(own).padStart(3)}  ${String(total).padStart(10)}  Head`,
        `${String(below).padStart(3)}                One *two*`,
        `     ${String(total).padStart(10)}  the whole page`,
        '',
      ].join('\n'),
    );
  });

  test('policy: as JSON one line for each page; a failure is its envelope and exit code 1', {
    tags: 'slow',
  }, async () => {
    const {server, run} = await fixture({'/': htmlPage(body)});
    const {code, stdout} = await run(['--outline', '--json', `${server.origin}/`, `${server.origin}/gone`]);
    expect(code).toBe(1);
    expect(records(stdout)).toMatchObject([
      {
        requested_url: `${server.origin}/`,
        title: 'Page',
        sections: [{heading: 'Head', level: 1, sections: [{heading: 'One *two*', level: 2, sections: []}]}],
      },
      {code: 'http_4xx', details: {status: 404}},
    ]);
  });

  test('policy: a large page is told whole, though a model would be shown a part', async () => {
    const {server, run} = await fixture({
      '*': answer('text/plain', `# A\n\n${'word '.repeat(60_000)}\n\n# B\n`),
    });
    const [page] = records((await run(['--outline', '--json', `${server.origin}/`])).stdout);
    expect(page.total_tokens).toBeGreaterThan(60_000);
    expect(page.sections).toHaveLength(2);
  });
});

describe('fetch --from', () => {
  test('policy: one file for each page with what is known of it, one line of the manifest for each address', async () => {
    const {server, batch, files, read, manifest} = await fixture({
      '/a': htmlPage('<h1>Head</h1><p>Text.</p>'),
      '/b/c.html': htmlPage('<p>Other</p>'),
    });
    const urls = [`${server.origin}/a`, `${server.origin}/b/c.html?q=1`, `${server.origin}/gone`];
    const {code, stdout, stderr} = await batch(['# a list', ...urls, '', `${urls[0]}#part`, 'no address']);
    expect({code, stderr}).toEqual({code: 1, stderr: ''});
    const lines = records(stdout);
    expect(lines.at(-1)).toMatchObject({
      summary: {
        listed: 4,
        duplicates: 1,
        fetched: 2,
        failed: 2,
        left: 0,
        list_read: true,
        errors: {http_4xx: 1, invalid_url: 1},
      },
    });
    expect(manifest()).toEqual(lines.slice(0, -1));
    const byUrl = new Map(manifest().map(record => [record.url, record]));
    expect(byUrl.get(urls[0])).toMatchObject({
      status: 'ok',
      title: 'Page',
      final_url: urls[0],
      cached: false,
    });
    expect(byUrl.get(urls[2])).toMatchObject({status: 'failed', code: 'http_4xx', details: {status: 404}});
    expect(byUrl.get('no address')).toMatchObject({code: 'invalid_url', line: 7});
    const keys = urls.map(url => Object.keys(byUrl.get(url)).join(' '));
    expect(keys[0]).toBe('url status file final_url title tokens bytes cached fetched_at time duration_ms');
    expect(keys[2]).toBe('url status code message retryable details attempts time duration_ms');
    const {file, bytes} = byUrl.get(urls[0]);
    expect(files()).toEqual([file, byUrl.get(urls[1]).file, 'manifest.jsonl'].sort());
    expect(Buffer.byteLength(read(file))).toBe(bytes);
    expect(read(file)).toMatch(
      /^---\nurl: "http:.*\/a"\ntitle: "Page"\nlanguage: "en"\nfetched_at: "20.*"\nrendering_method: "http"\ntokens: \d+\n---\n\n# Head\n\nText\.\n$/,
    );
  });

  test('policy: what a page calls itself cannot leave its line', async () => {
    const title = 'T"\n---\nadmin: true';
    const {server, batch, read, manifest} = await fixture({
      '*': answer('text/html', `<title>${title}</title><p>x`),
    });
    await batch([`${server.origin}/`]);
    const text = read(manifest()[0].file);
    expect(text.split('\n').filter(line => line === '---')).toHaveLength(2);
    expect(text).toContain('title: "T\\" --- admin: true"');
  });

  test('policy: a whole page is kept, and with --json the whole response', {tags: 'slow'}, async () => {
    const {server, batch, read, manifest} = await fixture({
      '*': answer('text/plain', 'word '.repeat(60_000)),
    });
    await batch([`${server.origin}/`]);
    await batch([`${server.origin}/`], ['--json', '--max-chunk-tokens', '2048']);
    const [markdown, json] = manifest();
    expect(read(markdown.file).length).toBeGreaterThan(299_000);
    expect(json.file).toMatch(/\.json$/);
    const response = JSON.parse(read(json.file));
    expect(response).toMatchObject({truncated: false, requested_url: `${server.origin}/`});
    expect(response.chunks.length).toBeGreaterThan(25);
    expect(json.tokens).toBe(
      response.chunks.reduce((sum: number, chunk: {token_count: number}) => sum + chunk.token_count, 0),
    );
  });

  test('policy: the same command passes over what is finished, and tries again what may end otherwise', async () => {
    let broken = true;
    const {server, batch, manifest} = await fixture({
      '/good': htmlPage('<p>good'),
      '/weak': (request, response) => {
        if (broken) response.writeHead(500).end();
        else htmlPage('<p>well again')(request, response);
      },
    });
    const lines = ['/good', '/weak', '/gone'].map(path => server.origin + path);
    expect((await batch(lines)).code).toBe(1);
    broken = false;
    const before = server.requests.length;
    const again = await batch(lines);
    expect(again.code).toBe(0);
    expect(records(again.stdout).at(-1).summary).toMatchObject({skipped: 2, fetched: 1, failed: 0});
    expect(server.requests.slice(before)).toEqual(['GET /robots.txt', 'GET /weak']);
    expect(manifest()).toHaveLength(4);
    expect(records((await batch(lines)).stdout)).toMatchObject([{summary: {skipped: 3, fetched: 0}}]);
  });

  test('RFC 9110 §10.2.3 a host that asks for a pause gets it, and the page is had afterwards', {
    tags: 'slow',
  }, async () => {
    const times: number[] = [];
    const {server, batch} = await fixture({
      '*': (request, response) => {
        times.push(performance.now());
        if (times.length === 1) response.writeHead(429, {'Retry-After': '1'}).end();
        else htmlPage('<p>good')(request, response);
      },
    });
    const {code, stdout} = await batch([`${server.origin}/a`, `${server.origin}/b`], ['--per-host', '1']);
    expect(code).toBe(0);
    // Which of the two goes first after the pause is open.
    for (const url of [`${server.origin}/a`, `${server.origin}/b`]) {
      expect(records(stdout)).toContainEqual(expect.objectContaining({status: 'ok', url}));
    }
    expect(times).toHaveLength(3);
    // A timer may be a millisecond early.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
  });

  test('policy: a host that wants to be left alone for long is set aside, and others go on', async () => {
    let refuse = true;
    const {server, batch, manifest} = await fixture({
      '*': (request, response) => {
        const refused = refuse && request.headers.host?.startsWith('127.0.0.1:');
        if (refused) response.writeHead(503, {'Retry-After': '3600'}).end();
        else htmlPage('<p>good')(request, response);
      },
    });
    const other = server.origin;
    const busy = ['/a', '/b', '/c'].map(path => other + path);
    const first = await batch(busy, ['--per-host', '1']);
    expect(first.code).toBe(1);
    expect(records(first.stdout).at(-1).summary).toMatchObject({
      failed: 1,
      failed_retryable: 1,
      left: 2,
      set_aside: [{host: '127.0.0.1', wait_sec: 3600}],
    });
    expect(manifest()).toMatchObject([{status: 'failed', code: 'http_5xx', retryable: true}]);
    refuse = false;
    expect((await batch(busy)).code).toBe(0);
  });

  test('policy: an interrupted batch ends with 130, keeps what it has, and goes on from there', async () => {
    const interrupt = new AbortController();
    const {server, batch, manifest} = await fixture({
      '/robots.txt': missing,
      '/good': htmlPage('<p>good'),
      // Never answered: the interrupt is what ends it.
      '/hangs': () => {},
    });
    const lines = ['/good', '/hangs', '/later'].map(path => server.origin + path);
    const {code, stdout} = await batch(lines, ['--concurrency', '2', '--per-host', '1'], {
      signal: interrupt.signal,
      onStdout: () => interrupt.abort(),
    });
    expect(code).toBe(130);
    expect(records(stdout).at(-1).summary).toMatchObject({fetched: 1, failed: 0, left: 2});
    expect(manifest()).toMatchObject([{status: 'ok'}]);
    const rest = await batch(lines.toSpliced(1, 1));
    expect(records(rest.stdout).at(-1).summary).toMatchObject({skipped: 1, failed: 1, left: 0});
  });

  test('policy: the list may come from standard input', async () => {
    const {server, run} = await fixture({'*': htmlPage('<p>good')});
    const {code, stdout} = await run(['--from', '-', '--out', 'out'], {input: `${server.origin}/a\n`});
    expect(code).toBe(0);
    expect(records(stdout)).toMatchObject([{status: 'ok'}, {summary: {fetched: 1}}]);
  });

  test('policy: what a terminal shows is sentences, with what to do next', async () => {
    const {server, batch} = await fixture({
      '/a': htmlPage('<p>good'),
      '/b': (_, response) => response.writeHead(500).end(),
    });
    const {stdout} = await batch(
      ['/a', '/b', '/c'].map(path => server.origin + path),
      [],
      {answers: []},
    );
    const shown = stdout.split('\r').at(-1) ?? '';
    expect(shown).toMatch(
      /^1 page of 3 in \d+s: \d+ B, 1 tokens, in out\n {2}2 failed: http_4xx 1, http_5xx 1\n/,
    );
    expect(shown).toContain('The same command tries 1 of the failed ones again.\n');
  });

  test('policy: where nothing can be written the batch ends and says so', async () => {
    const {server, cwd, batch} = await fixture({'*': htmlPage('<p>good')});
    writeFileSync(join(cwd, 'out'), 'a file');
    const {code, stderr} = await batch([`${server.origin}/a`]);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({code: 'io_error'});
    expect(server.requests).toEqual([]);
  });

  test.each([
    [['--from', 'x'], '--out'],
    [['--out', 'x', 'https://e.com/'], '--out goes with --from'],
    [['--delay', '5', 'https://e.com/'], '--delay goes with --from'],
    [['--from', 'x', '--out', 'y', 'https://e.com/'], 'not both'],
    [['--from', 'x', '--out', 'y', '--outline'], '--outline'],
    [['--from', 'x', '--out', 'y', '--concurrency', '0'], 'from 1 to 256'],
    [['--from', 'x', '--out', 'y', '--per-host', '65'], 'from 1 to 64'],
    [['--from', '/nonexistent/list', '--out', 'y'], 'ENOENT'],
    [['--from', '/etc', '--out', 'y'], 'is a directory'],
  ])('policy: fetch %j is wrong usage', async (argv, text) => {
    const {code, stderr} = await runCliHere(['fetch', ...argv]);
    expect({code, stderr}).toEqual({code: 2, stderr: expect.stringContaining(text)});
  });
});

test('policy: a page without text is a success, and says what may help', async () => {
  const {server, run} = await fixture({'*': htmlPage('<script src="x"></script>')});
  expect(await run([`${server.origin}/`])).toEqual({
    code: 0,
    stdout: '',
    stderr: `${server.origin}/ has no text. A script may make it: try --force-browser.\n`,
  });
});
