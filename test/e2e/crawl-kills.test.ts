import {createHash} from 'node:crypto';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {END, OBTAIN, PUT} from '../../src/hub/body-scripts.ts';
import {FINISH, TAKE} from '../../src/hub/frontier/frontier-scripts.ts';
import {STATUS} from '../../src/hub/frontier/job-scripts.ts';
import {BEAT, ENTER, LEAVE} from '../../src/hub/host-scripts.ts';
import {type CrawlFleet, openCrawlFleet} from '../support/crawl-fleet.ts';
import {type Fate, startEngineProxy} from '../support/engine-proxy.ts';
import {startRecordingOrigin} from '../support/recording-origin.ts';
import {REDIS_SERVER, startRedis} from '../support/redis-engine.ts';
import {runCliHere} from '../support/run-cli-here.ts';

/** Each script with each fate; else the fates take turns. */
const IS_FULL = process.env['FORGE_TEST_CRAWL'] === 'full';
const FATES: readonly Fate[] = ['drop', 'hold', 'tell'];
const GAP_MS = 25;
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

describe.runIf(REDIS_SERVER !== undefined)('S1 a worker that is killed', () => {
  test('S1 at any script, before it, before its answer and after it, leaves a job that another worker finishes', {
    timeout: 600_000,
    tags: 'slow',
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
