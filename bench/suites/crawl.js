// The frontier of a crawl in an engine of the Redis protocol, and a crawl of loopback pages with 1 to 8 workers.
// Needs `redis-server` in PATH. Engine, origin and workers are processes of their own.
import {spawn, spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {cpus} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs} from '../load.js';
import {startEngine} from './hub.js';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
const URLS = 100_000;
const HOSTS = 200;
const BATCH = 200;
const PIPELINED = 20;
const TAKEN = 32;
const TAKERS = 4;
const PAGES = 1000;
const WORKERS = [1, 2, 4, 8];
/** What the model is asked about: machines like this one, each with one worker. */
const MACHINES = [1, 2, 4, 8, 16, 32, 64];
/** Workers are what has to share the machine; origin and engine stay on the one core of the suite. */
const EVERY_CORE = ['taskset', '-c', `0-${cpus().length - 1}`];
const SPREADS = spawnSync(EVERY_CORE[0], [...EVERY_CORE.slice(1), 'true'], {stdio: 'ignore'}).status === 0;
const TERMS = {gapMs: 0, perHost: 64, leaseMs: 60_000, maxPending: 1e7, depth: 0, sameSite: false, tries: 3};

export function measure({rounds}) {
  return inTemporaryDirectory(async directory => {
    const engine = await startEngine(directory);
    try {
      const frontier = await measureFrontier(engine.url, rounds);
      const crawl = await measureCrawl(engine.url, directory);
      return {
        tables: [{title: `the frontier, ${HOSTS} hosts`, unit: 'URLs/s', rows: frontier.rows}],
        bars: [
          {text: 'URLs added a second', values: frontier.added, atLeast: 40_000},
          {text: 'URLs taken and finished a second', values: frontier.taken, atLeast: 8000},
          {text: 'bytes of a URL that waits', values: frontier.bytes, atMost: 200},
        ],
        remarks: [
          ...crawl.map(
            ({workers, seconds, cpu}) =>
              `${workers} worker${workers === 1 ? '' : 's'}: ${PAGES} pages in ${seconds.toFixed(1)} s, ${Math.round(PAGES / seconds)} a second; the engine worked for ${((cpu * 1e6) / PAGES).toFixed(0)} µs a page.`,
          ),
          predict(crawl[0]),
          `Workers run on ${SPREADS ? `all ${cpus().length} cores` : 'one core'}; origin and engine take their part of one. More workers than cores show nothing more.`,
        ],
      };
    } finally {
      engine.stop();
    }
  });
}

/**
 * Amdahl's law: what the engine does for a page is the one thing that machines share. `seconds` and `cpu` are those of
 * one worker, whose origin and engine took their part of the same cores.
 */
function predict({seconds, cpu}) {
  const rate = PAGES / seconds;
  const serial = cpu / seconds;
  const rates = MACHINES.map(count => `${count}: ${Math.round((count * rate) / (1 + serial * (count - 1)))}`);
  return `Model, not measured: the serial part of a page is ${(100 * serial).toFixed(1)} %, so machines would read ${rates.join(', ')} pages a second, and never more than ${Math.round(PAGES / cpu)}.`;
}

