import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {expect, onTestFinished, test} from 'vitest';
import {FAILURE_CODES} from '../../src/core/failure-codes.ts';
import {verifyRun} from '../../src/create-toolbox/services.ts';
import {compileInto} from '../support/compile-into.ts';
import {type PathHandler, startHttpServer} from '../support/http-server.ts';
import {unwrap} from '../support/outcome.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {childrenOf, descriptorsOf} from './support/faults-remains.ts';
import type {SoakSample} from './support/soak-preload.ts';

const CALLS = 10_000;
/** Without faults: every kind of call comes once in a hundred. */
const FIRST = 100;
const SAMPLE_EVERY = 1000;
/** Until then caches fill and code is compiled. */
const WARM_UP = 5000;
const AT_ONCE = 8;
const SEED = 20_261_122;

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const page = (path: string): PathHandler => {
  const text = `<title>${path}</title><main><h1>${path}</h1><p>${'Some words. '.repeat(60)}</p></main>`;
  return (_, response) => response.writeHead(200, {'content-type': 'text/html'}).end(text);
};

/** A site with good pages and with everything that a bad server does quickly. */
const SITE: Readonly<Record<string, PathHandler>> = {
  '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /private'),
  ...Object.fromEntries(Array.from({length: 20}, (_, number) => [`/page/${number}`, page(`${number}`)])),
  '/reset': request => request.socket.destroy(),
  '/short': (_, response) => {
    response.writeHead(200, {'content-type': 'text/html', 'content-length': '1000'}).write('<p>half');
    response.socket?.end();
  },
  '/error': (_, response) => response.writeHead(500).end(),
  '/loop': (_, response) => response.writeHead(302, {location: '/loop'}).end(),
  '/binary': (_, response) => response.writeHead(200, {'content-type': 'image/png'}).end('x'),
  '/bomb': (_, response) =>
    response.writeHead(200, {'content-type': 'text/html', 'content-encoding': 'gzip'}).end('no gzip'),
};
const BAD = ['/reset', '/short', '/error', '/loop', '/binary', '/bomb', '/private/x', '/missing'];

type Call = readonly [tool: string, params: Record<string, unknown>];

/** What an agent does all day, with the mistakes that it makes. */
function callOf(number: number, origin: string): Call {
  const file = `dir${number % 7}/file${number % 40}.txt`;
  const kind = (number * 7919) % 100;
  if (kind < 30) return ['read_file', {path: file}];
  if (kind < 38) return ['list_files', {glob: `dir${number % 7}/**`}];
  if (kind < 44) return ['glob', {pattern: '**/file1*.txt'}];
  if (kind < 50) return ['search', {query: `line ${number % 9}`}];
  if (kind < 60)
    return ['str_replace', {path: file, old_string: 'line 3', new_string: `line 3 of ${number}`}];
  if (kind < 68) return ['write_file', {path: `new/made${number % 30}.txt`, content: `line ${number}\n`}];
  // The kind says what a number is modulo a hundred.
  const round = Math.floor(number / 100);
  if (kind === 68) {
    const edits = [4, 5].map(line => ({old_string: `line ${line}`, new_string: `line ${line}.`}));
    return ['str_replace', {path: file, edits: edits.map(edit => ({...edit, replace_all: true}))}];
  }
  if (kind === 69) {
    const texts = ['line 7 of file', 'line seven of file'];
    if (round % 2 === 1) texts.reverse();
    const [query, replacement] = texts;
    return ['replace_in_files', {query, replacement, glob: `dir${number % 7}/file1*.txt`}];
  }
  if (kind === 70) {
    const place = (round >> 1) % 30;
    const moved = `new/moved${place}.txt`;
    return round % 2 === 0
      ? ['move_file', {from: `new/made${place}.txt`, to: moved}]
      : ['delete_file', {path: moved}];
  }
  if (kind < 72) {
    const name = `patched${number % 10}.txt`;
    return ['apply_patch', {unified_diff: `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${number}\n`}];
  }
  if (kind < 82) return ['web_fetch', {url: `${origin}/page/${number % 20}`}];
  if (kind < 86) return ['web_fetch', {url: `${origin}/page/${number % 20}`, no_cache: true}];
  if (kind < 93) return ['web_fetch', {url: `${origin}${BAD[number % BAD.length]}`}];
  if (kind < 95) return ['run', {command: `echo ${number}; exit ${number % 3}`}];
  if (kind < 97) return ['read_file', {path: '../../etc/passwd'}];
  return ['no_such_tool', {}];
}

