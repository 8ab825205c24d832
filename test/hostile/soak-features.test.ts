import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {Client, StreamableHTTPClientTransport} from '@modelcontextprotocol/client';
import {expect, onTestFinished, test} from 'vitest';
import {FAILURE_CODES} from '../../src/core/failure-codes.ts';
import {type PathHandler, startHttpServer} from '../support/http-server.ts';
import {needs} from '../support/parts.ts';
import {descriptorsOf} from './support/faults-remains.ts';

/** `FORGE_SOAK_MINUTES=120` for the whole proof. */
const MINUTES = Number(process.env['FORGE_SOAK_MINUTES'] ?? 1);
const TOKEN = 'soak-token-0123456789-0123456789-0123';
const HOST = fileURLToPath(new URL('support/soak-host.js', import.meta.url));
const PDF = readFileSync(new URL('../fixtures/pdf/boxes.pdf', import.meta.url));
const SAMPLES = 24;
/** Until then caches fill and code is compiled. */
const WARM_UP = SAMPLES / 3;

const typed =
  (type: string, body: string | Buffer): PathHandler =>
  (_, response) =>
    response.writeHead(200, {'content-type': type}).end(body);
const paragraph = '<p>Bees live in hives, and a hive has one queen.</p>';
const item = '<item><title>News</title><description>Bees have come home.</description></item>';

const SITE: Readonly<Record<string, PathHandler>> = {
  '/robots.txt': (_, response) => response.writeHead(404).end(),
  '/page': typed('text/html', `<title>Bees</title><main>${paragraph.repeat(2000)}</main>`),
  '/feed': typed(
    'application/rss+xml',
    `<rss version="2.0"><channel><title>News</title>${item.repeat(300)}</channel></rss>`,
  ),
  '/paper.pdf': typed('application/pdf', PDF),
  '/package': typed('text/plain', 'a package'),
  '/gone': (_, response) => response.writeHead(410).end(),
};

type Call = readonly [tool: string, params: Record<string, unknown>];

/** One call of each kind; a list of calls is one after the other, as the later ones are about the first. */
function roundOf(number: number, origin: string): readonly (readonly Call[])[] {
  const file = `made${number % 20}.txt`;
  return [
    [
      ['write_file', {path: file, content: `line ${number % 20}\n`}],
      ['read_file', {path: file}],
      ['delete_file', {path: file}],
    ],
    [['search', {query: 'honey'}]],
    [['read_file', {path: 'missing.txt'}]],
    [['web_fetch', {url: `${origin}/page`}]],
    [['web_fetch', {url: `${origin}/page`, no_cache: true}]],
    [['web_fetch', {url: `${origin}/gone`}]],
    [['web_read', {url: `${origin}/feed`, max_age: 0}]],
    [['web_read', {url: `${origin}/paper.pdf`, max_age: 0}]],
    [['verify_quote', {url: `${origin}/page`, quotes: ['a hive has one queen']}]],
    [['run', {command: `curl -sS ${origin}/package; curl -sS http://other.test/; cat honey.txt`}]],
    [
      ['run', {command: `curl -sS ${origin}/package; echo up`, background: true}],
      ['wait_for', {text: 'up', timeout_sec: 30}],
    ],
    [
      ['run', {command: 'sleep 1000', background: true}],
      ['stop_run', {}],
    ],
  ];
}

interface Sample {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly places: number;
}

