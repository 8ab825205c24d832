import {type ChildProcess, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type EngineProxy, startEngineProxy} from '../support/engine-proxy.ts';
import {startHttpServer} from '../support/http-server.ts';
import {REDIS_SERVER, type RedisEngine, startRedis} from '../support/redis-engine.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
/** The size that the figures in docs/scale.md are of; minutes. */
const IS_FULL = process.env['FORGE_TEST_CRAWL'] === 'full';
const SIZE = IS_FULL ? {workers: 8, hosts: 200, urls: 20_000} : {workers: 4, hosts: 40, urls: 1500};
const GAP_MS = 25;

interface Request {
  readonly url: string;
  readonly start: number;
  end: number;
}

interface Fleet {
  readonly engine: RedisEngine;
  readonly cwd: string;
  readonly urls: readonly string[];
  readonly requests: Map<string, Request[]>;
  readonly robots: Map<string, number>;
  readonly run: (
    args: readonly string[],
    proxy?: EngineProxy,
  ) => Promise<{code: number | null; output: string}>;
  readonly work: (name: string, proxy?: EngineProxy, skewHours?: number) => Worker;
  readonly status: () => Promise<Record<string, number> & {state: string; hosts: Record<string, number>}>;
}

interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output: string;
}

/** An origin on many loopback addresses that records every request, an engine, and a list. */
async function openFleet(
  urlCount: number,
  hostCount: number,
  engineOptions: readonly string[],
): Promise<Fleet> {
  const requests = new Map<string, Request[]>();
  const robots = new Map<string, number>();
  const hostOf = (header: string | undefined): string => header?.split(':')[0] ?? '';
  const server = await startHttpServer(
    {
      '/robots.txt': (request, response) => {
        const host = hostOf(request.headers.host);
        robots.set(host, (robots.get(host) ?? 0) + 1);
        response.writeHead(404).end();
      },
      '*': (request, response) => {
        const host = hostOf(request.headers.host);
        const seen: Request = {
          url: `http://${request.headers.host}${request.url}`,
          start: performance.now(),
          end: Number.POSITIVE_INFINITY,
        };
        requests.set(host, [...(requests.get(host) ?? []), seen]);
        response.on('close', () => {
          seen.end = performance.now();
        });
        response.writeHead(200, {'Content-Type': 'text/plain'}).end(`Page ${request.url}`);
      },
    },
    {address: '0.0.0.0'},
  );
  onTestFinished(() => server.close());
  const engine = await startRedis(...engineOptions);
  onTestFinished(() => engine.stop());
  const cwd = temporaryDirectory();
  const configOf = (url: string): string => {
    const path = join(cwd, `${url.replace(/\W+/g, '-')}.toml`);
    writeFileSync(
      path,
      `[tools.hub]
url = "${url}"
host_gap_ms = 0
max_per_host = 64
[tools.webfetch]
cache_dir = ""
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${server.port}]
`,
    );
    return path;
  };
  const urls = Array.from(
    {length: urlCount},
    (_, at) => `http://127.0.1.${(at % hostCount) + 1}:${server.port}/page/${at}`,
  );
  writeFileSync(join(cwd, 'urls.txt'), `${urls.join('\n')}\n`);
  mkdirSync(join(cwd, 'results'));
  const start = (
    args: readonly string[],
    proxy: EngineProxy | undefined,
    node: readonly string[] = [],
  ): ChildProcess => {
    const config = ['--config', configOf(proxy?.url ?? engine.url), '--log-level', 'silent'];
    const child = spawn(process.execPath, [...node, MAIN, 'crawl', ...args, '--job', 'fleet', ...config], {
      cwd,
      env: {PATH: process.env['PATH'], HOME: '/nonexistent'},
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const follow = (child: ChildProcess): Worker => {
    const worker: Worker = {
      child,
      output: '',
      ended: new Promise(resolve => child.on('close', code => resolve(code))),
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (part: Buffer) => {
        worker.output += part.toString();
      });
    }
    return worker;
  };
  const run: Fleet['run'] = async (args, proxy) => {
    const worker = follow(start(args, proxy));
    return {code: await worker.ended, output: worker.output};
  };
  return {
    engine,
    cwd,
    urls,
    requests,
    robots,
    run,
    work(name, proxy, skewHours = 0) {
      const skew = join(cwd, `skew-${skewHours}.cjs`);
      writeFileSync(skew, `const now = Date.now; Date.now = () => now() + ${skewHours * 3_600_000};\n`);
      const args = ['work', '--out', join('results', name), '--concurrency', String(PAGES_AT_ONCE)];
      return follow(start(args, proxy, ['--require', skew]));
    },
    async status() {
      const {output} = await run(['status', '--json']);
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    },
  };
}

/** What held at the origin: gaps are between the end of one request and the start of the next. */
function atOrigin({requests}: Fleet): {
  readonly most: number;
  readonly gap: number;
  readonly pages: number;
  readonly distinct: number;
} {
  let most = 0;
  let gap = Number.POSITIVE_INFINITY;
  let pages = 0;
  const distinct = new Set<string>();
  for (const ofHost of requests.values()) {
    const ordered = [...ofHost].sort((a, b) => a.start - b.start);
    pages += ordered.length;
    for (const [at, request] of ordered.entries()) {
      distinct.add(request.url);
      most = Math.max(
        most,
        ordered.filter(({start, end}) => start <= request.start && end > request.start).length,
      );
      const before = ordered[at - 1];
      if (before) gap = Math.min(gap, request.start - before.start);
    }
  }
  return {most, gap, pages, distinct: distinct.size};
}

async function exported(
  fleet: Fleet,
  names: readonly string[],
): Promise<readonly {url: string; status: string}[]> {
  const {code} = await fleet.run([
    'export',
    ...names.map(name => join('results', name)),
    '--to',
    'all.jsonl',
  ]);
  expect(code).toBe(0);
  return readFileSync(join(fleet.cwd, 'all.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

/** Of one worker. */
const PAGES_AT_ONCE = 8;
const START = ['start', 'urls.txt', '--delay', String(GAP_MS), '--lease', '5'];

describe.runIf(REDIS_SERVER !== undefined)('S1 a fleet of workers', () => {
  test('S1 killed workers, an engine that restarts, a partition and clocks that are wrong lose nothing and hurry nobody', {
    timeout: IS_FULL ? 600_000 : 120_000,
    tags: 'slow',
  }, async () => {
    const fleet = await openFleet(SIZE.urls, SIZE.hosts, ['--appendonly', 'yes', '--appendfsync', 'always']);
    expect((await fleet.run(START)).code).toBe(0);
    const names: string[] = [];
    const workers = new Set<Worker>();
    let kills = 0;
    // The script runs and its answer is lost, or the script never runs: take, finish and status are hit alike.
    const killPoints = [3, 4, 6, 9];
    const begin = async (at: number): Promise<void> => {
      const name = `w${names.length}`;
      names.push(name);
      let worker: Worker | undefined;
      const killAt = names.length <= killPoints.length ? killPoints[at % killPoints.length] : undefined;
      const proxy = await startEngineProxy(fleet.engine.port, count => {
        if (worker === undefined || count !== killAt) return 'pass';
        kills += 1;
        const killed = worker;
        setImmediate(() => killed.child.kill('SIGKILL'));
        return at % 2 === 0 ? 'hold' : 'drop';
      });
      onTestFinished(() => proxy.close());
      worker = fleet.work(name, proxy, at % 2 === 0 ? 7 * at : -5 * at);
      workers.add(worker);
      const ended = worker;
      void worker.ended.then(code => {
        workers.delete(ended);
        // Whoever runs workers starts them again.
        if (code === null) void begin(at);
      });
      if (killAt === undefined && at === 1) partitioned ??= proxy;
    };
    let partitioned: EngineProxy | undefined;
    await Promise.all(Array.from({length: SIZE.workers}, (_, at) => begin(at)));
    const fetched = (): number => [...fleet.requests.values()].reduce((sum, list) => sum + list.length, 0);
    await expect
      .poll(fetched, {timeout: IS_FULL ? 250_000 : 60_000, interval: 50})
      .toBeGreaterThan(SIZE.urls / 4);
    await fleet.engine.kill();
    await fleet.engine.start();
    await expect.poll(() => partitioned !== undefined, {timeout: 30_000}).toBe(true);
    await expect.poll(fetched, {timeout: 200_000, interval: 50}).toBeGreaterThan(SIZE.urls / 2);
    partitioned?.cut();
    const cutAt = performance.now();
    await expect
      .poll(() => performance.now() - cutAt, {timeout: 40_000, interval: 100})
      .toBeGreaterThan(IS_FULL ? 30_000 : 5000);
    partitioned?.heal();
    await expect.poll(() => workers.size, {timeout: IS_FULL ? 500_000 : 100_000, interval: 100}).toBe(0);

    const status = await fleet.status();
    const {most, gap, pages, distinct} = atOrigin(fleet);
    const robots = [...fleet.robots.values()].reduce((sum, count) => sum + count, 0);
    const figures = {...status, most, gap, pages, distinct, kills, robots};
    if (IS_FULL) console.log(JSON.stringify(figures));
    expect(figures).toMatchObject({
      state: 'finished',
      done: SIZE.urls,
      failed: 0,
      distinct: SIZE.urls,
      most: 1,
    });
    expect(kills).toBe(killPoints.length);
    expect(gap).toBeGreaterThanOrEqual(GAP_MS);
    // For the whole fleet, but for those that a worker could not hand on because it was killed: one for each page that it
    // had under way.
    expect(robots).toBeGreaterThanOrEqual(SIZE.hosts);
    expect(robots).toBeLessThanOrEqual(SIZE.hosts + kills * PAGES_AT_ONCE);
    expect(Math.max(...fleet.robots.values())).toBeLessThanOrEqual(1 + kills);
    // What was fetched twice was given out twice, after a lease that ended.
    expect(pages - distinct).toBeLessThanOrEqual(status['expired'] ?? 0);
    const results = await exported(fleet, names);
    expect(results.map(({url}) => url).sort()).toEqual([...fleet.urls].sort());
    expect(results.every(({status: ended}) => ended === 'ok')).toBe(true);
  });

  test('S1 after FLUSHALL, the same list brings back what the results do not hold', {
    timeout: 90_000,
    tags: 'slow',
  }, async () => {
    const fleet = await openFleet(400, 10, []);
    expect((await fleet.run(START)).code).toBe(0);
    const workers = [fleet.work('a'), fleet.work('b')];
    const fetched = (): number => [...fleet.requests.values()].reduce((sum, list) => sum + list.length, 0);
    await expect.poll(fetched, {timeout: 40_000, interval: 20}).toBeGreaterThan(100);
    await fleet.engine.kill();
    await fleet.engine.start();
    await expect
      .poll(() => workers.every(({output}) => output.includes('has lost the job')), {timeout: 20_000})
      .toBe(true);
    const again = await fleet.run([...START, '--results', 'results/a,results/b']);
    const counts = JSON.parse(again.output.trim().split('\n').at(-1) ?? '');
    expect(counts.finished).toBeGreaterThan(80);
    expect(counts.added + counts.finished).toBe(400);
    expect(await Promise.all(workers.map(({ended}) => ended))).toEqual([0, 0]);
    const {most, gap} = atOrigin(fleet);
    expect(most).toBe(1);
    expect(gap).toBeGreaterThanOrEqual(GAP_MS);
    const results = await exported(fleet, ['a', 'b']);
    expect(results.map(({url}) => url).sort()).toEqual([...fleet.urls].sort());
  });
});
