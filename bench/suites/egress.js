// What the gate adds to a connection of a command: time to connect, and bandwidth, beside the same without it. And what
// the check of an address takes when there is much private text.
import {execFileSync, fork, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:https';
import {connect} from 'node:net';
import {cpus, tmpdir} from 'node:os';
import {join} from 'node:path';
import {connect as secure} from 'node:tls';
import {loadOurs} from '../load.js';
import {cpuTime, median, ratios} from '../measure.js';
import {loadPages} from '../pages.js';

const CONNECTIONS = 60;
const BYTES = 256 * 1024 * 1024;
const CHUNK = Buffer.alloc(1024 * 1024, 'x');
const HOST = 'bench.test';
const PRIVATE_CHARACTERS = 10_000_000;
const WORD_CHARACTERS = 7;

export async function measure({rounds}) {
  const places = [mkdtempSync(join(tmpdir(), 'forge-bench-'))];
  const server = createServer(certificate(places[0]), (request, response) => {
    if (request.url === '/small') response.end('ok');
    else {
      let left = BYTES;
      response.setHeader('content-length', left);
      const send = () => {
        while (left > 0) {
          left -= CHUNK.length;
          if (!response.write(CHUNK)) return response.once('drain', send);
        }
        response.end();
      };
      send();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const {port} = server.address();
  const {systemClock} = await loadOurs('core/clock.js');
  const {createGate} = await loadOurs('egress/create-gate.js');
  const {readAllowList} = await loadOurs('egress/allow-list.js');
  const gate = createGate({
    allowList: readAllowList({allow: [`${HOST}:${port}`], presets: []}).value,
    authorize: async () => ({ok: true, value: ['127.0.0.1']}),
    clock: systemClock,
    limits: {maxConnections: 1e9, maxBytes: Number.MAX_SAFE_INTEGER, maxConnectionMs: 600_000},
    places,
    workspace: '/nonexistent',
  });
  const channel = (await gate.open(undefined)).value;
  const detach = channel.attach({onConnection: () => {}});
  const direct = path => get(connect({port, host: '127.0.0.1'}), path);
  const gated = async path => {
    const socket = connect({path: channel.socketPath});
    socket.write(`CONNECT ${HOST}:${port} HTTP/1.1\r\nHost: ${HOST}:${port}\r\n\r\n`);
    await once(socket, 'data');
    return get(socket, path);
  };
  const contenders = {direct, 'by the gate': gated};
  const small = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
  const large = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
  const extras = [];
  for (let round = -1; round < rounds; round += 1) {
    for (let at = 0; at < CONNECTIONS; at += 1) {
      const costs = await eachInTurn(contenders, '/small', round >= 0 ? small : undefined);
      if (round >= 0) extras.push(costs[1] - costs[0]);
    }
    await eachInTurn(contenders, '/large', round >= 0 ? large : undefined);
  }
  detach();
  await gate.close();
  server.close();
  for (const place of places) rmSync(place, {recursive: true, force: true});
  const downloads = await measureDownloads(rounds);
  const checks = await measureChecks(rounds);
  const rowsOf = costs => Object.entries(costs).map(([name, list]) => ({name, costs: list}));
  const extra = median(extras);
  const share = median(large.direct) / median(large['by the gate']);
  return {
    tables: [
      {title: 'one connection by TLS with one small answer', rows: rowsOf(small)},
      {title: `${BYTES / 1024 / 1024} MiB down by TLS, one process`, rows: rowsOf(large)},
      ...(downloads === undefined
        ? []
        : [
            {
              title: '1 GiB down by curl, all cores',
              unit: 'MB/s',
              rows: [
                {name: 'of the host', costs: downloads.direct.map(rate => 1000 / rate), calls: 1},
                {
                  name: 'of a command in bubblewrap',
                  costs: downloads.gated.map(rate => 1000 / rate),
                  calls: 1,
                },
              ],
            },
          ]),
      {title: 'the check of an address', rows: rowsOf(checks.costs)},
    ],
    remarks: [
      'Where client, gate and server share one core and one process, what the gate copies is not done beside them.',
      `The gate adds ${extra.toFixed(2)} ms to a connection and leaves ${share.toFixed(2)} of the bandwidth.`,
      `${checks.links} links of pages were checked a round, after ${PRIVATE_CHARACTERS / 1e6} million characters of private text; processor time.`,
    ],
    bars: [
      {text: 'milliseconds that the gate adds to a connection', values: [extra], atMost: 1},
      {text: 'share of the direct bandwidth, one process', values: [share], atLeast: 0.8},
      ...(downloads === undefined
        ? []
        : [
            {
              text: 'share of the direct bandwidth, by relay and gate',
              values: ratios(downloads.direct, downloads.gated),
              atLeast: 0.8,
            },
          ]),
      {text: 'milliseconds for the check of an address, p99', values: checks.costs.p99, atMost: 1},
    ],
  };
}

/** Megabytes a second; nothing where a program is missing. */
function measureDownloads(rounds) {
  const spread = ['-c', `0-${cpus().length - 1}`];
  const spreads = spawnSync('taskset', [...spread, 'true'], {stdio: 'ignore'}).status === 0;
  const child = fork(join(import.meta.dirname, '../egress-download.js'), [String(rounds)], {
    ...(spreads && {execPath: 'taskset', execArgv: [...spread, process.execPath]}),
  });
  return new Promise(resolve => {
    let rates;
    child.once('message', message => {
      rates = message;
    });
    child.once('close', () => resolve(rates));
  });
}

/** Of each round the median and the 99th of a hundred, over all links. */
async function measureChecks(rounds) {
  const {PrivateText} = await loadOurs('runtime/taint/private-text.js');
  const {KnownAddresses} = await loadOurs('runtime/taint/check-address.js');
  const {checkAddress} = await loadOurs('runtime/taint/check-address.js');
  const index = new PrivateText();
  await index.add(privateText(), 0);
  const known = new KnownAddresses();
  const html = loadPages().map(page => page.html);
  const found = html.flatMap(text => [...text.matchAll(/href="(https?:\/\/[^"]{8,500})"/g)]);
  const links = [...new Set(found.map(([, href]) => href.replaceAll('&amp;', '&')))];
  const costs = {p50: [], p99: []};
  for (let round = -1; round < rounds; round += 1) {
    const times = links.map(link => {
      const start = cpuTime();
      checkAddress(link, known, index);
      return cpuTime() - start;
    });
    if (round < 0) continue;
    times.sort((one, other) => one - other);
    for (const [name, share] of Object.entries({p50: 0.5, p99: 0.99}))
      costs[name].push(times[Math.floor(share * times.length)]);
  }
  return {links: links.length, costs};
}

/** Words that hardly repeat themselves, the same at every run. */
function privateText() {
  const words = [];
  let state = 1;
  for (let made = 0; made < PRIVATE_CHARACTERS; made += WORD_CHARACTERS + 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    words.push(state.toString(36).padStart(WORD_CHARACTERS, 'q'));
  }
  return words.join(' ').slice(0, PRIVATE_CHARACTERS);
}

async function eachInTurn(contenders, path, costs) {
  const took = [];
  for (const [name, ask] of Object.entries(contenders)) {
    took.push(await timed(() => ask(path)));
    costs?.[name].push(took.at(-1));
  }
  return took;
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function get(connection, path) {
  return new Promise((resolve, reject) => {
    const socket = secure({socket: connection, servername: HOST, rejectUnauthorized: false});
    socket.on('error', reject);
    socket.on('data', () => {});
    socket.once('close', resolve);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
  });
}

function certificate(place) {
  const [key, cert] = ['key.pem', 'cert.pem'].map(name => join(place, name));
  const subject = ['-subj', `/CN=${HOST}`, '-days', '2', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], {stdio: 'ignore'});
  return {key: readFileSync(key), cert: readFileSync(cert)};
}
