import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {closeSync, openSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isEquivalent} from './count-outcomes.js';
import {instrument} from './instrument.js';
import {keepKills, standingKills} from './known-kills.js';

/** A worker that says nothing for so long is in an endless loop that counting did not find. */
const STALLED_MS = 60_000;
/** But first it runs all tests once, without a mutant: one of them may take so long. */
const STARTING_MS = 600_000;

/**
 * Every mutant of a module, or a sample of `most` of them, with its outcome: `killed`, `timedOut`, `survived`
 * or `noCoverage`; how many there are in all; and of how many the outcome was `kept` from an earlier run, which
 * is asked for with `again`: what died, and of what survived what is listed as `equivalents`.
 */
export async function mutate(
  {module, mutate, tests, leavesOutSlow = false},
  sandbox,
  {most, again, equivalents, signal},
) {
  const every = await instrument(mutate, sandbox);
  const mutants = most === undefined ? every : sample(every, most);
  const listed = mutants.filter(mutant => isEquivalent(mutant, equivalents));
  const kept = new Map(
    (again
      ? [
          ...listed.map(mutant => ({...mutant, outcome: 'survived'})),
          ...standingKills(module, mutants, sandbox.root),
        ]
      : []
    ).map(mutant => [mutant.id, mutant]),
  );
  const left = mutants.filter(({id}) => !kept.has(id));
  const outcomes = await runMutants({tests, leavesOutSlow, mutants: left}, sandbox, {
    signal,
    onWorkerEnd: found => {
      const ended = left.map(mutant => ({...mutant, ...found.get(mutant.id)}));
      keepKills(module, [...standingKills(module, every, sandbox.root), ...ended], sandbox.root);
    },
  });
  return {
    mutants: mutants.map(mutant => kept.get(mutant.id) ?? {...mutant, ...outcomes.get(mutant.id)}),
    all: every.length,
    kept: kept.size,
  };
}

async function runMutants({tests, leavesOutSlow, mutants}, sandbox, {signal, onWorkerEnd}) {
  const results = join(sandbox.root, 'results.jsonl');
  writeFileSync(results, '');
  writeFileSync(
    join(sandbox.root, 'vitest.mutation.config.js'),
    `export default ${JSON.stringify(vitestConfig(sandbox))};\n`,
  );
  const job = JSON.stringify({files: tests, leavesOutSlow, mutants: mutants.map(({id}) => id), results});
  let outcomes = new Map();
  while (outcomes.size < mutants.length) {
    await runWorker(sandbox, job, results, signal);
    const before = outcomes.size;
    outcomes = readOutcomes(results);
    onWorkerEnd(outcomes);
    signal.throwIfAborted();
    if (outcomes.size === before) {
      throw new Error(`The worker came to no outcome:\n${readFileSync(logOf(sandbox), 'utf8')}`);
    }
    console.error(`${outcomes.size} of ${mutants.length} mutants`);
  }
  return outcomes;
}

/** Always the same ones, as long as the code is the same; a change in one file leaves those of the others. */
function sample(mutants, most) {
  const rank = ({file, start, end, replacement}) =>
    createHash('sha256')
      .update(JSON.stringify([file, start, end, replacement]))
      .digest('hex');
  const ranked = mutants.map(mutant => [rank(mutant), mutant]).sort(([a], [b]) => (a < b ? -1 : 1));
  const chosen = new Set(ranked.slice(0, most).map(([, mutant]) => mutant));
  return mutants.filter(mutant => chosen.has(mutant));
}

function vitestConfig({root}) {
  const here = join(root, 'test/mutation');
  return {
    root,
    resolve: {
      alias: {vitest: join(here, 'stand-in.js'), 'fast-check': join(here, 'fast-check.js')},
    },
    test: {include: ['test/mutation/in-worker.js'], setupFiles: [join(here, 'slow-clock.js')]},
  };
}

/** One mutant that started and came to no end is what stalled the worker. */
function readOutcomes(results) {
  const outcomes = new Map();
  for (const line of readFileSync(results, 'utf8').split('\n')) {
    if (line === '') continue;
    const {id, status, by} = JSON.parse(line);
    outcomes.set(id, {outcome: status === 'started' ? 'timedOut' : status, by});
  }
  return outcomes;
}

function logOf({root}) {
  return join(root, 'worker.log');
}

function runWorker(sandbox, job, results, signal) {
  const {root, temporary} = sandbox;
  const log = openSync(logOf(sandbox), 'w');
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const args = [vitest, 'run', '--config', 'vitest.mutation.config.js', '--pool', 'forks', '--silent'];
  const child = spawn(process.execPath, args, {
    cwd: root,
    // What mutants make of the code is much, and of no interest unless nothing else comes of it.
    stdio: ['ignore', log, log],
    env: {...process.env, TMPDIR: temporary, FORGE_MUTANTS: job},
    detached: true,
  });
  // With its own workers: they are a group.
  const stop = () => void (child.exitCode === null && process.kill(-child.pid, 'SIGKILL'));
  signal.addEventListener('abort', stop);
  const before = statSync(results).size;
  let touched;
  let changed = Date.now();
  const watch = setInterval(() => {
    const {size, mtimeMs} = statSync(results);
    if (mtimeMs !== touched) changed = Date.now();
    touched = mtimeMs;
    if (Date.now() - changed > (size === before ? STARTING_MS : STALLED_MS)) stop();
  }, 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
      closeSync(log);
      resolve();
    });
  });
}
