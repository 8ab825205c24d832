// Fetches every name of the hostile zone through the system's resolver, in a network where all addresses answer.
// usage, in fresh network and mount namespaces and with dist/ built: node dns-probe.js DIRECTORY
import {spawnSync} from 'node:child_process';
import {existsSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {createToolbox} from '../../../dist/index.js';
import {startHostileDnsServer} from './dns-hostile-server.js';
import {CASES, DOMAIN, ZONE} from './dns-zone.js';

const NAME_SERVER = '127.0.0.53';
/** The system gives a server this long, and asks it once. */
const SYSTEM_SECONDS = 2;
const FAST_SECONDS = 10;
const SLOW_SECONDS = 1;

const [directory] = process.argv.slice(2);
run('ip', ['link', 'set', 'lo', 'up']);
run('ip', ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo']);
run('ip', ['-6', 'route', 'add', 'local', '::/0', 'dev', 'lo']);
put('/etc/resolv.conf', `nameserver ${NAME_SERVER}\noptions timeout:${SYSTEM_SECONDS} attempts:1\n`);
put('/etc/hosts', '127.0.0.1 localhost\n');
put('/etc/nsswitch.conf', 'hosts: files dns\n');

const dns = await startHostileDnsServer(ZONE, DOMAIN, NAME_SERVER);

/** Who was connected to, and what for. */
const reached = [];
const url = (name, path = '/') => `http://${name}.${DOMAIN}${path}`;
const REDIRECTS = {
  [url('rebind-redirect')]: '/2',
  [url('to-private')]: url('hop-private'),
  [url('to-rebound')]: url('hop-rebinds'),
  [url('there-and-back')]: url('hop-public', '/back'),
  [url('hop-public', '/back')]: url('there-and-back', '/2'),
  [url('from-robots', '/robots.txt')]: url('hop-private', '/robots.txt'),
};
const web = createServer((request, response) => {
  const asked = `http://${request.headers.host}${request.url}`;
  reached.push({url: asked, address: request.socket.localAddress.replace('::ffff:', '')});
  const location = REDIRECTS[asked];
  if (location !== undefined) response.writeHead(302, {Location: location}).end();
  else if (request.url === '/robots.txt') response.writeHead(404).end();
  else response.writeHead(200, {'Content-Type': 'text/plain'}).end('page');
});
await new Promise(resolve => web.listen(80, '::', resolve));

const toolboxes = [];
const open = (seconds, more = {}) => {
  const webfetch = {
    cache_dir: '',
    timeout_seconds: seconds,
    robots_cache_entries: 0,
    browser: {enabled: false},
  };
  const toolbox = createToolbox({config: {tools: {webfetch: {...webfetch, ...more}}}});
  toolboxes.push(toolbox);
  return toolbox;
};
const fast = open(FAST_SECONDS);
const slow = open(SLOW_SECONDS);

async function say(toolbox, address) {
  const result = await toolbox.webFetch({url: address});
  if (result.ok) return 'ok';
  const {code, details} = result.error;
  return `${code}/${details.error ?? details.phase ?? ''}`;
}

const outcomes = await Promise.all(
  CASES.map(async ({name, slow: isSlow}) => {
    const started = performance.now();
    const said = await say(isSlow ? slow : fast, url(name));
    return {name, said, elapsedMs: performance.now() - started};
  }),
);

/** Calls one after the other, and what came of it. */
async function scene(name, calls, toolbox = fast) {
  const [before, asked] = [reached.length, dns.queries.length];
  const said = [];
  for (const address of calls) said.push(await say(toolbox, address));
  return {name, said, reached: reached.slice(before), queries: dns.queries.slice(asked)};
}

// biome-ignore format: a case is a line
const scenes = [
  await scene('rebind-page', [url('rebind-page')]),
  await scene('rebind-redirect', [url('rebind-redirect')]),
  await scene('there-and-back', [url('there-and-back')]),
  await scene('to-private', [url('to-private')]),
  await scene('from-robots', [url('from-robots')], open(FAST_SECONDS, {robots: {cross_origin_redirects: 'follow'}})),
  await scene('to-rebound', [url('hop-rebinds'), url('to-rebound')]),
  await scene('rebind-call', [url('rebind-call'), url('rebind-call')]),
  await scene('rebind-back', [url('rebind-back'), url('rebind-back')]),
  await scene('rebind-rest', [url('rebind-rest'), url('rebind-rest'), url('rebind-rest')]),
  await scene('control', [url('private'), url('public-then-private')], open(FAST_SECONDS, {security: {block_private_ips: false, allow_insecure_overrides: true}})),
];

await Promise.all(toolboxes.map(toolbox => toolbox.close()));
await new Promise(resolve => web.close(resolve));
await dns.close();

// A lookup that nobody waits for any more ends when the system gives it up.
let left = holdings();
for (let round = 0; left.length > 0 && round < 100; round += 1) {
  await new Promise(resolve => setTimeout(resolve, 100));
  left = holdings();
}
console.log(JSON.stringify({outcomes, scenes, reached, left}));

function holdings() {
  return process.getActiveResourcesInfo().filter(kind => /^(?:TCP|UDP|GetAddr)/.test(kind));
}

/** Puts a file of ours in the place of the system's; this mount namespace alone sees it. */
function put(path, text) {
  if (!existsSync(path)) return;
  const own = join(directory, path.replaceAll('/', '_'));
  writeFileSync(own, text);
  run('mount', ['--bind', own, path]);
}

function run(command, args) {
  const {status, stderr} = spawnSync(command, args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
