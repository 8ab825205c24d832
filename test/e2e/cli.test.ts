import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {cliConfig} from '../support/cli-config.ts';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {needs} from '../support/parts.ts';
import {runBuiltCli} from '../support/run-built-cli.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
// The guard refuses it before anything is sent.
const UNKNOWN = '{"url": "http://page.invalid/"}';

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program and types `answers[text]` once `text` is on its output. */
function converse(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answers: readonly (readonly [string, string])[] = [],
): Promise<Ended> {
  const child = spawn(command, args, {
    env: {PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', ...env},
    cwd: EXAMPLES,
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const waiting = [...answers];
  let output = '';
  let from = 0;
  const listen = (part: Buffer): void => {
    output += part.toString();
    const [next] = waiting;
    if (next === undefined || !output.slice(from).includes(next[0])) return;
    waiting.shift();
    from = output.length;
    child.stdin.write(next[1]);
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({code, output}));
  });
}

describe('examples/forge_tools.py', needs('Python'), () => {
  test('policy: calls of one session run at the same time, each gets its own answer', async () => {
    const {env, flags} = cliConfig('[tools.approval]\nallowlist = ["web_fetch"]\n');
    const script = `
import json, sys
from forge_tools import ForgeTools
tools = ForgeTools("--log-level", "silent", *sys.argv[2:], command=("node", sys.argv[1]))
calls = [tools.submit("web_fetch", url=f"http://10.0.0.1/{n}") for n in range(200)]
answers = [call.result() for call in calls]
alone = tools.call("web_fetch", url="not a url")
print(json.dumps([len(answers), answers[0]["error"]["error_type"], alone["error"]["error_type"], tools.close()]))
`;
    const {code, output} = await converse('python3', ['-c', script, MAIN, ...flags], env);
    expect({code, output: JSON.parse(output)}).toEqual({
      code: 0,
      output: [200, 'ssrf_blocked', 'invalid_url', 0],
    });
  });

  test('policy: it is about thirty lines, and needs nothing but Python', async () => {
    const {output} = await converse('python3', ['-c', 'print(open("forge_tools.py").read())'], {});
    expect(output.trim().split('\n').length).toBeLessThan(35);
    expect(output.match(/^(?:import|from) .*$/gm)).toEqual([
      'import itertools, json, subprocess, threading',
      'from concurrent.futures import Future',
    ]);
  });
});

describe('forge-tools call on a terminal', needs('script'), () => {
  const onTerminal = (
    env: Readonly<Record<string, string>>,
    flags: readonly string[],
    answers: [string, string][],
  ) => {
    const command = [process.execPath, MAIN, 'call', 'web_fetch', UNKNOWN, ...flags]
      .map(word => `'${word}'`)
      .join(' ');
    return converse('script', ['-qefc', command, '/dev/null'], {...env, TERM: 'dumb'}, answers);
  };

  test('ruling H4 it asks at the prompt, and a no reaches the result with its reason', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [
      ['Allow it?', 'n\n'],
      ['Why not?', 'not that host\n'],
    ]);
    expect(code).toBe(1);
    expect(output).toContain('web_fetch http://page.invalid/ (http mode)');
    expect(output).toContain('said no: not that host');
  });

  test('ruling H4 what was allowed once is run', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [['Allow it?', 'once\n']]);
    expect(code).toBe(1);
    expect(output).toContain('dns_failed: ');
  });

  test('ruling H3 a rule that was taken, edited and kept settles the next call, in another session', async () => {
    const {env, flags} = cliConfig();
    const first = await onTerminal(env, flags, [
      ['Allow it?', 'a\n'],
      ['type another host', 'other.invalid\n'],
      ['type another host', '\n'],
      ['[k]eep it', 'k\n'],
    ]);
    expect(first.output).toContain('The rule: allow web_fetch where host is\r\n  │ "page.invalid"');
    expect(first.output).toContain('The rule does not allow this call.');
    expect(first.output).toContain('dns_failed');
    const second = await onTerminal(env, flags, []);
    expect(second.output).toContain('dns_failed');
    expect(second.output).not.toContain('Allow it?');
  });

  test('policy: Ctrl-C at the prompt is exit code 130', async () => {
    const {env, flags} = cliConfig();
    const {code, output} = await onTerminal(env, flags, [['Allow it?', '\u0003']]);
    expect(code).toBe(130);
    expect(output).toContain('cancelled');
  });
});

