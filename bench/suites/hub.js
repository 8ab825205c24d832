// What replicas share through an engine of the Redis protocol: pages stored and taken, and the turns of hosts.
// Needs `redis-server` in PATH. The engine is a process of its own; client and scripts are what is measured.
import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {setMaxListeners} from 'node:events';
import {createServer} from 'node:net';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs} from '../load.js';
import {alternate, wallTime} from '../measure.js';

const PAGE = 20_000;
const PAGES = 1000;
/** Asked for at the same time. */
const BATCH = 64;
const TTL_MS = 600_000;
const HOSTS = 200;
const ENTERS = 20_000;

export function measure({rounds}) {
  return inTemporaryDirectory(async directory => {
    const engine = await startEngine(directory);
    try {
      return await measureWith(engine.url, rounds);
    } finally {
      engine.stop();
    }
  });
}

async function measureWith(url, rounds) {
  const {openHub} = await loadOurs('hub/open-hub.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {resolveConfig} = await loadOurs('config/resolve-config.js');
  const {readEnvironment} = await loadOurs('config/environment.js');
  const given = {url, host_gap_ms: 0, max_per_host: 64, budget_ms: 10_000};
  const resolved = expectOk(resolveConfig({tools: {hub: given}}, readEnvironment()));
  const hub = expectOk(
    await openHub(resolved.config.tools.hub, {env: {}, clock: systemClock, log: () => {}}),
  );
  const {signal} = new AbortController();
  setMaxListeners(0, signal);
  const terms = {signal, waitMs: 10_000};
  const body = randomBytes(PAGE);
  const put = async name => {
    const {kind, turn} = await hub.bodies.obtain(name, {...terms, anew: true});
    if (kind !== 'turn' || !(await turn.put(body, TTL_MS))) throw new Error('The page was not kept.');
  };
  for (let at = 0; at < PAGES; at += BATCH) await Promise.all(batch(at).map(put));
  let next = 0;
  const many = work => () => {
    next = (next + BATCH) % PAGES;
    return Promise.all(batch(next).map(work));
  };
  const enter = async name => {
    const entered = expectOk(await hub.hosts.enter(name, {...terms, leaseMs: 30_000}));
    entered.leave();
  };
  const costs = await alternate(
    {
      'a page taken': many(async name => {
        if ((await hub.bodies.obtain(name, terms)).kind !== 'found')
          throw new Error('The page is not there.');
      }),
      'a page stored': many(put),
      'a host entered and left': many(enter),
    },
    3 * rounds,
    {clock: wallTime},
  );
  const waits = await enterUnderLoad(enter);
  await hub.close();
  return {
    tables: [
      {
        title: `${PAGE / 1000} KB a page, ${BATCH} at a time, one client`,
        unit: 'a second',
        rows: Object.entries(costs).map(([name, ms]) => ({name, costs: ms, calls: BATCH})),
      },
    ],
    bars: [],
    remarks: [
      `${ENTERS} turns of ${HOSTS} hosts, ${BATCH} at a time: half within ${waits(0.5)} ms, 99 of 100 within ${waits(0.99)} ms.`,
      'The engine shares the core with the client where the suite is pinned to one.',
    ],
  };
}

function batch(from) {
  return Array.from({length: BATCH}, (_, index) => `page ${(from + index) % PAGES}`);
}

/** How long a turn takes that nobody else holds. */
async function enterUnderLoad(enter) {
  const times = [];
  let started = 0;
  const work = async () => {
    while (started < ENTERS) {
      started += 1;
      const host = `host-${started % HOSTS}.test`;
      const start = performance.now();
      await enter(host);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({length: BATCH}, work));
  times.sort((one, other) => one - other);
  return part => times[Math.floor(part * (times.length - 1))].toFixed(1);
}

export async function startEngine(directory) {
  const port = await freePort();
  const options = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ];
  const child = spawn('redis-server', options.map(String), {stdio: ['ignore', 'pipe', 'inherit']});
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`redis-server ended with ${code}`)));
    child.stdout.on('data', chunk => {
      if (String(chunk).includes('Ready to accept')) resolve();
    });
  });
  return {url: `redis://127.0.0.1:${port}`, stop: () => child.kill('SIGKILL')};
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const {port} = server.address();
      server.close(() => resolve(port));
    });
  });
}

function expectOk(result) {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
