import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {runBuiltCli} from '../support/run-built-cli.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const html =
  (body: string): PathHandler =>
  (_, response) =>
    response.writeHead(200, {'Content-Type': 'text/html'}).end(body);

async function serve(handlers: Readonly<Record<string, PathHandler>>): Promise<TestHttpServer> {
  const server = await startHttpServer(handlers);
  onTestFinished(() => server.close());
  return server;
}

/** A configuration file that lets the command reach the test's server. */
function configFor(server: TestHttpServer, more = ''): string {
  const directory = temporaryDirectory();
  const file = join(directory, 'config.toml');
  writeFileSync(
    file,
    `[tools.webfetch]
cache_dir = ${JSON.stringify(join(directory, 'cache'))}
${more}
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${server.port}]
`,
  );
  return file;
}

describe('forge-tools fetch', () => {
  test('piped: the Markdown and nothing else', async () => {
    const server = await serve({'*': html('<title>T</title><h1>Head</h1><p>Some <b>text</b>.')});
    const result = await runBuiltCli(['fetch', `${server.origin}/`, '--config', configFor(server)]);
    expect(result).toMatchObject({code: 0, stdout: '# Head\n\nSome **text**.\n'});
  });

  test('review B3: piped, the document itself, of which the chunks are pieces, however large', async () => {
    const code = Array.from({length: 4000}, (_, at) => `line ${at} of a listing that is long`).join('\n');
    const paragraph = 'One sentence after the other. '.repeat(400).trim();
    const rows = Array.from({length: 300}, (_, at) => `<tr><td>${at}</td><td>cell</td></tr>`).join('');
    const server = await serve({
      '*': html(
        `<h1>Head</h1><pre>${code}</pre><p>${paragraph}</p><table><tr><th>A</th><th>B</th></tr>${rows}</table>`,
      ),
    });
    const args = ['fetch', `${server.origin}/`, '--max-chunk-tokens', '128', '--config', configFor(server)];
    const {code: exitCode, stdout} = await runBuiltCli(args);
    expect(exitCode).toBe(0);
    expect(Buffer.byteLength(stdout)).toBeGreaterThan(102_400);
    const table = Array.from({length: 300}, (_, at) => `| ${at} | cell |`).join('\n');
    expect(stdout).toBe(
      `# Head\n\n\`\`\`\n${code}\n\`\`\`\n\n${paragraph}\n\n| A | B |\n|---|---|\n${table}\n`,
    );
  });

  test('policy: --json of a page that does not fit has an exit code of its own, and says so', async () => {
    const server = await serve({'*': html(`<p>${'word '.repeat(40_000)}</p>`)});
    const {code, stdout, stderr} = await runBuiltCli([
      'fetch',
      '--json',
      `${server.origin}/`,
      ...['--config', configFor(server), '--log-level', 'silent'],
    ]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({truncated: true, truncation_reason: 'tool_output_limit'});
    expect(stderr).toContain('tools.output.max_bytes. Raise it, or leave out --json');
  });

  test('--json: the exact response object on one line', async () => {
    const server = await serve({'*': html('<title>T</title><p>text')});
    const args = ['fetch', '--json', '--max-chunk-tokens', '256', `${server.origin}/?q=1`];
    const result = await runBuiltCli([...args, '--config', configFor(server), '--log-level', 'info']);
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({
      requested_url: `${server.origin}/?q=1`,
      title: 'T',
      chunks: [{heading: '', text: 'text', token_count: 1}],
      notes: [],
    });
    expect(result.stdout).toBe(`${JSON.stringify(JSON.parse(result.stdout))}\n`);
    // FR-WF-19c: where a level is asked for, stderr is JSON lines, and the query string is in none of them.
    const logs = result.stderr.trim().split('\n');
    expect(logs.map(line => JSON.parse(line).event)).toEqual([
      'config_warning',
      'fetch_start',
      'fetch_complete',
    ]);
    expect(result.stderr).not.toContain('q=1');
  });

  test('a failure: the envelope and exit code 1', async () => {
    const server = await serve({});
    const config = configFor(server);
    const plain = await runBuiltCli([
      'fetch',
      'http://10.0.0.1/',
      '--config',
      config,
      '--log-level',
      'silent',
    ]);
    expect(plain).toMatchObject({code: 1, stdout: ''});
    expect(JSON.parse(plain.stderr)).toMatchObject({code: 'port_blocked'});
    const json = await runBuiltCli(['fetch', 'http://127.0.0.1/', '--json', '--log-level', 'silent']);
    expect(json).toMatchObject({code: 1, stderr: ''});
    expect(JSON.parse(json.stdout)).toMatchObject({code: 'ssrf_blocked', retryable: false});
  });

  test('several URLs are fetched at the same time and printed in order', async () => {
    const waiting: (() => void)[] = [];
    const together: PathHandler = (request, response) => {
      waiting.push(() => html(`<p>page ${request.url}`)(request, response));
      // Nobody is answered before all three have asked.
      if (waiting.length === 3) for (const answer of waiting.toReversed()) answer();
    };
    const server = await serve({
      '/robots.txt': (_, response) => response.writeHead(404).end(),
      '*': together,
    });
    const urls = ['/a', '/b', '/c'].map(path => server.origin + path);
    const config = configFor(server);
    const {code, stdout} = await runBuiltCli(['fetch', ...urls, '--json', '--config', config]);
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.map(line => JSON.parse(line).chunks[0].text)).toEqual(['page /a', 'page /b', 'page /c']);
    const piped = await runBuiltCli(['fetch', ...urls.slice(0, 2), '--config', config]);
    expect(piped.stdout).toBe(`Source: ${urls[0]}\n\npage /a\n\n---\n\nSource: ${urls[1]}\n\npage /b\n`);
  });

  test('one bad URL among good ones fails the command and not the others', async () => {
    const server = await serve({'*': html('<p>good')});
    const args = [
      'fetch',
      '--json',
      'http://10.1.1.1:9/',
      `${server.origin}/`,
      '--config',
      configFor(server),
    ];
    const {code, stdout} = await runBuiltCli(args);
    expect(code).toBe(1);
    const [first, second] = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(first).toMatchObject({code: 'port_blocked'});
    expect(second).toMatchObject({chunks: [{text: 'good'}]});
  });

  test('a cache directory that is a file costs nothing but a log line', async () => {
    const server = await serve({'*': html('<p>good')});
    const file = configFor(server);
    const config = configFor(server, '').replace(/config\.toml$/, 'broken.toml');
    writeFileSync(
      config,
      readFileSync(file, 'utf8').replace(/cache_dir = .*/, `cache_dir = ${JSON.stringify(file)}`),
    );
    const result = await runBuiltCli(['fetch', `${server.origin}/`, '--config', config]);
    expect(result).toMatchObject({code: 0, stdout: 'good\n'});
  });
});

