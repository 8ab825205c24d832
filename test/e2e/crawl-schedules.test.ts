import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openCrawlFleet, type Worker} from '../support/crawl-fleet.ts';
import {startEnginePair} from '../support/engine-pair.ts';
import {type EngineProxy, startEngineProxy} from '../support/engine-proxy.ts';
import {needs} from '../support/parts.ts';
import {startRecordingOrigin} from '../support/recording-origin.ts';

/** CI takes what fits into its time; `FORGE_CRAWL_SCHEDULES=20` tries for longer. */
const SCHEDULES = Number(process.env['FORGE_CRAWL_SCHEDULES'] ?? 2);
const FIRST_SEED = Number(process.env['FORGE_CRAWL_SCHEDULES_SEED'] ?? 1);
const WORKERS = 3;
const HOSTS = 10;
const URLS = 400;
const GAP_MS = 100;
const FAULTS = ['kill', 'restart', 'loss', 'flush', 'partition', 'failover'] as const;
const FAULTS_OF_ONE = 6;

interface Fault {
  readonly kind: (typeof FAULTS)[number];
  /** Pages that are fetched between the one before and this one. */
  readonly afterPages: number;
  /** Which worker it hits. */
  readonly worker: number;
  readonly lastsMs: number;
}

interface Schedule {
  readonly faults: readonly Fault[];
  /** By how many hours the clock of each worker is wrong; they take turns. */
  readonly clocks: readonly number[];
}

/** Mulberry32: the same numbers for the same seed, from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function makeSchedule(seed: number): Schedule {
  const random = randomOf(seed);
  const below = (most: number): number => Math.floor(random() * most);
  // Each schedule begins elsewhere, so that few of them have every kind.
  const faults = Array.from({length: FAULTS_OF_ONE}, (_, at) => ({
    kind: FAULTS[at === 0 ? seed % FAULTS.length : below(FAULTS.length)] ?? 'kill',
    afterPages: 5 + below(60),
    worker: below(WORKERS),
    lastsMs: 200 + below(6000),
  }));
  return {faults, clocks: Array.from({length: 5}, () => below(97) - 48)};
}

describe('S1 a fleet of workers', needs('Redis'), () => {
  const seeds = Array.from({length: SCHEDULES}, (_, at) => FIRST_SEED + at);
  test.for(seeds)(
    'S1 faults in the order of seed %d lose nothing and hurry nobody',
    {
      timeout: 180_000,
      tags: 'stress',
    },
    async seed => {
      const {faults, clocks} = makeSchedule(seed);
      const said = JSON.stringify({seed, faults, clocks});
      const origin = await startRecordingOrigin();
      const pair = await startEnginePair();
      onTestFinished(() => pair.stop());
      const urls = Array.from(
        {length: URLS},
        (_, at) => `http://127.0.2.${(at % HOSTS) + 1}:${origin.port}/${at}`,
      );
      // What speaks with the engine for the test.
      const own = await startEngineProxy(pair.port());
      onTestFinished(() => own.close());
      const fleet = openCrawlFleet({urls, port: origin.port, engine: own.url, atOnce: 4});
      const start = ['start', 'urls.txt', '--delay', String(GAP_MS), '--lease', '5'];
      const names: string[] = [];
      const crew = new Map<number, {readonly worker: Worker; readonly proxy: EngineProxy}>();
      const codes: (number | null)[] = [];
      let running = 0;
      let waitsForMore = true;
      const begin = async (at: number): Promise<void> => {
        running += 1;
        const name = `w${names.length}`;
        names.push(name);
        // It may be named before it wrote anything.
        mkdirSync(join(fleet.cwd, 'results', name));
        const proxy = await startEngineProxy(pair.port());
        onTestFinished(() => proxy.close());
        const worker = fleet.work(name, proxy.url, clocks[names.length % clocks.length]);
        crew.set(at, {worker, proxy});
        void worker.ended.then(code => {
          crew.delete(at);
          // Whoever runs workers starts them again. One that is through may be too early, as the engine may lose that. One
          // that begins after the job was lost says so.
          const isEarly = code === 1 && worker.output.includes('There is no such job');
          if (!isEarly) codes.push(code);
          if (code === null || isEarly || waitsForMore) void begin(at);
          running -= 1;
        });
      };
      const allEnded = (): Promise<void> =>
        expect.poll(() => running, {timeout: 100_000, interval: 50, message: said}).toBe(0);

      expect((await fleet.run(start)).code, said).toBe(0);
      pair.keep();
      await Promise.all(Array.from({length: WORKERS}, (_, at) => begin(at)));
      for (const {kind, afterPages, worker: at, lastsMs} of faults) {
        const until = origin.pages() + afterPages;
        const isDue = (): boolean => origin.pages() >= until || origin.checkVisits().distinct === URLS;
        await expect.poll(isDue, {timeout: 60_000, interval: 20, message: said}).toBe(true);
        const hit = crew.get(at);
        switch (kind) {
          case 'kill':
            hit?.worker.child.kill('SIGKILL');
            break;
          case 'restart':
            await pair.restart();
            pair.keep();
            break;
          case 'loss':
            await pair.restartWithLoss();
            break;
          case 'flush': {
            await pair.flush();
            const again = await fleet.run([
              ...start,
              '--results',
              names.map(name => `results/${name}`).join(),
            ]);
            expect(again.code, said + again.output).toBe(0);
            pair.keep();
            break;
          }
          case 'partition':
            hit?.proxy.cut();
            setTimeout(() => hit?.proxy.heal(), lastsMs);
            break;
          case 'failover':
            await pair.failOver();
            pair.keep();
            for (const {proxy} of crew.values()) proxy.retarget(pair.port());
            own.retarget(pair.port());
        }
      }
      waitsForMore = false;
      await allEnded();
      // What the last fault took from the engine is nobody's, if all were through before.
      for (let more = 0; more < 3 && (await fleet.status()).state !== 'finished'; more += 1) {
        await begin(0);
        await allEnded();
      }
      expect((await fleet.status()).state, said).toBe('finished');

      const {most, gap, closest, pages, distinct, repeated} = origin.checkVisits();
      if (SCHEDULES > 2) console.log(JSON.stringify({seed, kinds: faults.map(({kind}) => kind), pages, gap}));
      expect({most, distinct}, said).toEqual({most: 1, distinct: URLS});
      expect(gap, `${said} ${closest}`).toBeGreaterThanOrEqual(GAP_MS);
      // What is fetched again is what a fault took from the engine or from a worker.
      expect(repeated, said).toBeLessThanOrEqual(1 + FAULTS_OF_ONE);
      // A worker ends because nothing is left, or because it was killed.
      expect(
        codes.filter(code => code !== 0 && code !== null),
        said,
      ).toEqual([]);
      const results = await fleet.exported(names);
      expect(results.map(({url}) => url).sort(), said).toEqual([...urls].sort());
      expect(
        results.filter(({status}) => status !== 'ok'),
        said,
      ).toEqual([]);
    },
  );
});
