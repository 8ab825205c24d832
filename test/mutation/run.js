// npm run test:mutation [-- [--record] MODULE…]: changes the code of rooms and looks whether a test notices.
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {judge} from './judge.js';
import {MODULES} from './modules.js';
import {mutate} from './mutate.js';
import {openSandbox} from './sandbox.js';

const LEAST_SCORE = 90;

const COLUMNS = [
  ['module', row => row.module],
  ['mutants', row => row.mutants],
  ['killed', row => row.killed],
  ['timed out', row => row.timedOut],
  ['survived', row => row.survived],
  ['no coverage', row => row.noCoverage],
  ['equivalent', row => row.equivalent],
  ['score', row => `${row.score.toFixed(1)} %`],
  ['raw score', row => `${row.raw.toFixed(1)} %`],
  ['seconds', row => row.seconds],
  ['date', row => row.date ?? ''],
];

const isRecorded = process.argv.includes('--record');
const named = process.argv.slice(2).filter(argument => argument !== '--record');
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
    const verdict = judge(
      await mutate(MODULES[name](sandbox.root), sandbox, interrupted.signal),
      equivalentsOf(name),
    );
    rows.push({module: name, ...verdict, seconds: Math.round((performance.now() - started) / 1000)});
    printFindings(name, verdict);
  } finally {
    sandbox.remove();
  }
}
console.log(table(rows));
if (isRecorded) record(rows);
if (rows.some(({score, stale}) => score < LEAST_SCORE || stale.length > 0)) process.exitCode = 1;

/** A package of its own, so that the root's install stays small. */
function installInstrumenter() {
  if (existsSync(new URL('node_modules/@stryker-mutator/instrumenter/package.json', import.meta.url))) return;
  console.error('Installing the instrumenter (npm ci in test/mutation/) …');
  const cwd = fileURLToPath(new URL('.', import.meta.url));
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

/** The newest figures of each module, in `results/`, and all of them in one table. */
function record(rows) {
  const directory = new URL('results/', import.meta.url);
  mkdirSync(directory, {recursive: true});
  const date = new Date().toISOString().slice(0, 10);
  for (const {survivors: _, stale: __, ...row} of rows) {
    writeFileSync(new URL(`${row.module}.json`, directory), `${JSON.stringify({...row, date}, null, 2)}\n`);
  }
  const recorded = readdirSync(directory)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => JSON.parse(readFileSync(new URL(name, directory), 'utf8')));
  writeFileSync(new URL('README.md', directory), `# Mutation scores\n\n${table(recorded)}\n`);
}

function table(rows) {
  const lines = [COLUMNS.map(([title]) => title), COLUMNS.map(() => '---')];
  for (const row of rows) lines.push(COLUMNS.map(([, value]) => value(row)));
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n');
}
