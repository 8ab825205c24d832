// Fetches pages with caches in places that fail, one JSON line for each fetch.
// usage, as root in a fresh mount namespace and with dist/ built: node cache-files-places.js DIRECTORY
import {spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {createToolbox} from '../../../dist/index.js';

const [directory] = process.argv.slice(2);
const run = (command, ...args) => {
  const {status, stderr} = spawnSync(command, args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
};

const server = createServer((request, response) => {
  if (request.url === '/robots.txt') return response.writeHead(404).end();
  const body = `<p>${`page ${request.url} `.repeat(1000)}</p>`;
  response.writeHead(200, {'Content-Type': 'text/html'}).end(body);
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const {port} = server.address();

let logs = [];
async function fetchAll(place, cacheDir, pages) {
  logs = [];
  const toolbox = createToolbox({
    log: event => logs.push(event),
    config: {
      tools: {
        webfetch: {
          cache_dir: cacheDir,
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  for (const page of pages) {
    const result = await toolbox.webFetch({url: `http://127.0.0.1:${port}/${page}`});
    const text = result.ok ? result.value.chunks.map(chunk => chunk.text).join(' ') : '';
    const right = text.replace(/\s+/g, ' ') === `page /${page} `.repeat(1000).trim();
    const line = {
      place,
      page,
      code: result.ok ? 'ok' : result.error.code,
      right,
      notes: result.ok ? result.value.notes : [],
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  await toolbox.close();
  const warnings = [
    ...new Set(logs.filter(({event}) => event.startsWith('cache_')).map(({message}) => message)),
  ];
  process.stdout.write(`${JSON.stringify({place, warnings})}\n`);
}

const pages = Array.from({length: 12}, (_, page) => page);
const mount = (name, options) => {
  const place = join(directory, name);
  mkdirSync(place, {mode: 0o700});
  run('mount', '-t', 'tmpfs', '-o', `mode=700,${options}`, 'tmpfs', place);
  return place;
};

const full = mount('full', 'size=64k');
await fetchAll('full', full, pages);
// What fits is there, and a hit cannot be written back.
writeFileSync(join(full, 'ballast'), '');
spawnSync('sh', ['-c', `cat /dev/zero > ${join(full, 'ballast')}`]);
await fetchAll('full, hits', full, [0, 1]);
process.stdout.write(
  `${JSON.stringify({left: readdirSync(full, {recursive: true}).filter(name => name.includes('.tmp.'))})}\n`,
);
rmSync(join(full, 'ballast'));
run('mount', '-o', 'remount,size=1m', full);
await fetchAll('grown', full, pages);
await fetchAll('grown, again', full, pages);

await fetchAll('no inodes', mount('inodes', 'size=1m,nr_inodes=8'), pages);

const frozen = mount('frozen', 'size=1m');
await fetchAll('before', frozen, pages.slice(0, 3));
run('mount', '-o', 'remount,ro', frozen);
await fetchAll('read-only', frozen, pages.slice(0, 6));
await fetchAll('read-only, to be created', join(frozen, 'cache'), [0]);
server.close();