test(`security: with everything on, ${MINUTES} min of calls leave memory, descriptors, processes and directories flat`, {
  ...needs('bubblewrap', 'curl'),
  timeout: MINUTES * 60_000 + 180_000,
}, async () => {
  const site = await startHttpServer(SITE);
  onTestFinished(() => site.close());
  const base = mkdtempSync(join(tmpdir(), 'forge-soak-'));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  for (const name of ['work', 'tmp', 'home']) mkdirSync(join(base, name));
  writeFileSync(join(base, 'work/honey.txt'), 'honey\n');
  const origin = `http://bees.test:${site.port}`;
  const host = spawn(process.execPath, ['--expose-gc', HOST, JSON.stringify(optionsOf(base, site.port))], {
    env: {...process.env, TMPDIR: join(base, 'tmp'), HOME: join(base, 'home')},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(host, 'exit');
  onTestFinished(() => void host.kill('SIGKILL'));
  const pid = host.pid ?? 0;
  const lines = createInterface({input: host.stdout})[Symbol.asyncIterator]();
  const url = new URL(String((await lines.next()).value));

  const codes = new Map<string, number>();
  const perform = async (client: Client, [name, params]: Call): Promise<string> => {
    const {isError, content, structuredContent} = await client.callTool({name, arguments: params});
    const [{text = ''} = {}] = content as readonly {readonly text?: string}[];
    const code = isError === true ? `${name} ${codeOf(structuredContent, text)}` : name;
    codes.set(code, (codes.get(code) ?? 0) + 1);
    return text;
  };
  let rounds = 0;
  const round = async (): Promise<void> => {
    const client = new Client({name: 'soak', version: '1'}, {versionNegotiation: {mode: 'auto'}});
    const requestInit = {headers: {authorization: `Bearer ${TOKEN}`}};
    await client.connect(new StreamableHTTPClientTransport(url, {requestInit}));
    await Promise.all(
      roundOf(rounds, origin).map(async calls => {
        let said = '';
        for (const [name, params] of calls) {
          // Over HTTP of today each request is a client of its own, so a command is named by its step.
          const [, step] = /as step (\d+)/.exec(said) ?? [];
          said = await perform(client, [name, step === undefined ? params : {...params, step: Number(step)}]);
        }
      }),
    );
    await client.close();
    rounds += 1;
  };
  const sample = async (): Promise<Sample> => {
    // The last commands end, and the next sandboxes are made.
    const seen: number[] = [];
    const isStill = (): boolean => {
      seen.push(descendantsOf(pid));
      return seen.length >= 20 && new Set(seen.slice(-20)).size === 1;
    };
    await expect.poll(isStill, {timeout: 30_000, interval: 20}).toBe(true);
    host.kill('SIGUSR2');
    const heapBytes = Number((await lines.next()).value);
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return {
      heapBytes,
      rssBytes: Number(kilobytes) * 1024,
      descriptors: descriptorsOf(pid).length,
      processes: descendantsOf(pid),
      places: placesOf(base),
    };
  };

  await round();
  const samples: Sample[] = [];
  const begun = performance.now();
  for (let part = 1; part <= SAMPLES; part += 1) {
    do await round();
    while (performance.now() - begun < (MINUTES * 60_000 * part) / SAMPLES);
    samples.push(await sample());
  }
  host.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);

  const report = JSON.stringify({rounds, codes: Object.fromEntries(codes), samples}, undefined, 1);
  for (const [code, count] of codes) {
    const isExpected = !code.includes(' ') || /^(read_file file_not_found|web_fetch http_4xx)$/.test(code);
    expect(isExpected ? 0 : count, `${code}: ${report}`).toBe(0);
  }
  const warm = samples.slice(WARM_UP);
  const half = warm.length / 2;
  const grown = (field: keyof Sample): number =>
    median(warm.slice(half).map(one => one[field])) - median(warm.slice(0, half).map(one => one[field]));
  expect(grown('heapBytes'), report).toBeLessThan(4 * 2 ** 20 * Math.max(1, MINUTES / 10));
  expect(grown('rssBytes'), report).toBeLessThan(48 * 2 ** 20);
  expect(Math.abs(grown('descriptors')), report).toBeLessThan(5);
  expect(grown('processes'), report).toBeLessThanOrEqual(0);
  expect(grown('places'), report).toBeLessThanOrEqual(0);
  expect(readdirSync(join(base, 'tmp')), report).toEqual([]);
});

function optionsOf(base: string, port: number): object {
  return {
    token: TOKEN,
    workspace: join(base, 'work'),
    runDirectory: join(base, 'run'),
    config: {
      tools: {
        mode: 'enabled',
        groups: ['core', 'web', 'edit-more', 'background'],
        approval: {mode: 'auto'},
        taint: {mode: 'warn'},
        webread: {enabled: true, media: {markdown: true, json: true, feeds: true, pdf: true}},
        webfetch: {
          enabled: true,
          cache_dir: join(base, 'cache'),
          browser: {enabled: false},
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
        run: {
          sandbox: 'bubblewrap',
          egress: {allow: [`http://bees.test:${port}`], max_connections: 10},
          background: {max_commands: 4},
        },
      },
    },
  };
}

function codeOf(structured: unknown, text: string): string {
  const {error} = (structured ?? {}) as {readonly error?: {readonly error_type?: string}};
  const known = error?.error_type ?? Object.keys(FAILURE_CODES).find(code => text.includes(code));
  return known ?? text.slice(0, 300);
}

/** Processes that this one has started, and those that they have. */
function descendantsOf(pid: number): number {
  let children: readonly string[];
  try {
    children = readdirSync(`/proc/${pid}/task`).flatMap(task =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '),
    );
  } catch {
    return 0;
  }
  return children
    .filter(child => child !== '')
    .reduce((count, child) => count + 1 + descendantsOf(Number(child)), 0);
}

/** Files and directories, without the record of the run, which is to grow. */
function placesOf(base: string): number {
  return readdirSync(base, {recursive: true, encoding: 'utf8'}).filter(path => !path.startsWith('run'))
    .length;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1] ?? 0;
}
