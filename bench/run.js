// Measures forge-tools against its peers, suite by suite, each in a process of its own on one core.
// usage: npm run bench [-- SUITE... --rounds N --write --pages DIR --dist DIR --before DIR --core N --quick]
import {fork, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {parseArgs} from 'node:util';
import {mergeReports, printComparison} from './compare-builds.js';
import {distDirectory} from './load.js';
import {machineFacts} from './machine.js';
import {installPeers} from './peers.js';
import {checkBars, printReport} from './report.js';

/** Suite → whether it is run beside peers. */
const SUITES = {
  tokens: true,
  extract: true,
  chunks: true,
  growth: false,
  hostile: false,
  cache: false,
  robots: true,
  transport: true,
  'worker-pool': false,
  startup: false,
  install: false,
  memory: true,
  workspace: false,
  browser: false,
  sandbox: false,
  egress: false,
  'mcp-http': false,
  hub: false,
  crawl: false,
  batch: true,
};
/** Of `--quick`: what tells within two minutes whether something became slow. Two rounds each. */
const QUICK = ['startup', 'tokens', 'cache', 'robots', 'transport', 'mcp-http', 'sandbox'];

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: {type: 'string', default: '7'},
    write: {type: 'boolean', default: false},
    pages: {type: 'string', default: ''},
    dist: {type: 'string', default: ''},
    before: {type: 'string', default: ''},
    core: {type: 'string', default: '0'},
    quick: {type: 'boolean', default: false},
  },
});
const unknown = positionals.filter(name => !(name in SUITES));
const rounds = values.quick ? 2 : Number(values.rounds);
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  if (unknown.length > 0) console.error(`There is no suite "${unknown.join('", "')}".`);
  else console.error(`Expected --rounds to be a whole number from 1 on, got "${values.rounds}".`);
  console.error(
    `usage: npm run bench [-- SUITE... --rounds N --write]\nsuites: ${Object.keys(SUITES).join(', ')}`,
  );
  process.exit(2);
}
if (values.dist !== '') process.env.FORGE_BENCH_DIST = resolve(values.dist);
if (values.pages !== '') process.env.FORGE_BENCH_PAGES = resolve(values.pages);
/** Another checkout. */
const before = values.before === '' ? undefined : resolve(values.before);
if (
  ![distDirectory(), ...(before === undefined ? [] : [join(before, 'dist')])].every(build =>
    existsSync(join(build, 'index.js')),
  )
) {
  console.error('There is no build to measure. Run "npm run build" first.');
  process.exit(2);
}

const everything = values.quick ? QUICK : Object.keys(SUITES);
const wanted = positionals.length > 0 ? positionals : everything;
const peers = wanted.some(name => SUITES[name]) && installPeers();
const pinned = spawnSync('taskset', ['--version'], {stdio: 'ignore'}).status === 0;
let short = 0;
for (const name of wanted) {
  console.log(`\n== ${name}\n`);
  if (SUITES[name] && !peers) {
    console.log('(not measured: the peers are not installed)');
    continue;
  }
  if (before !== undefined) {
    await compare(name);
    continue;
  }
  const report = await runSuite(name, distDirectory());
  if (!report) {
    console.log(`(not measured: bench/suites/${name}.js ended without a result)`);
    continue;
  }
  const text = printReport(report);
  console.log(text);
  short += checkBars(report.bars).filter(({holds}) => !holds).length;
  if (values.write) store(name, report, text);
}
if (short > 0) console.log(`\n${short} of the bars fell short.`);

/** Both builds in turns, two times each: what else the machine does falls on both. */
async function compare(name) {
  const then = join(before, 'dist');
  // These suites may not know where an older build has its parts; its own do.
  let bench = import.meta.dirname;
  let first = await runSuite(name, then, bench);
  if (!first && existsSync(join(before, `bench/suites/${name}.js`))) {
    bench = join(before, 'bench');
    first = await runSuite(name, then, bench);
  }
  const now = [await runSuite(name, distDirectory()), await runSuite(name, distDirectory())];
  const reports = [[first, await runSuite(name, then, bench)], now].map(list => list.filter(Boolean));
  if (reports.some(list => list.length === 0)) {
    console.log(`(not compared: bench/suites/${name}.js ended without a result)`);
    return;
  }
  const [old, own] = reports.map(mergeReports);
  const text = printComparison(old, own);
  console.log(text);
  if (values.write) store(`${name}-before-after`, {before: old, after: own}, text);
}

function runSuite(name, build, bench = import.meta.dirname) {
  const child = fork(join(bench, 'run-suite.js'), [name, String(rounds)], {
    env: {...process.env, FORGE_BENCH_DIST: build},
    // One core: what runs beside a contender on another core would be free of charge.
    ...(pinned && {execPath: 'taskset', execArgv: ['-c', values.core, process.execPath]}),
  });
  return new Promise(resolveReport => {
    let report;
    child.on('message', message => {
      report = message;
    });
    child.on('close', () => resolveReport(report));
  });
}

function store(name, report, text) {
  const date = new Date().toISOString().slice(0, 10);
  const directory = join(import.meta.dirname, 'results');
  mkdirSync(directory, {recursive: true});
  const machine = {...machineFacts(), pinned, rounds};
  const file = join(directory, `${date}-${name}`);
  const record = {suite: name, date, machine, ...report, ...(report.bars && {bars: checkBars(report.bars)})};
  writeFileSync(`${file}.json`, `${JSON.stringify(record, roundFigures)}\n`);
  const {cpu, cores, memoryGb, system, node} = machine;
  const facts = `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}, ${rounds} rounds${pinned ? ', pinned to one core' : ''}.`;
  writeFileSync(`${file}.md`, `# ${name}, ${date}\n\n${facts}\n\n\`\`\`\n${text}\n\`\`\`\n`);
}

function roundFigures(_key, value) {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