test('policy: a command that leaves in the middle of --jsonl leaves a run that verifies', async () => {
  const {env, flags} = cliConfig();
  const run = `${env['XDG_STATE_HOME']}/run`;
  const child = spawn(process.execPath, [MAIN, 'call', '--jsonl', '--run-dir', run, ...flags], {
    env: {PATH: process.env['PATH'], ...env},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  child.stdin.write(`{"request_id":"a","tool":"web_fetch","params":${UNKNOWN}}\n`.repeat(50));
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise(resolve => child.once('close', resolve));
  expect((await runBuiltCli(['events', 'verify', run])).code).toBe(0);
});

test('regression: many calls at the same time are no leak of listeners', async () => {
  const waiting: (() => void)[] = [];
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': (_, response) => {
      waiting.push(() => response.writeHead(200, {'Content-Type': 'text/plain'}).end('page'));
      // Nobody is answered before all have asked.
      if (waiting.length === 30) for (const answer of waiting) answer();
    },
  });
  onTestFinished(() => server.close());
  const {env, flags} = cliConfig(
    `[tools.approval]\nallowlist = ["web_fetch"]\n[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const child = spawn(process.execPath, [MAIN, 'call', '--jsonl', '--concurrency', '30', ...flags], {
    env: {PATH: process.env['PATH'], ...env},
  });
  child.stdin.end(
    Array.from({length: 30}, (_, at) => {
      const params = {url: `${server.origin}/${at}`};
      return `${JSON.stringify({request_id: String(at), tool: 'web_fetch', params})}\n`;
    }).join(''),
  );
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(out.trim().split('\n')).toHaveLength(30);
  expect(err).not.toContain('MaxListenersExceededWarning');
});

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

/** The first block of the README: commands, each with what it prints. */
const README = (
  /^```console\n([\s\S]*?)\n```$/m.exec(
    readFileSync(new URL('../../README.md', import.meta.url), 'utf8'),
  )?.[1] ?? ''
).split('\n');

describe('forge-tools demo', () => {
  test('every step goes as recorded or names what is missing, and the report is there', async () => {
    const [HOME, TMPDIR] = [temporaryDirectory(), temporaryDirectory()];
    const {code, stdout, stderr} = await runBuiltCli(['demo'], {HOME, TMPDIR});
    const left = /^Nothing else is left behind than (.*)\.$/m.exec(stdout)?.[1] ?? '';
    expect(readdirSync(HOME)).toEqual([]);
    expect(readdirSync(TMPDIR)).toEqual([basename(left)]);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect(stdout).not.toContain('NOT as recorded');
    expect(stdout).toMatch(
      /^(?:14 of 14 steps went as recorded\.|1[1-3] of 14 .* need what this machine lacks)/m,
    );
    expect(stdout).toMatch(/^5 things were blocked:\n {2}⊘ a read of \/etc\/passwd/m);
    expect(stdout).not.toContain('opened in your browser');
    const shown = README.slice(
      1,
      README.findIndex(line => line.startsWith('$ npm pack')),
    );
    expect(shown.length).toBeGreaterThan(1);
    for (const line of shown) expect(stdout).toContain(`${line}\n`);
    const report = /^(\/.*report\.html)$/m.exec(stdout)?.[1] ?? '';
    expect(readFileSync(report, 'utf8')).toContain('patch_hunk_fail');
  });

  test('README: the refusal that it shows', async () => {
    const [command = '', said] = README.slice(-2);
    const {stdout, stderr} = await runBuiltCli(command.replace('$ forge-tools ', '').split(' '));
    const {code, message} = JSON.parse(stdout || stderr);
    expect(`${code}: ${message}`).toBe(said);
  });
});

const PROGRAM = resolve(import.meta.dirname, '../../dist/bin/forge-tools.js');
const LONG = `<h1>Long</h1>${'<p>One paragraph of many.</p>'.repeat(60)}`;

/** What a person sees who types `fetch` in a window of 12 lines, and what the pager got. */
async function fetchOnTerminal(html: string, pages = 1) {
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end(html),
  });
  onTestFinished(() => server.close());
  const home = temporaryDirectory();
  const project = join(home, 'project');
  mkdirSync(project);
  const config = join(home, 'forge.toml');
  writeFileSync(
    config,
    `profile = "guarded"\n[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const pager = join(home, 'pager');
  writeFileSync(pager, '#!/bin/sh\ncat >"$SEEN"\necho paged\n');
  chmodSync(pager, 0o755);
  const seen = join(home, 'seen');
  const urls = Array.from({length: pages}, (_, index) => `${server.origin}/${index}`).join(' ');
  const line = `stty cols 80 rows 12; '${process.execPath}' '${PROGRAM}' fetch ${urls} --config '${config}'`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: project,
    env: {PATH: process.env['PATH'], HOME: home, TERM: 'dumb', PAGER: pager, SEEN: seen},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', part => {
    said += part;
  });
  const code = await new Promise(done => child.once('close', done));
  return {code, said, seen: existsSync(seen) ? readFileSync(seen, 'utf8') : undefined};
}

test('policy: a page that is longer than the terminal goes to the pager', needs('script'), async () => {
  const {code, said, seen} = await fetchOnTerminal(LONG);
  expect(code).toBe(0);
  expect(seen?.match(/One paragraph of many/g)).toHaveLength(60);
  expect(said).toContain('paged');
  expect(said).not.toContain('One paragraph of many');
});

test('policy: a page that fits, and several pages, are printed', needs('script'), async () => {
  const short = await fetchOnTerminal('<h1>Short</h1><p>One paragraph of many.');
  expect(short.seen).toBeUndefined();
  expect(short.said).toContain('One paragraph of many');
  const two = await fetchOnTerminal(LONG, 2);
  expect(two.seen).toBeUndefined();
  expect(two.said).toContain('One paragraph of many');
});
