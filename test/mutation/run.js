// npm run test:mutation [-- [--record] [--sample N] [--again] MODULE…]: changes the code of rooms and looks whether a test
// notices.
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {countOutcomes} from './count-outcomes.js';
import {MODULES} from './modules.js';
import {mutate} from './mutate.js';
import {openSandbox} from './sandbox.js';

const LEAST_SCORE = 90;
/** What stands between a call and the rest of the machine or of the network. */
const LEAST_SCORE_OF = {guard: 95, sandbox: 95, 'sandbox-guard': 95, jail: 95};

const COLUMNS = [
  ['module', row => row.module],
  [
    'mutants',
    row => (row.sampleOf === undefined ? row.mutants : `sample of ${row.mutants} of ${row.sampleOf}`),
  ],
  ['killed', row => row.killed],
  ['timed out', row => row.timedOut],
  ['of these kept', row => row.kept ?? 0],
  ['survived', row => row.survived],
  ['no coverage', row => row.noCoverage],
  ['equivalent', row => row.equivalent],
  ['score', row => `${row.score.toFixed(1)} %${interval(row)}`],
  ['raw score', row => `${row.raw.toFixed(1)} %`],
  ['seconds', row => row.seconds],
  ['date', row => row.date ?? ''],
];

const {values: asked, positionals: named} = parseArgs({
  options: {
    again: {type: 'boolean', default: false},
    record: {type: 'boolean', default: false},
    sample: {type: 'string'},
  },
  allowPositionals: true,
});
const most = asked.sample === undefined ? undefined : Number(asked.sample);
if (most !== undefined && !(Number.isInteger(most) && most > 0)) {
  throw new Error(`Expected --sample to be a whole number of mutants, 1 or more, got "${asked.sample}"`);
}
const wanted = named.length > 0 ? named : Object.keys(MODULES);
for (const name of wanted) {
  if (!(name in MODULES))
    throw new Error(`Expected one of ${Object.keys(MODULES).join(', ')}, got "${name}"`);
}
installInstrumenter();

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupted.abort());
const rows = [];
for (const name of wanted) {
  const started = performance.now();
  // One for each: what is mutated in one module is as it was in the next.
  const sandbox = openSandbox(fileURLToPath(new URL('../..', import.meta.url)));
  try {
    const {mutants, all, kept} = await mutate({module: name, ...MODULES[name](sandbox.root)}, sandbox, {
      most,
      again: asked.again,
      equivalents: equivalentsOf(name),
      signal: interrupted.signal,
    });
    const isSample = mutants.length < all;
    const {stale, ...counted} = countOutcomes(mutants, equivalentsOf(name));
    // A mutant that the sample leaves out is no survivor, and its entry may be true all the same.
    const findings = {...counted, stale: isSample ? [] : stale};
    rows.push({
      module: name,
      ...(isSample && {sampleOf: all}),
      ...(kept > 0 && {kept}),
      ...findings,
      seconds: Math.round((performance.now() - started) / 1000),
    });
    printFindings(name, findings);
  } finally {
    sandbox.remove();
  }
}
console.log(table(rows));
if (asked.record) record(rows);
const falls = ({module, score, stale}) => score < (LEAST_SCORE_OF[module] ?? LEAST_SCORE) || stale.length > 0;
if (rows.some(falls)) process.exitCode = 1;

/** A package of its own, so that the root's install stays small. */
function installInstrumenter() {
  if (existsSync(new URL('node_modules/@stryker-mutator/instrumenter/package.json', import.meta.url))) return;
  console.error('Installing the instrumenter (npm ci in test/mutation/) …');
  const cwd = fileURLToPath(new URL('./', import.meta.url));
  // Its standard output would stand before the table.
  const {status} = spawnSync('npm', ['ci'], {cwd, stdio: ['ignore', 2, 2]});
  if (status !== 0) throw new Error(`Expected npm ci in ${cwd} to succeed, got exit code ${status}`);
}

/** Survivors of a module that mean the same as the code, each with the reason. */
function equivalentsOf(name) {
  const file = new URL(`equivalent/${name}.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

function printFindings(name, {survivors, stale}) {
  for (const {file, row, covered, line, change} of survivors) {
    console.log(`${file}:${row} ${covered ? 'survived' : 'no coverage'}: ${change}\n    in: ${line}`);
  }
  for (const {file, line, change} of stale) {
    console.log(`equivalent/${name}.json: no such survivor any more: ${file}: ${change}\n    in: ${line}`);
  }
}

/**
 * The newest figures of each module, in `results/`, and all of them in one table. A sample stands beside the
 * full run that it came after, and goes with the next one.
 */
function record(rows) {
  const directory = new URL('results/', import.meta.url);
  mkdirSync(directory, {recursive: true});
  const date = new Date().toISOString().slice(0, 10);
  for (const {survivors: _, stale: __, ...row} of rows) {
    const sample = new URL(`${row.module}.sample.json`, directory);
    const file = row.sampleOf === undefined ? new URL(`${row.module}.json`, directory) : sample;
    writeFileSync(file, `${JSON.stringify({...row, date})}\n`);
    if (file !== sample) rmSync(sample, {force: true});
  }
  const recorded = readdirSync(directory)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => JSON.parse(readFileSync(new URL(name, directory), 'utf8')));
  writeFileSync(new URL('README.md', directory), `# Mutation scores\n\n${table(recorded)}\n`);
}

/** Of a sample, where the score of all lies with a certainty of 95 % (Wilson). */
function interval({sampleOf, killed, timedOut, mutants, equivalent}) {
  if (sampleOf === undefined) return '';
  const [Z, n] = [1.96, mutants - equivalent];
  const share = (killed + timedOut) / n;
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const reach = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return ` (${(100 * (middle - reach)).toFixed(1)}–${(100 * (middle + reach)).toFixed(1)} %)`;
}

function table(rows) {
  const lines = [COLUMNS.map(([title]) => title), COLUMNS.map(() => '---')];
  for (const row of rows) lines.push(COLUMNS.map(([, value]) => value(row)));
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n');
}
