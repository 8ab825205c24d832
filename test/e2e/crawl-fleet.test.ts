import {createHash} from 'node:crypto';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {END, OBTAIN, PUT} from '../../src/hub/body-scripts.ts';
import {FINISH, STATUS, TAKE} from '../../src/hub/frontier-scripts.ts';
import {BEAT, ENTER, LEAVE} from '../../src/hub/host-scripts.ts';
import {type CrawlFleet, openCrawlFleet, type Worker} from '../support/crawl-fleet.ts';
import {type EngineProxy, type Fate, startEngineProxy} from '../support/engine-proxy.ts';
import {needs} from '../support/parts.ts';
import {type RecordingOrigin, startRecordingOrigin} from '../support/recording-origin.ts';
import {type RedisEngine, startRedis} from '../support/redis-engine.ts';
import {runCliHere} from '../support/run-cli-here.ts';

/** The size that the figures in docs/scale.md are of; minutes. */
const IS_FULL = process.env['FORGE_TEST_CRAWL'] === 'full';
const SIZE = IS_FULL ? {workers: 8, hosts: 200, urls: 20_000} : {workers: 4, hosts: 40, urls: 1500};
const GAP_MS = 25;

interface Fleet extends CrawlFleet {
  readonly engine: RedisEngine;
  readonly origin: RecordingOrigin;
}

/** An origin on many loopback addresses that records every request, an engine, and a list. */
async function openFleet(
  urlCount: number,
  hostCount: number,
  engineOptions: readonly string[],
): Promise<Fleet> {
  const origin = await startRecordingOrigin();
  const engine = await startRedis(...engineOptions);
  onTestFinished(() => engine.stop());
  const {port} = origin;
  const urls = Array.from(
    {length: urlCount},
    (_, at) => `http://127.0.1.${(at % hostCount) + 1}:${port}/page/${at}`,
  );
  return {...openCrawlFleet({urls, port, engine: engine.url, atOnce: PAGES_AT_ONCE}), engine, origin};
}

/** Of one worker. */
const PAGES_AT_ONCE = 8;
const START = ['start', 'urls.txt', '--delay', String(GAP_MS), '--lease', '5'];

describe('S1 a fleet of workers', needs('Redis'), () => {
  test('S1 killed workers, an engine that restarts, a partition and clocks that are wrong lose nothing and hurry nobody', {
    timeout: IS_FULL ? 600_000 : 120_000,
    tags: 'stress',
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
      const onScript = (count: number): 'pass' | 'hold' | 'drop' => {
        if (worker === undefined || count !== killAt) return 'pass';
        kills += 1;
        const killed = worker;
        setImmediate(() => killed.child.kill('SIGKILL'));
        return at % 2 === 0 ? 'hold' : 'drop';
      };
      const proxy = await startEngineProxy(fleet.engine.port, {onScript});
      onTestFinished(() => proxy.close());
      worker = fleet.work(name, proxy.url, at % 2 === 0 ? 7 * at : -5 * at);
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
    const fetched = fleet.origin.pages;
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
    const {most, gap, pages, distinct, robots, mostRobots} = fleet.origin.checkVisits();
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
    expect(mostRobots).toBeLessThanOrEqual(1 + kills);
    // What was fetched twice was given out twice, after a lease that ended.
    expect(pages - distinct).toBeLessThanOrEqual(status['expired'] ?? 0);
    const results = await fleet.exported(names);
    expect(results.map(({url}) => url).sort()).toEqual([...fleet.urls].sort());
    expect(results.every(({status: ended}) => ended === 'ok')).toBe(true);
  });

  test('S1 after FLUSHALL, the same list brings back what the results do not hold', {
    timeout: 90_000,
    tags: 'stress',
  }, async () => {
    const fleet = await openFleet(400, 10, []);
    expect((await fleet.run(START)).code).toBe(0);
    const workers = [fleet.work('a'), fleet.work('b')];
    const fetched = fleet.origin.pages;
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
    const {most, gap} = fleet.origin.checkVisits();
    expect(most).toBe(1);
    expect(gap).toBeGreaterThanOrEqual(GAP_MS);
    const results = await fleet.exported(['a', 'b']);
    expect(results.map(({url}) => url).sort()).toEqual([...fleet.urls].sort());
  });
});

const FATES: readonly Fate[] = ['drop', 'hold', 'tell'];
/** Kills at the same time: most of one is waiting for leases. */
const LANES = 16;
const SCRIPTS = new Map(
  [TAKE, FINISH, STATUS, OBTAIN, PUT, END, ENTER, LEAVE, BEAT].map(({name, lua}) => [
    createHash('sha1').update(lua).digest('hex'),
    name,
  ]),
);

interface Trial {
  /** The script of the first worker at which it is killed, from 1 on. */
  readonly at: number;
  readonly fate: Fate;
}

