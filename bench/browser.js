// Prints how long a page in the browser takes, from the call to the result, beside a bare Chromium that
// navigates to the same page and waits for the same half second of silence.
// usage: node bench/browser.js [--chromium PATH] [--rounds N]
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {extname, join} from 'node:path';
import {parseArgs} from 'node:util';
import {createToolbox} from '../dist/index.js';
import {CdpConnection} from '../dist/web/browser/cdp-connection.js';
import {chromiumFlags} from '../dist/web/browser/flags.js';

const {values} = parseArgs({
  options: {chromium: {type: 'string', default: '/usr/bin/chromium'}, rounds: {type: 'string', default: '9'}},
});
const rounds = Number(values.rounds);
const QUIET_MS = 500;

const spa = join(import.meta.dirname, '../test/fixtures/spa/react');
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css'};
const trail = {name: 'Old Mill Path', text: 'Follow the leat to the ruined mill.', warden: 7};
const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://x').pathname;
  if (path === '/robots.txt' || path.endsWith('.ico') || path.endsWith('.png'))
    return response.writeHead(404).end();
  if (path === '/static') {
    return response
      .writeHead(200, {'Content-Type': 'text/html'})
      .end(`<title>T</title>${'<p>text</p>'.repeat(200)}`);
  }
  if (path.startsWith('/api/')) {
    return response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify(trail));
  }
  const file = extname(path) === '' ? 'index.html' : path.slice(1);
  return response.writeHead(200, {'Content-Type': TYPES[extname(file)]}).end(readFileSync(join(spa, file)));
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const {port} = server.address();

const layers = ['auto', 'flags'];
const OUR_FLAGS = chromiumFlags({profile: '', sandbox: false, contained: false}).filter(
  flag => !flag.startsWith('--user-data-dir'),
);
console.log(
  `median of ${rounds} (min … max) in ms, without the ${QUIET_MS} ms of silence that both wait for\n`,
);
for (const [name, path] of [
  ['static page', '/static'],
  ['React page', '/trails/2'],
]) {
  const url = `http://127.0.0.1:${port}${path}`;
  const ways = new Map([
    ['bare Chromium', () => bare(url, [])],
    ['bare Chromium, our flags', () => bare(url, OUR_FLAGS)],
  ]);
  for (const isolation of layers)
    ways.set(`web_fetch, isolation ${isolation}`, await webFetch(url, isolation));
  const times = new Map([...ways.keys()].map(way => [way, []]));
  // Alternately, so that what else the machine does falls on all alike.
  for (let round = -1; round < rounds; round += 1) {
    for (const [way, run] of ways) {
      const begun = performance.now();
      await run();
      if (round >= 0) times.get(way).push(performance.now() - begun - QUIET_MS);
    }
  }
  for (const [way, ms] of times) {
    const sorted = ms.toSorted((a, b) => a - b);
    const shown = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)].map(Math.round);
    console.log(
      `${name.padEnd(12)} ${way.padEnd(28)} ${String(shown[0]).padStart(5)} (${shown[1]} … ${shown[2]})`,
    );
  }
}
server.closeAllConnections();
server.close();

async function webFetch(url, isolation) {
  const toolbox = createToolbox({
    config: {
      tools: {
        webfetch: {
          cache_dir: '',
          browser: {chromium_path: values.chromium, isolation},
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  return async () => {
    const result = await toolbox.webFetch({url, force_browser: true});
    if (!result.ok) throw new Error(result.error.message);
  };
}

/** No interception, no guard, no sandbox: what a script of ten lines would do. */
async function bare(url, more) {
  const profile = mkdtempSync(join(tmpdir(), 'bench-browser-'));
  const plain = ['--headless', '--no-sandbox', '--no-first-run', '--remote-debugging-pipe'];
  const flags = [...plain, ...more, `--user-data-dir=${profile}`];
  const child = spawn(values.chromium, flags, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const connection = new CdpConnection(child.stdio[3], child.stdio[4]);
  const {value: target} = await connection.send('Target.createTarget', {url: 'about:blank'});
  const attach = {targetId: target.targetId, flatten: true};
  const {value: attached} = await connection.send('Target.attachToTarget', attach);
  const session = attached.sessionId;
  await connection.send('Page.enable', {}, session);
  await connection.send('Page.setLifecycleEventsEnabled', {enabled: true}, session);
  let loader;
  const idle = new Promise(resolve => {
    connection.on('Page.lifecycleEvent', event => {
      if (event.name === 'networkIdle' && event.loaderId === loader) resolve();
    });
  });
  connection.on('Page.frameNavigated', ({frame}) => {
    loader = frame.loaderId;
  });
  await connection.send('Page.navigate', {url}, session);
  await idle;
  const expression = 'document.documentElement.outerHTML';
  await connection.send('Runtime.evaluate', {expression, returnByValue: true}, session);
  const ended = new Promise(resolve => child.once('exit', resolve));
  process.kill(-child.pid, 'SIGKILL');
  await ended;
  rmSync(profile, {recursive: true, force: true, maxRetries: 5});
}
