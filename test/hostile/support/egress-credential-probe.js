// Tries to get at a secret that the gate adds to requests, in a network where every packet is seen.
// usage, within a fresh network namespace and with dist/ built: node egress-credential-probe.js SANDBOX < {servers, ca}
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createServer as createTlsServer} from 'node:tls';
import {createToolbox} from '../../../dist/index.js';
import {capturePackets} from '../../support/egress/capture-packets.js';
import {ATTEMPTS, HOST, LIAR, OTHER, PORTS, PRIVATE, SECRET} from './egress-credential-attempts.js';

const [kind] = process.argv.slice(2);
const {servers, ca} = JSON.parse(readFileSync(0, 'utf8'));

const endCapture = await capturePackets('-A');

const heard = [];
const opened = Object.entries(PORTS).map(([name, port]) => {
  const serve = socket => {
    let said = '';
    socket.on('error', () => {});
    socket.on('data', chunk => {
      said += chunk;
      const [, before, length = '0'] = /^([\s\S]*?\r\n\r\n)/.exec(said) ?? [];
      const body = Number(/content-length: (\d+)/i.exec(before ?? '')?.[1] ?? length);
      if (before === undefined || said.length < before.length + body) return;
      heard.push({name, said});
      const path = said.split(' ')[1];
      const fields =
        path === '/redirect'
          ? `Location: https://${OTHER}:${PORTS.other}/from\r\n`
          : path === '/echo'
            ? `X-Echo: ${/authorization: (.*)/i.exec(said)?.[1]}\r\n`
            : '';
      const status = path === '/redirect' ? '302 Found' : '200 OK';
      socket.end(`HTTP/1.1 ${status}\r\n${fields}Content-Length: 7\r\nConnection: close\r\n\r\nreached`);
    });
  };
  const server = name === 'plain' ? createServer(serve) : createTlsServer(servers[name], serve);
  server.on('tlsClientError', () => {});
  return server.listen(port, '127.0.0.1');
});

const names = {
  [HOST]: ['127.0.0.1'],
  [OTHER]: ['127.0.0.1'],
  [LIAR]: ['127.0.0.1'],
  [PRIVATE]: ['10.0.0.7'],
};
const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forge-egress-ws-')));
const runDirectory = mkdtempSync(join(tmpdir(), 'forge-egress-run-'));
const logs = [];
const credential = host => ({host, env: 'REGISTRY_TOKEN', prefix: 'Bearer '});
const toolbox = createToolbox({
  workspace,
  runDirectory,
  log: line => logs.push(line),
  resolver: {
    resolve: async name => names[name] ?? Promise.reject(Object.assign(new Error(name), {code: 'ENOTFOUND'})),
  },
  certificateAuthorities: [ca],
  environment: {
    env: {...process.env, REGISTRY_TOKEN: SECRET},
    cwd: '/',
    tempDir: '/tmp',
    homeDir: `${workspace}-home`,
  },
  config: {
    profile: 'trusted',
    tools: {
      mode: 'enabled',
      webfetch: {
        security: {allow_insecure_overrides: true},
        allow_private: [HOST, OTHER, LIAR].map(host => ({
          host,
          cidr: '127.0.0.0/8',
          ports: Object.values(PORTS),
        })),
      },
      run: {
        sandbox: kind,
        docker: {image: process.env.FORGE_TEST_DOCKER_IMAGE ?? ''},
        egress: {
          allow: [
            `${HOST}:${PORTS.registry}`,
            `${HOST}:${PORTS.other}`,
            `${OTHER}:${PORTS.other}`,
            `${LIAR}:${PORTS.liar}`,
            `${PRIVATE}:${PORTS.registry}`,
            `http://${HOST}:${PORTS.plain}`,
          ],
          credentials: [
            credential(`${HOST}:${PORTS.registry}`),
            credential(`${LIAR}:${PORTS.liar}`),
            credential(`${PRIVATE}:${PORTS.registry}`),
          ],
        },
      },
    },
  },
});

writeFileSync(join(workspace, 'attempts.json'), JSON.stringify(ATTEMPTS));
writeFileSync(join(workspace, 'ca.pem'), ca);
copyFileSync(new URL('./egress-credential-attempt.mjs', import.meta.url), join(workspace, 'attempt.mjs'));
// The image need not have a Node: that of the relay is there.
const node =
  kind === 'docker'
    ? '/run/forge-egress/loader --library-path /run/forge-egress/lib /run/forge-egress/node'
    : 'node';
const result = await call(`${node} attempt.mjs`);
const answers = readFileSync(join(workspace, 'answers.json'), 'utf8');
// Whatever a command can read: the processes, what belongs to the way out, and its own environment.
const found = await call(
  'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/maps /run/forge-egress/ca.pem 2>/dev/null | tr "\\0" "\\n" | grep -c "pk[_]7Y"; env | grep -c "pk[_]7Y"',
);
const rendered = toolbox.renderText(result);
await toolbox.close();
const packets = await endCapture();
for (const server of opened) server.close();

const kept = readdirSync(runDirectory, {recursive: true, withFileTypes: true})
  .filter(entry => entry.isFile())
  .map(entry => readFileSync(join(entry.parentPath ?? entry.path, entry.name), 'latin1'))
  .join('\n');
rmSync(workspace, {recursive: true, force: true});
rmSync(runDirectory, {recursive: true, force: true});
process.stdout.write(
  JSON.stringify({
    exitCode: result.data?.exit_code ?? result.error,
    answers: JSON.parse(answers),
    heard,
    found: found.data?.stdout ?? found.error,
    // Seen at all, and seen with the secret.
    packets: packets.split('\n').filter(line => / IP6? /.test(line)).length,
    leaks: Object.entries({packets, kept, rendered, logs: JSON.stringify(logs), answers})
      .filter(([, text]) => text.includes(SECRET))
      .map(([name]) => name),
    plainIsSeen: packets.includes('/plain'),
  }),
  () => process.exit(0),
);

function call(command) {
  return toolbox.call({tool: 'run', params: {command, timeout_sec: 60}, request_id: ''});
}