async function measureFrontier(url, rounds) {
  const {openHubConnection} = await loadOurs('hub/connection.js');
  const {openFrontier} = await loadOurs('hub/frontier.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const connection = expectOk(
    await openHubConnection(settings(url), {env: {}, clock: systemClock, log: () => {}}),
  );
  const engine = async (...command) =>
    expectOk(await connection.run({name: 'bench', lua: 'return redis.call(unpack(ARGV))'}, [], command));
  const used = async () => Number(/used_memory:(\d+)/.exec(await engine('INFO', 'memory'))[1]);
  const urls = Array.from({length: URLS}, (_, at) => {
    const host = `host-${at % HOSTS}.example.com`;
    return {url: `https://${host}/some/path/of-a-page/${at}`, host, depth: 0};
  });
  const [added, taken, bytes] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const job = `bench-${round}`;
    const frontier = openFrontier(connection, job);
    const {epoch, listed} = expectOk(await frontier.start(TERMS));
    const before = await used();
    let start = performance.now();
    for (let from = 0; from < URLS; from += BATCH * PIPELINED) {
      const steps = Array.from({length: PIPELINED}, (_, step) =>
        frontier.add(epoch, urls.slice(from + step * BATCH, from + (step + 1) * BATCH)),
      );
      for (const answer of await Promise.all(steps)) expectOk(answer);
    }
    added.push(URLS / seconds(start));
    bytes.push(((await used()) - before) / URLS);
    expectOk(await listed());
    await engine('HSET', connection.key('g', 'j', job, 'n'), 'hold', '0');
    start = performance.now();
    await Promise.all(Array.from({length: TAKERS}, () => takeAll(frontier)));
    taken.push(URLS / seconds(start));
    expectOk(await frontier.cancel());
  }
  await connection.close();
  const row = (name, rates) => ({name, costs: rates.map(rate => (1000 * BATCH) / rate), calls: BATCH});
  return {added, taken, bytes, rows: [row('added', added), row('taken and finished', taken)]};
}

async function takeAll(frontier) {
  for (;;) {
    const {state, urls} = expectOk(await frontier.take(TAKEN));
    if (state === 'finished') return;
    if (urls.length > 0) expectOk(await frontier.finish(urls.map(leased => ({leased, outcome: 'done'}))));
  }
}

async function measureCrawl(url, directory) {
  const text = 'Some text of a page, as pages have it. '.repeat(100);
  const origin = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    response.writeHead(200, {'content-type': 'text/html'}).end(`<h1>${request.url}</h1><p>${text}</p>`);
  });
  await new Promise(resolve => origin.listen(0, '0.0.0.0', resolve));
  const {port} = origin.address();
  const config = join(directory, 'config.toml');
  writeFileSync(
    config,
    `[tools.hub]
url = "${url}"
host_gap_ms = 0
max_per_host = 64
[tools.webfetch]
cache_dir = ""
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${port}]
`,
  );
  const results = [];
  for (const workers of WORKERS) {
    // Other pages each time: what the engine keeps of one round is no page of the next.
    const list = Array.from(
      {length: PAGES},
      (_, at) => `http://127.0.0.${(at % 100) + 1}:${port}/${workers}/${at}`,
    );
    const file = join(directory, `urls-${workers}.txt`);
    writeFileSync(file, list.join('\n'));
    const job = ['--job', `loopback-${workers}`, '--config', config, '--log-level', 'silent'];
    await run(['crawl', 'start', file, '--delay', '0', '--per-host', '8', ...job]);
    const before = await engineSeconds(url);
    const start = performance.now();
    const out = ['--out', join(directory, `out-${workers}`)];
    await Promise.all(Array.from({length: workers}, () => run(['crawl', 'work', ...out, ...job])));
    results.push({workers, seconds: seconds(start), cpu: (await engineSeconds(url)) - before});
  }
  await new Promise(resolve => origin.close(resolve));
  return results;
}

/** Processor time of the engine: what workers on other machines would still share. */
async function engineSeconds(url) {
  const {openHubConnection} = await loadOurs('hub/connection.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const connection = expectOk(
    await openHubConnection(settings(url), {env: {}, clock: systemClock, log: () => {}}),
  );
  const info = expectOk(
    await connection.run({name: 'bench', lua: "return redis.call('INFO', 'cpu')"}, [], []),
  );
  await connection.close();
  return Number(/used_cpu_user:([\d.]+)/.exec(info)[1]) + Number(/used_cpu_sys:([\d.]+)/.exec(info)[1]);
}

function settings(url) {
  return {url, username_env: '', password_env: '', ca_file: '', required: false};
}

function run(args) {
  const [command, ...before] = [...(SPREADS ? EVERY_CORE : []), process.execPath, MAIN];
  const child = spawn(command, [...before, ...args], {stdio: ['ignore', 'ignore', 'inherit']});
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => (code === 0 ? resolve() : reject(new Error(`crawl ended with ${code}`))));
  });
}

function seconds(start) {
  return (performance.now() - start) / 1000;
}

function expectOk(result) {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
