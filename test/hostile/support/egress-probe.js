// Tries every way out of a sandbox that has one way out, in a network where every address answers, and counts packets.
// usage, within a fresh network namespace and with dist/ built: node egress-probe.js SANDBOX < {ca, cert, key}
import {createSocket} from 'node:dgram';
import {mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createServer as createTlsServer} from 'node:tls';
import {createToolbox} from '../../../dist/index.js';
import {capturePackets} from '../../support/egress/capture-packets.js';
import {ATTEMPTS, HOST, PLAIN_PORT, TLS_PORT} from './egress-attempts.js';

const [kind] = process.argv.slice(2);
const {cert, key} = JSON.parse(readFileSync(0, 'utf8'));

const endCapture = await capturePackets();

// Whoever is reached says so: the two that are allowed, and what answers on every other address and port that is tried.
const heard = [];
const plain = createServer(socket => {
  let said = '';
  socket.on('error', () => {});
  socket.on('data', chunk => {
    said += chunk;
    if (!said.includes('\r\n\r\n')) return;
    heard.push(said);
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nreached');
  });
});
const tls = createTlsServer({cert, key}, socket => socket.end('reached'));
tls.on('tlsClientError', () => {});
await listen(plain, PLAIN_PORT);
await listen(tls, TLS_PORT);
const decoys = [80, 443, 853, 8080].map(port =>
  createServer(socket => socket.end('reached')).listen(port, '::'),
);
const dns = createSocket('udp4').bind(53);

const names = {
  [HOST]: [['127.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'mixed.test': [['127.0.0.1', '10.0.0.7']],
  'public-and-private.test': [['93.184.216.34', '10.0.0.7']],
  'rebinding.test': [['10.0.0.7'], ['127.0.0.1']],
  'mapped.test': [['::ffff:10.0.0.7']],
  'zero.test': [['0.0.0.0']],
};
const asked = {};
const resolver = {
  resolve: async name => {
    const answers = names[name];
    if (answers === undefined) throw Object.assign(new Error(name), {code: 'ENOTFOUND'});
    asked[name] = (asked[name] ?? 0) + 1;
    return answers[Math.min(asked[name], answers.length) - 1];
  },
};
const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forge-egress-ws-')));
const runDirectory = mkdtempSync(join(tmpdir(), 'forge-egress-run-'));
const opened = [HOST, 'mixed.test'].map(host => ({host, cidr: '127.0.0.0/8', ports: [TLS_PORT, PLAIN_PORT]}));
const toolbox = createToolbox({
  workspace,
  runDirectory,
  resolver,
  config: {
    profile: 'trusted',
    tools: {
      mode: 'enabled',
      webfetch: {security: {allow_insecure_overrides: true}, allow_private: opened},
      run: {
        sandbox: kind,
        docker: {image: process.env.FORGE_TEST_DOCKER_IMAGE ?? ''},
        egress: {
          allow: [
            `${HOST}:${TLS_PORT}`,
            `http://${HOST}:${PLAIN_PORT}`,
            ...Object.keys(names).flatMap(name => (name === HOST ? [] : [name, `http://${name}`])),
            `mixed.test:${TLS_PORT}`,
            'localhost',
            'http://localhost',
          ],
          max_mb: 1,
          max_connections: 500,
        },
      },
    },
  },
});

const lines = ATTEMPTS.map(({name, way, args, sends = []}) =>
  [name, way, args.join(','), ...sends.map(bytes => bytes.toString('hex'))].join('\t'),
);
writeFileSync(join(workspace, 'attempts.tsv'), `${lines.join('\n')}\n`);
writeFileSync(join(workspace, 'attempt.pl'), readFileSync(new URL('./egress-attempt.pl', import.meta.url)));
const result = await toolbox.call({
  tool: 'run',
  params: {command: 'perl attempt.pl attempts.tsv >answers.tsv', timeout_sec: 100},
  request_id: '',
});
const answers = readFileSync(join(workspace, 'answers.tsv'), 'utf8');
// What the relay is to the gate, any other process may be; without it, nothing else is.
const killed = await call(
  'kill -KILL $(grep -l "^Name:.forge-relay" /proc/[0-9]*/status | cut -d/ -f3) && head -1 attempts.tsv >one.tsv && perl attempt.pl one.tsv',
);
const after = await call('perl attempt.pl one.tsv');
await toolbox.close();
await new Promise(resolve => setTimeout(resolve, 200));
const packets = await endCapture();
for (const server of [plain, tls, ...decoys, dns]) server.close();

const events = readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line))
  .filter(({event}) => event === 'egress_connection')
  .map(({payload: {step, host, port, decision, reason}}) => ({step, host, port, decision, reason}));
rmSync(workspace, {recursive: true, force: true});
rmSync(runDirectory, {recursive: true, force: true});
const elsewhere = packets
  .split('\n')
  .filter(line => / IP6? /.test(line) && !line.includes(`.${TLS_PORT}`) && !line.includes(`.${PLAIN_PORT}`));
process.stdout.write(
  JSON.stringify({
    result,
    answers,
    killed,
    after,
    events,
    heard,
    elsewhere,
    allowed: packets.split('\n').length,
  }),
  () => process.exit(0),
);

async function call(command) {
  const ran = await toolbox.call({tool: 'run', params: {command}, request_id: ''});
  return ran.data ?? ran.error;
}

function listen(server, port) {
  return new Promise(resolve => server.listen(port, '127.0.0.1', resolve));
}
