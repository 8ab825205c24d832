// Coverage-guided fuzzing of what reads hostile bytes; see README.md.
// usage: npm run fuzz -- TARGET|all [--seconds N] [--seed N] [--save]
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {Worker} from 'node:worker_threads';
import {readCorpus, writeCorpus} from './corpus.js';

const TARGETS = ['url', 'robots', 'html', 'charset', 'tokens', 'chunker', 'diff', 'jail', 'toml'];
/** An input of some kilobytes that takes this long is a finding. */
const HANG_MS = 5000;

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    seconds: {type: 'string', default: '60'},
    seed: {type: 'string', default: String(Date.now() % 2 ** 31)},
    save: {type: 'boolean', default: false},
  },
});
const [wanted = ''] = positionals;
const names = wanted === 'all' ? TARGETS : TARGETS.filter(name => name === wanted);
if (names.length === 0) {
  console.error(
    `usage: npm run fuzz -- TARGET [--seconds N] [--seed N] [--save]\nTargets: all, ${TARGETS.join(', ')}.`,
  );
  process.exit(2);
}
// A thread that is ended does not clean up after itself.
const scratch = mkdtempSync(join(tmpdir(), 'forge-fuzz-'));
process.on('exit', () => rmSync(scratch, {recursive: true, force: true}));
Object.assign(process.env, {TMPDIR: scratch, XDG_STATE_HOME: join(scratch, 'state')});
let findings = 0;
for (const name of names) findings += await fuzz(name);
process.exit(findings === 0 ? 0 : 1);

/** Runs one target in a thread of its own, which is ended where an input holds it up. */
function fuzz(name) {
  // Length, then the bytes of the input under way.
  const current = new SharedArrayBuffer(8 + 65_536);
  const state = new Int32Array(current, 0, 2);
  const seed = Number(values.seed);
  const worker = new Worker(new URL('./fuzz-worker.js', import.meta.url), {
    workerData: {name, seed, seconds: Number(values.seconds), corpus: readCorpus(name), current},
  });
  return new Promise(resolve => {
    let last = -1;
    const watch = setInterval(() => {
      if (state[1] !== last) {
        last = state[1];
        return;
      }
      finish({
        problem: `no end within ${HANG_MS} ms`,
        input: Buffer.from(new Uint8Array(current, 8, state[0])),
      });
    }, HANG_MS);
    const finish = finding => {
      clearInterval(watch);
      void worker.terminate();
      if (finding !== undefined) report(name, seed, finding);
      resolve(finding === undefined ? 0 : 1);
    };
    worker.on('message', ({stats, corpus, finding}) => {
      const {executions, seconds, blocks, inputs} = stats;
      const rate = Math.round(executions / seconds);
      console.log(
        `${name.padEnd(8)} seed ${seed}: ${executions} runs, ${rate}/s, ${blocks} blocks covered, corpus of ${inputs}`,
      );
      if (values.save) writeCorpus(name, corpus);
      finish(finding);
    });
    worker.on('error', error => finish({problem: String(error.stack), input: Buffer.alloc(0)}));
  });
}

function report(name, seed, {problem, input}) {
  const directory = join(import.meta.dirname, 'findings');
  mkdirSync(directory, {recursive: true});
  const file = join(directory, `${name}-${Date.now()}.bin`);
  writeFileSync(file, input);
  console.log(`${name}: FOUND (seed ${seed}), kept in ${file}\n${problem}`);
  console.log(`input: ${JSON.stringify(Buffer.from(input).toString('latin1').slice(0, 2000))}`);
}
