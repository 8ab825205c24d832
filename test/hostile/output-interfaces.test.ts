import {execFile} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox} from '../../src/index.ts';
import {createMcpService} from '../../src/mcp/create-mcp-service.ts';
import {connectClient} from '../support/mcp-clients.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import type {RawServer} from '../support/raw-server.ts';
import {runBuiltCli} from '../support/run-built-cli.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {HOSTILE_ANSWERS, SMUGGLED, startHostileSite} from './support/output-hostile-site.ts';

/** What a terminal acts on, or an eye is misled by. */
const ACTIVE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e01ef}]/u;
const CASES = Object.entries(HOSTILE_ANSWERS).map(([path, {code}]) => [path, code] as const);

async function hostileSite(): Promise<RawServer> {
  const site = await startHostileSite();
  onTestFinished(() => site.close());
  return site;
}

/** All strings in a value, with the names of the fields. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => [key, ...stringsIn(entry)]);
}

const active = (value: unknown): readonly string[] => stringsIn(value).filter(text => ACTIVE.test(text));

function configFor(site: RawServer): string {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(
    file,
    `[tools]\nmode = "enabled"\n[tools.webfetch]\nenabled = true\nallow_auto_execution = true\ncache_dir = ""\n[tools.webfetch.browser]\nenabled = false\n[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${site.port}]\n`,
  );
  return file;
}

test('positive control: what is smuggled would be active', () => {
  expect(ACTIVE.test(SMUGGLED)).toBe(true);
  expect(HOSTILE_ANSWERS['/status-404']?.bytes.includes(0x9b)).toBe(true);
});

describe('the library result and the log', () => {
  test.each(CASES)(
    'ruling D8 %s: %s, and no string of the answer or the log is active',
    async (path, code) => {
      const site = await hostileSite();
      const {toolbox, logs} = openTestToolbox([site.port], {browser: {enabled: false}});
      const result = await toolbox.webFetch({url: `${site.origin}${path}?token=secret`});
      expect(result.ok ? 'ok' : result.error.code).toBe(code);
      // Ruling D12: text/plain comes as it is; the interfaces below are what keeps it off a terminal.
      if (path !== '/plain')
        expect(active(result.ok ? {...result.value, requested_url: ''} : result.error)).toEqual([]);
      expect(active(logs)).toEqual([]);
      const told = JSON.stringify([result.ok ? '' : result.error, logs]);
      // FR-WF-19b
      expect(told).not.toContain('secret');
      expect(told).not.toContain('javascript:alert');
      // No more of a hostile server's words than a line.
      if (!result.ok) expect(result.error.message.length).toBeLessThan(600);
    },
  );
});

describe('MCP', () => {
  test('ruling H2 text and structuredContent are the same JSON, and nothing in them is active', async () => {
    const site = await hostileSite();
    const runDirectory = join(temporaryDirectory(), 'run');
    const host = createToolbox({
      runDirectory,
      config: {
        tools: {
          mode: 'enabled',
          webfetch: {
            enabled: true,
            allow_auto_execution: true,
            cache_dir: '',
            browser: {enabled: false},
            security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [site.port]},
          },
        },
      },
    });
    onTestFinished(() => host.close());
    const client = await connectClient(createMcpService(host, {version: '0.0.0'}), ['stdio', '2026-07-28']);
    onTestFinished(() => client.close());
    for (const [path, code] of CASES) {
      const answer = await client.callTool({
        name: 'web_fetch',
        arguments: {url: `${site.origin}${path}?token=secret`},
      });
      expect(answer.content).toHaveLength(1);
      const [block] = answer.content;
      const parsed = JSON.parse(block?.text ?? '') as {
        readonly code?: string;
        readonly requested_url?: string;
      };
      expect(parsed.code ?? 'ok').toBe(code);
      expect(answer.isError ?? false).toBe(code !== 'ok');
      if (code === 'ok') expect(answer.structuredContent).toEqual(parsed);
      if (path !== '/plain') expect(active(parsed)).toEqual([]);
    }
    await host.close();
    // events.jsonl: as many lines as events, each by itself, none of them the page's.
    const text = readFileSync(join(runDirectory, 'events.jsonl'), 'utf8');
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/u);
    const events = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as {readonly seq: number});
    expect(events.map(({seq}) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(active(events)).toEqual([]);
    expect(text).not.toContain('secret');
    expect(text).not.toContain('pwned');
  }, 60_000);
});

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

/** Runs the built command line at a terminal of its own; what the terminal was sent, both streams together. */
async function atTerminal(argv: readonly string[]): Promise<string> {
  const quoted = [process.execPath, MAIN, ...argv]
    .map(word => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  const env = {PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'xterm-256color'};
  const {stdout} = await run('script', ['-qec', `${quoted}; true`, '/dev/null'], {env, maxBuffer: 2 ** 26});
  return stdout;
}

/** The colours that we set ourselves, and the line ends of a terminal. */
const withoutOurOwn = (sent: string): string =>
  sent.replaceAll('\r\n', '\n').replace(/\u001b\[(?:1|2|22|31|32|33|36|39)m/g, '');

describe('the command line', () => {
  test('ruling D12 at a terminal: pages, plain text, JSON, errors and log lines, and nothing active in any', async () => {
    const site = await hostileSite();
    const config = configFor(site);
    const urls = CASES.map(([path]) => `${site.origin}${path}`);
    for (const flags of [[], ['--json'], ['--log-level', 'debug']]) {
      const sent = withoutOurOwn(await atTerminal(['fetch', ...flags, '--config', config, ...urls]));
      expect(sent).toContain('Title');
      expect(sent).toContain('plain');
      expect(sent).toContain('http_4xx');
      expect(ACTIVE.exec(sent)).toBeNull();
    }
  }, 60_000);

  test('ruling D12 the same for `call web_fetch`', async () => {
    const site = await hostileSite();
    const config = configFor(site);
    for (const [path] of CASES.filter(([path]) => /page|plain|404|to-/.test(path))) {
      const params = JSON.stringify({url: `${site.origin}${path}`});
      const sent = withoutOurOwn(
        await atTerminal([
          'call',
          'web_fetch',
          params,
          '--config',
          config,
          '--run-dir',
          join(temporaryDirectory(), 'run'),
        ]),
      );
      expect(sent.length).toBeGreaterThan(20);
      expect(ACTIVE.exec(sent)).toBeNull();
    }
  }, 60_000);

  test('policy: at a terminal no line of a page passes for the rule between chunks', async () => {
    const site = await hostileSite();
    const config = configFor(site);
    for (const path of ['/page', '/plain']) {
      const sent = withoutOurOwn(await atTerminal(['fetch', '--config', config, `${site.origin}${path}`]));
      expect(sent.split('\n').filter(line => line.startsWith('─'))).toHaveLength(1);
      expect(sent).toContain('2/2 · 9 tokens');
    }
  });

  test('ruling D12 piped: a page is the Markdown, without anything active, and errors are one JSON line each', async () => {
    const site = await hostileSite();
    const config = configFor(site);
    for (const [path, code] of CASES) {
      if (path === '/plain') continue;
      const {stdout, stderr} = await runBuiltCli(['fetch', '--config', config, `${site.origin}${path}`]);
      expect(ACTIVE.exec(stdout)).toBeNull();
      expect(ACTIVE.exec(stderr)).toBeNull();
      const lines = stderr
        .trim()
        .split('\n')
        // What the configuration opens is said in a sentence, always.
        .filter(line => line !== '' && !line.startsWith('Warning: '))
        .map(line => JSON.parse(line) as {readonly code?: string});
      if (code !== 'ok') expect(lines.at(-1)?.code).toBe(code);
    }
  }, 60_000);
});
