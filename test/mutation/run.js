// npm run test:mutation [-- MODULE…]: changes the guards' code and looks whether a test notices.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {judge} from './judge.js';
import {MODULES} from './modules.js';
import {mutate} from './mutate.js';
import {openSandbox} from './sandbox.js';

const LEAST_SCORE = 90;

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(MODULES);
for (const name of wanted) {
  if (!(name in MODULES))
    throw new Error(`Expected one of ${Object.keys(MODULES).join(', ')}, got "${name}"`);
}
installInstrumenter();

const equivalents = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'));
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
      equivalents,
    );
    rows.push({module: name, ...verdict, seconds: Math.round((performance.now() - started) / 1000)});
    printFindings(name, verdict);
  } finally {
    sandbox.remove();
  }
}
printTable(rows);
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

function printFindings(name, {survivors, stale}) {
  for (const {file, row, covered, line, change} of survivors) {
    console.log(`${file}:${row} ${covered ? 'survived' : 'no coverage'}: ${change}\n    in: ${line}`);
  }
  for (const {file, line, change} of stale) {
    console.log(`equivalent.json: no such survivor of ${name} any more: ${file}: ${change}\n    in: ${line}`);
  }
}

function printTable(rows) {
  const columns = [
    'module',
    'mutants',
    'killed',
    'timed out',
    'survived',
    'no coverage',
    'equivalent',
    'score',
  ];
  console.log(`| ${columns.join(' | ')} | raw score | seconds |`);
  console.log(`|${'---|'.repeat(columns.length + 2)}`);
  for (const row of rows) {
    const counts = [row.mutants, row.killed, row.timedOut, row.survived, row.noCoverage, row.equivalent];
    const scores = [row.score, row.raw].map(score => `${score.toFixed(1)} %`);
    console.log(`| ${[row.module, ...counts, ...scores, row.seconds].join(' | ')} |`);
  }
}
