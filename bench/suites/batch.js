// A list of loopback pages to Markdown files, whole processes: on one core, on two, and beside a crawler of Crawlee.
import {fork, spawn, spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {distDirectory} from '../load.js';
import {median, ratios} from '../measure.js';
import {describePages, loadPages} from '../pages.js';

const COPIES = 12;
const ONE = 'forge-tools, one core';
const TWO = 'forge-tools, two cores';
const PEER = 'Crawlee (Cheerio) and turndown, two cores';

export function measure({rounds}) {
  return inTemporaryDirectory(directory => measureIn(directory, rounds));
}

async function measureIn(base, rounds) {
  if (spawnSync('taskset', ['-c', '0,1', 'true'], {stdio: 'ignore'}).status !== 0)
    throw new Error('Two cores and taskset are needed.');
  const pages = loadPages();
  const count = COPIES * pages.length;
  const megabytes = (COPIES * pages.reduce((sum, {bytes}) => sum + bytes, 0)) / 1e6;
  const origin = fork(join(import.meta.dirname, '../serve-pages.js'), {
    execPath: 'taskset',
    execArgv: ['-c', '1', process.execPath],
  });
  const {port} = await new Promise(resolve => origin.once('message', resolve));
  const list = join(base, 'list.txt');
  const urls = Array.from({length: count}, (_, at) => `http://127.0.0.1:${port}/${at}`);
  writeFileSync(list, `${urls.join('\n')}\n`);
  const config = join(base, 'config.toml');
  writeFileSync(config, configOf(port));
  const ours = out => [
    join(distDirectory(), 'bin/forge-tools.js'),
    ...['fetch', '--from', list, '--out', out, '--config', config, '--log-level', 'silent'],
    ...['--concurrency', '32', '--per-host', '32', '--delay', '0', '--no-cache'],
  ];
  const peer = out => [join(import.meta.dirname, '../crawlee-batch.js'), list, out];
  const contenders = {[ONE]: ['0', ours], [TWO]: ['0,1', ours], [PEER]: ['0,1', peer]};
  const costs = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
  const shares = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
  const names = Object.keys(contenders);
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round) % names.length];
      const [cores, argsOf] = contenders[name];
      const out = join(base, 'out');
      mkdirSync(out);
      const {wallMs, cpuMs} = await timed(cores, argsOf(out));
      const files = readdirSync(out, {recursive: true}).filter(file => file.endsWith('.md')).length;
      rmSync(out, {recursive: true});
      if (files !== count) throw new Error(`${name} wrote ${files} of ${count} pages.`);
      costs[name].push(wallMs);
      shares[name].push(cpuMs / wallMs);
    }
  }
  origin.disconnect();
  const rows = calls => names.map(name => ({name, costs: costs[name], calls}));
  return {
    tables: [
      {title: 'pages', unit: 'pages/s', rows: rows(count)},
      {title: 'HTML', unit: 'MB/s', rows: rows(megabytes)},
    ],
    bars: [
      {text: 'two cores: times one core', values: ratios(costs[TWO], costs[ONE]), atLeast: 1.8},
      {text: `two cores: times ${PEER}`, values: ratios(costs[TWO], costs[PEER]), atLeast: 3},
    ],
    remarks: [
      `${count} pages a run: ${describePages(pages)} ${COPIES} times. Start and end of the process are in the time.`,
      `Cores that were busy: ${names.map(name => `${name} ${median(shares[name]).toFixed(2)}`).join('; ')}.`,
      'The origin is a process on the second core, so two cores are never all for one contender.',
      'Ours finds the main content, counts tokens and keeps a manifest; the peer turns the whole body into Markdown.',
    ],
  };
}

function configOf(port) {
  return `[tools.webfetch]
cache_dir = ""
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${port}]
`;
}

/** Wall and processor time of a process with all its threads. */
async function timed(cores, args) {
  const start = performance.now();
  const before = childrenMs();
  const child = spawn('taskset', ['-c', cores, process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${code}.`);
  return {wallMs: performance.now() - start, cpuMs: childrenMs() - before};
}

/** Of all children that have ended, in ticks of 10 ms. */
function childrenMs() {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