interface Outcome extends Trial {
  /** How many scripts it sent. */
  readonly sent: number;
  /** The script at which it was killed; nothing where it was through before. */
  readonly killedAt: string | undefined;
}

describe('S1 a worker that is killed', needs('Redis'), () => {
  test('S1 at any script, before it, before its answer and after it, leaves a job that another worker finishes', {
    timeout: 600_000,
    tags: 'stress',
  }, async () => {
    const origin = await startRecordingOrigin();
    const engine = await startRedis('--databases', '1000');
    onTestFinished(() => engine.stop());
    let databases = 0;

    async function tryOne({at, fate}: Trial): Promise<Outcome> {
      databases += 1;
      const database = databases;
      const hosts = [1, 2].map(host => `127.${1 + (database >> 8)}.${database & 255}.${host}`);
      const urls = [0, 1, 2].map(page => `http://${hosts[page % 2]}:${origin.port}/${page}`);
      const own = `${engine.url}/${database}`;
      const fleet = openCrawlFleet({urls, port: origin.port, engine: own, atOnce: 1});
      // A worker that is killed at its first script has no results yet.
      mkdirSync(join(fleet.cwd, 'results', 'killed'));
      const said = JSON.stringify({at, fate, database});
      const started = await here(fleet, own, 'start', 'urls.txt', '--delay', String(GAP_MS), '--lease', '5');
      expect(started.code, said + started.stderr).toBe(0);
      let sent = 0;
      let killedAt: string | undefined;
      const kill = (): void => void worker.child.kill('SIGKILL');
      const proxy = await startEngineProxy(engine.port, {
        onScript: (count, digest) => {
          sent = count;
          if (count !== at) return 'pass';
          killedAt = SCRIPTS.get(digest) ?? digest;
          if (fate === 'drop') kill();
          return fate;
        },
        onAnswer: kill,
      });
      onTestFinished(() => proxy.close());
      const worker = fleet.work('killed', `${proxy.url}/${database}`);
      const code = await worker.ended;
      expect(code, said + worker.output).toBe(killedAt === undefined ? 0 : null);
      await proxy.close();
      const second = await here(fleet, own, 'work', '--out', join('results', 'second'), '--concurrency', '2');
      expect(second.code, said + second.stderr).toBe(0);
      expect(JSON.parse(second.stdout.trim().split('\n').at(-1) ?? ''), said).toMatchObject({
        state: 'finished',
      });

      const results = await exported(fleet, own);
      expect(results, said).toEqual(urls.map(url => `ok ${url}`).sort());
      const {most, gap, distinct, repeated, mostRobots} = origin.checkVisits(hosts);
      expect({most, distinct}, said).toEqual({most: 1, distinct: 3});
      expect(gap, said).toBeGreaterThanOrEqual(GAP_MS);
      // Only what the killed one had under way may be asked for again.
      expect(Math.max(repeated, mostRobots), said).toBeLessThanOrEqual(2);
      return {at, fate, sent, killedAt};
    }

    // Nobody is killed: how many scripts such a job takes. It also makes them known to the engine.
    await tryOne({at: 0, fate: 'drop'});
    const {sent} = await tryOne({at: 0, fate: 'drop'});
    const trials = Array.from({length: sent}, (_, index) => index + 1).flatMap(at =>
      FATES.filter((_, index) => IS_FULL || index === at % FATES.length).map(fate => ({at, fate})),
    );
    const outcomes: Outcome[] = [];
    await Promise.all(
      Array.from({length: LANES}, async () => {
        for (let trial = trials.shift(); trial !== undefined; trial = trials.shift())
          outcomes.push(await tryOne(trial));
      }),
    );
    const killed = outcomes.filter(({killedAt}) => killedAt !== undefined);
    if (IS_FULL) console.log(JSON.stringify({sent, trials: outcomes.length, killed: killed.length}));
    expect(killed.length).toBeGreaterThan(0.9 * outcomes.length);
    expect(new Set(killed.map(({killedAt}) => killedAt))).toEqual(new Set(SCRIPTS.values()));
  });
});

/** A command in this process: what is killed is a process, and who finishes need be none. */
function here(fleet: CrawlFleet, engine: string, ...args: readonly string[]) {
  const flags = ['--job', 'fleet', '--config', fleet.configOf(engine), '--log-level', 'silent'];
  return runCliHere(['crawl', ...args, ...flags], {cwd: fleet.cwd});
}

async function exported(fleet: CrawlFleet, engine: string): Promise<readonly string[]> {
  const {code, stdout, stderr} = await here(fleet, engine, 'export', 'results/killed', 'results/second');
  if (code !== 0) throw new Error(stderr);
  const lines = stdout.trim().split('\n');
  return lines
    .map(line => JSON.parse(line))
    .map(({url, status}) => `${status} ${url}`)
    .sort();
}
