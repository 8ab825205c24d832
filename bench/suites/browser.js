// A page in the browser, from the call to the result, beside a bare Chromium that navigates to the same page
// and waits for the same half second of silence, which is taken off.
import {existsSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {extname, join} from 'node:path';
import {bareChromium} from '../bare-chromium.js';
import {aChromiumWaits} from '../chromium-waits.js';
import {loadOurs} from '../load.js';
import {alternate, wallTime} from '../measure.js';

const QUIET_MS = 500;
const OURS = 'web_fetch, namespace and flags';
const KEPT = 'web_fetch, keep_ready';
const CHROMIUM = process.env.FORGE_TEST_CHROMIUM_PATH ?? '/usr/bin/chromium';
/** With a Chromium that waited. */
const MOST_MS = 350;
const PAGES = {'static page': '/static', 'React page': '/trails/2'};

export async function measure({rounds}) {
  if (!existsSync(CHROMIUM)) throw new Error(`There is no Chromium at ${CHROMIUM}.`);
  const server = await serve();
  const {port} = server.address();
  const tables = [];
  const bars = [];
  for (const [title, path] of Object.entries(PAGES)) {
    const url = `http://127.0.0.1:${port}${path}`;
    const kept = await webFetch(url, {keep_ready: true});
    let isKept = false;
    const contenders = {
      [OURS]: (await webFetch(url)).work,
      [KEPT]: async () => {
        await kept.work();
        isKept = true;
      },
      'web_fetch, flags only': (await webFetch(url, {isolation: 'flags'})).work,
      'bare Chromium': await bareChromium(CHROMIUM, url, false),
      'bare Chromium, our flags': await bareChromium(CHROMIUM, url, true),
    };
    // The next one is made between two pages: it is there before anybody is measured.
    const before = async () => isKept && (await aChromiumWaits());
    const costs = await alternate(contenders, rounds, {clock: wallTime, sampleMs: 0, before});
    await kept.close();
    const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms.map(one => one - QUIET_MS)}));
    tables.push({title, rows, ours: OURS});
    const values = rows.find(({name}) => name === KEPT).costs;
    bars.push({text: `${title}, keep_ready: ms`, values, atMost: MOST_MS});
  }
  server.closeAllConnections();
  server.close();
  const remarks = [
    `Without the ${QUIET_MS} ms of silence that all of them wait for.`,
    'With keep_ready a Chromium waited before every page; its start is not counted.',
  ];
  return {tables, bars, remarks};
}

async function webFetch(url, settings = {}) {
  const {createToolbox} = await loadOurs('index.js');
  const security = {
    block_loopback: false,
    allow_insecure_overrides: true,
    allowed_ports: [Number(new URL(url).port)],
  };
  const webfetch = {cache_dir: '', browser: {chromium_path: CHROMIUM, ...settings}, security};
  const toolbox = createToolbox({config: {tools: {webfetch}}});
  const work = async () => {
    const result = await toolbox.webFetch({url, force_browser: true});
    if (!result.ok) throw new Error(result.error.message);
  };
  return {work, close: () => toolbox.close()};
}

async function serve() {
  const spa = join(import.meta.dirname, '../../test/fixtures/spa/react');
  const types = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css'};
  const trail = {name: 'Old Mill Path', text: 'Follow the leat to the ruined mill.', warden: 7};
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://x').pathname;
    const answer = (type, body) => response.writeHead(200, {'Content-Type': type}).end(body);
    if (path === '/robots.txt' || path.endsWith('.ico') || path.endsWith('.png')) {
      return response.writeHead(404).end();
    }
    if (path === '/static') return answer('text/html', `<title>T</title>${'<p>text</p>'.repeat(200)}`);
    if (path.startsWith('/api/')) return answer('application/json', JSON.stringify(trail));
    const file = extname(path) === '' ? 'index.html' : path.slice(1);
    return answer(types[extname(file)], readFileSync(join(spa, file)));
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}