describe('usage and configuration', () => {
  test.each([
    [[], 2, 'Usage: forge-tools'],
    [['--help'], 0, 'Commands:'],
    [['fetch', '--help'], 0, '--max-chunk-tokens N'],
    [['help', 'fetch'], 0, 'Usage: forge-tools fetch URL'],
  ])('%j prints help', async (argv, code, text) => {
    const result = await runBuiltCli(argv);
    expect(result.code).toBe(code);
    expect(result.stdout).toContain(text);
  });

  test('--version is the version of the package', async () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await runBuiltCli(['--version'])).toEqual({code: 0, stdout: `${manifest.version}\n`, stderr: ''});
  });

  test.each([
    [['fetsh'], 'no command "fetsh"'],
    [['fetch'], 'at least one URL'],
    [['fetch', 'https://e.com/', '--max-chunk-tokens', '12x'], '--max-chunk-tokens takes a whole number'],
    [['fetch', 'https://e.com/', '--max-chunk-tokens', '99'], 'from 128 to 2048'],
    [['fetch', 'https://e.com/', '--nonsense'], '--nonsense'],
    [['fetch', 'https://e.com/', '--log-level', 'loud'], '--log-level takes one of'],
  ])('%j is wrong usage: exit code 2 and a sentence', async (argv, text) => {
    const result = await runBuiltCli(argv);
    expect(result).toMatchObject({code: 2, stdout: ''});
    expect(result.stderr).toContain(text);
    expect(result.stderr).toContain('--help');
  });

  test('T-WF-SSRF-11 an insecure configuration does not start: exit code 3', async () => {
    const file = join(temporaryDirectory(), 'config.toml');
    writeFileSync(file, '[tools.webfetch.security]\nblock_loopback = false\n');
    const result = await runBuiltCli(['fetch', 'http://127.0.0.1/', '--config', file]);
    expect(result).toMatchObject({code: 3, stdout: ''});
    expect(result.stderr).toBe(
      'Configuration error: SSRF protection cannot be disabled without allow_insecure_overrides=true\nAffected settings: block_loopback=false\n',
    );
  });

  test('a missing configuration file is a problem', async () => {
    const result = await runBuiltCli(['fetch', 'http://127.0.0.1/', '--config', '/nonexistent/config.toml']);
    expect(result).toMatchObject({code: 3});
    expect(result.stderr).toContain('/nonexistent/config.toml');
  });
});

describe('forge-tools demo', () => {
  test('every step goes as recorded or names what is missing, and the report is there', async () => {
    const {code, stdout, stderr} = await runBuiltCli(['demo']);
    onTestFinished(() => {
      const left = /^Nothing else is left behind than (.*)\.$/m.exec(stdout)?.[1];
      if (left !== undefined) rmSync(left, {recursive: true});
    });
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).not.toContain('NOT as recorded');
    expect(stdout).toMatch(
      /^(?:14 of 14 steps went as recorded\.|1[1-3] of 14 .* need what this machine lacks)/m,
    );
    expect(stdout).toMatch(/^6 things were blocked:\n {2}⊘ a read of \/etc\/passwd/m);
    expect(stdout).not.toContain('opened in your browser');
    const report = /^(\/.*report\.html)$/m.exec(stdout)?.[1] ?? '';
    expect(readFileSync(report, 'utf8')).toContain('patch_hunk_fail');
  });
});