test('security: ten thousand calls while the system fails now and then leave nothing behind in the server', async () => {
  const compiled = temporaryDirectory();
  compileInto(compiled, ['test/hostile/support/soak-preload.ts']);
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'forge-soak-'));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const site = await startHttpServer(SITE);
  onTestFinished(() => site.close());

  const workspace = join(base, 'work');
  const runDirectory = join(base, 'run');
  const sampleFile = join(base, 'sample.json');
  for (let number = 0; number < 40; number += 1) {
    const directory = join(workspace, `dir${number % 7}`);
    mkdirSync(directory, {recursive: true});
    const lines = Array.from({length: 30}, (_, line) => `line ${line} of file ${number}\n`);
    for (let other = 0; other < 7; other += 1) {
      mkdirSync(join(workspace, `dir${other}`), {recursive: true});
      writeFileSync(join(workspace, `dir${other}`, `file${number}.txt`), lines.join(''));
    }
  }
  for (const name of ['tmp', 'home']) mkdirSync(join(base, name));
  const config = join(base, 'config.toml');
  writeFileSync(
    config,
    `[tools]\nmode = "enabled"\n[tools.approval]\nmode = "auto"\n[tools.run]\nsandbox = "none"\n` +
      `allow_insecure_none = true\n[tools.webfetch]\nenabled = true\ncache_dir = "${base}/cache"\n` +
      `timeout_seconds = 5\n[tools.webfetch.browser]\nenabled = false\n[tools.webfetch.security]\n` +
      `block_loopback = false\nallow_insecure_overrides = true\nallowed_ports = [${site.port}]\n`,
  );

  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      ...['--expose-gc', '--import', join(compiled, 'test/hostile/support/soak-preload.js'), MAIN, 'mcp'],
      ...['--workspace', workspace, '--run-dir', runDirectory, '--config', config, '--log-level', 'error'],
    ],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: join(base, 'home'),
      TMPDIR: join(base, 'tmp'),
      FORGE_SOAK_SAMPLE: sampleFile,
      FORGE_SOAK_SEED: String(SEED),
    },
    stderr: 'pipe',
  });
  const client = new Client({name: 'soak', version: '1'}, {versionNegotiation: {mode: 'auto'}});
  await client.connect(transport);
  const pid = transport.pid ?? 0;
  let complaints = '';
  transport.stderr?.on('data', chunk => {
    complaints = (complaints + chunk).slice(-4000);
  });

  const codes = new Map<string, number>();
  const strange: string[] = [];
  const samples: (SoakSample & {readonly calls: number; descriptors: number; rssBytes: number})[] = [];

  const perform = async (number: number): Promise<void> => {
    const [name, params] = callOf(number, site.origin);
    const {structuredContent, isError, content} = await client.callTool({name, arguments: params});
    const [{text = ''} = {}] = content as readonly {readonly text?: string}[];
    const code = isError === true ? codeOf(structuredContent, text) : 'ok';
    codes.set(code, (codes.get(code) ?? 0) + 1);
    const isKnown = code === 'ok' || (code in FAILURE_CODES && code !== 'internal');
    if (!isKnown) strange.push(`${name}: ${text.slice(0, 500)}`);
  };
  const sample = async (calls: number): Promise<void> => {
    rmSync(sampleFile, {force: true});
    process.kill(pid, 'SIGUSR2');
    const taken = await readWhenThere(sampleFile);
    // The kernel may take a moment to let go of what was closed.
    let descriptors = descriptorsOf(pid).length;
    // Two stay as long as the session: one ends commands without a sandbox where the host is killed (W21), one starts
    // GNU patch.
    for (let tries = 0; tries < 50 && childrenOf(pid) > 2; tries += 1) await tick();
    expect(childrenOf(pid)).toBeLessThanOrEqual(2);
    descriptors = Math.min(descriptors, descriptorsOf(pid).length);
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    samples.push({...taken, calls, descriptors, rssBytes: Number(kilobytes) * 1024});
  };

  // The session opens, and every kind of call has loaded what it needs: a module that could not be read once
  // is not to be had again in that process, which is the engine's doing.
  for (let number = 0; number < FIRST; number += 1) await perform(number);
  await sample(0);
  for (let done = 0; done < CALLS; done += SAMPLE_EVERY) {
    let next = done;
    const worker = async (): Promise<void> => {
      while (next < done + SAMPLE_EVERY) {
        next += 1;
        await perform(next);
      }
    };
    await Promise.all(Array.from({length: AT_ONCE}, worker));
    await sample(done + SAMPLE_EVERY);
  }
  const answered = [...codes.values()].reduce((sum, count) => sum + count, 0);
  await client.close();

  const report = JSON.stringify({codes: Object.fromEntries(codes), samples, complaints}, undefined, 1);
  expect(strange, report).toEqual([]);
  expect(answered).toBe(FIRST + CALLS);
  expect(samples.at(-1)?.failed, report).toBeGreaterThan(500);

  const warm = samples.filter(({calls}) => calls >= WARM_UP);
  const [first] = warm;
  const last = warm.at(-1);
  expect(slope(warm.map(({calls, heapBytes}) => [calls, heapBytes])), report).toBeLessThan(500);
  expect((last?.descriptors ?? 0) - (first?.descriptors ?? 0), report).toBeLessThan(10);
  expect((last?.rssBytes ?? 0) - (first?.rssBytes ?? 0), report).toBeLessThan(96 * 2 ** 20);

  const verified = unwrap(await verifyRun(runDirectory));
  expect(verified.state).toBe('intact');
  const events = readFileSync(join(runDirectory, 'events.jsonl'), 'utf8').trimEnd().split('\n');
  const steps = new Map<number, string[]>();
  for (const line of events) {
    const {event, payload} = JSON.parse(line) as {event: string; payload: {step?: number}};
    if (payload.step === undefined || !event.startsWith('tool_call_')) continue;
    steps.set(payload.step, [...(steps.get(payload.step) ?? []), event]);
  }
  expect(steps.size).toBe(FIRST + CALLS);
  for (const [, pair] of steps) expect(pair).toEqual(['tool_call_started', 'tool_call_finished']);
  expect(leftBehind(base)).toEqual([]);
}, 280_000);

