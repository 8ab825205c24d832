// Fetches a page while names hang whose server never answers.
// usage, in fresh network and mount namespaces and with dist/ built: node dns-held-up-probe.js DIRECTORY
import {spawnSync} from 'node:child_process';
import {existsSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {createToolbox} from '../../../dist/index.js';
import {startHostileDnsServer} from './dns-hostile-server.js';

const NAME_SERVER = '127.0.0.53';
const HANGING = 20;

const [directory] = process.argv.slice(2);
run('ip', ['link', 'set', 'lo', 'up']);
run('ip', ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo']);
put('/etc/resolv.conf', `nameserver ${NAME_SERVER}\noptions timeout:5 attempts:2\n`);
put('/etc/hosts', '127.0.0.1 localhost\n93.184.0.2 listed.dns.test\n');
put('/etc/nsswitch.conf', 'hosts: files dns\n');

const zone = {healthy: [{a: ['93.184.0.1'], aaaa: []}]};
for (let at = 0; at < HANGING; at += 1) zone[`dead-${at}`] = ['silent'];
const dns = await startHostileDnsServer(zone, 'dns.test', NAME_SERVER);
const web = createServer((request, response) => {
  if (request.url === '/robots.txt') response.writeHead(404).end();
  else response.writeHead(200, {'Content-Type': 'text/plain'}).end('page');
});
await new Promise(resolve => web.listen(80, '0.0.0.0', resolve));

const toolbox = createToolbox({
  config: {tools: {webfetch: {cache_dir: '', timeout_seconds: 4, browser: {enabled: false}}}},
});
// Whatever is loaded once is loaded.
await toolbox.webFetch({url: 'http://listed.dns.test/'});
const dead = Object.keys(zone).filter(name => name.startsWith('dead'));
const hanging = dead.map(name => timed(`http://${name}.dns.test/`));
while (dns.queries.length < 2 * HANGING) await new Promise(resolve => setTimeout(resolve, 5));
const healthy = await timed('http://healthy.dns.test/');
const listed = await timed('http://listed.dns.test/');
const ended = await Promise.all(hanging);
await toolbox.close();
const left = process.getActiveResourcesInfo().filter(kind => /^(?:UDP|GetAddr|Query)/.test(kind));
console.log(JSON.stringify({healthy, listed, hanging: ended, left: left.filter(kind => kind !== 'UDPWrap')}));
process.exit();

async function timed(url) {
  const started = performance.now();
  const result = await toolbox.webFetch({url});
  const said = result.ok ? 'ok' : `${result.error.code}/${result.error.details.phase ?? ''}`;
  return {said, elapsedMs: performance.now() - started};
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