/** Ruling H2: `web_fetch` fails with the bare envelope, the others with the whole result. */
function codeOf(structured: unknown, text: string): string {
  const {error} = (structured ?? {}) as {readonly error?: {readonly error_type?: string}};
  if (error?.error_type !== undefined) return error.error_type;
  try {
    return String((JSON.parse(text) as {readonly code?: unknown}).code);
  } catch {
    return text.split(':', 1)[0] ?? '';
  }
}

/** Temporary files, locks, journals and copies; artifacts of the run and pages of the cache are to stay. */
function leftBehind(base: string): readonly string[] {
  const paths = readdirSync(base, {recursive: true, encoding: 'utf8'});
  return paths.filter(path =>
    /\.tmp|\.unfinished|\.journal|\.conflict|\/lock\.|\.lock|patch-|ignore-|^tmp\/./.test(path),
  );
}

/** Least squares: how much the second grows with one of the first. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([one]) => one));
  const y = mean(points.map(([, two]) => two));
  const over = points.reduce((sum, [one, two]) => sum + (one - x) * (two - y), 0);
  return over / points.reduce((sum, [one]) => sum + (one - x) ** 2, 0);
}

async function readWhenThere(file: string): Promise<SoakSample> {
  for (let tries = 0; tries < 500; tries += 1) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as SoakSample;
    } catch {
      await tick();
    }
  }
  throw new Error('The server did not answer the signal.');
}

function tick(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 20));
}
