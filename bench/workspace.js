// Prints how long the workspace tools take on a generated tree, beside plain `rg` where it does the same.
// usage: npm run build && node bench/workspace.js [--files N] [--rounds N]
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {rgPath} from '@vscode/ripgrep';
import {systemClock} from '../dist/core/clock.js';
import {openWorkspaceSession} from '../dist/tools/workspace-session.js';
import {workspaceTools} from '../dist/tools/workspace-tools.js';

const {values} = parseArgs({
  options: {files: {type: 'string', default: '50000'}, rounds: {type: 'string', default: '7'}},
});
const fileCount = Number(values.files);
const rounds = Number(values.rounds);
const PER_DIRECTORY = 50;
const MATCH_EVERY = 100;

const base = mkdtempSync(join(tmpdir(), 'forge-bench-'));
try {
  await main();
} finally {
  rmSync(base, {recursive: true, force: true});
}

async function main() {
  const root = join(base, 'work');
  makeTree(root);
  const opened = openWorkspaceSession({
    root,
    stateDirectory: join(base, 'state'),
    programDirectories: [],
    clock: systemClock,
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const tools = new Map(workspaceTools(opened.value).map(tool => [tool.name, tool]));
  let step = 0;
  const call = async (name, params) => {
    const prepared = tools.get(name).prepare(params);
    if (!prepared.ok) throw new Error(prepared.error.all);
    step += 1;
    const answer = await prepared.value.execute(contextOf(step));
    if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    return answer.value.data;
  };
  const rg = (...args) => {
    try {
      execFileSync(rgPath, ['--no-config', ...args], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 28,
      });
    } catch (error) {
      if (error.status !== 1) throw error;
    }
  };

  console.log(
    `${fileCount} files in ${Math.ceil(fileCount / PER_DIRECTORY)} directories, median of ${rounds} rounds, Node ${process.version}\n`,
  );
  console.log('                                        ours        rg    ratio');
  const rare = ['-i', '--hidden', '-F', '-e', 'needle', '--', '.'];
  const common = ['-i', '--hidden', '-F', '-e', 'return', '--', '.'];
  const globbed = ['-i', '--hidden', '-g', '*.md', '-F', '-e', 'needle', '--', '.'];
  await compare(
    'search, a match in 1 of 100 files',
    () => call('search', {query: 'needle'}),
    () => rg('--json', ...rare),
  );
  await compare(
    'search, 10 matches in each file',
    () => call('search', {query: 'return'}),
    () => rg('--json', ...common),
  );
  await compare(
    '  the same, against rg --count',
    () => call('search', {query: 'return'}),
    () => rg('--count', ...common),
  );
  await compare(
    'search, no match',
    () => call('search', {query: 'absent'}),
    () => rg('--json', '-i', '--hidden', '-F', '-e', 'absent', '--', '.'),
  );
  await compare(
    'search in *.md (1 of 10 files)',
    () => call('search', {query: 'needle', glob: '*.md'}),
    () => rg('--json', ...globbed),
  );
  await compare(
    'glob **/*.md',
    () => call('glob', {pattern: '**/*.md'}),
    () => rg('--files', '--hidden', '--no-ignore', '-g', '**/*.md'),
  );
  await compare(
    'glob f1234*',
    () => call('glob', {pattern: 'f1234*'}),
    () => rg('--files', '--hidden', '--no-ignore', '-g', 'f1234*'),
  );
  await compare(
    'list_files',
    () => call('list_files', {}),
    () => rg('--files', '--hidden', '--no-ignore', '--sort', 'path'),
  );
  await compare(
    'list_files, respect_gitignore',
    () => call('list_files', {respect_gitignore: true}),
    () => rg('--files', '--sort', 'path'),
  );

  console.log('\n                                    per second');
  const lines = Array.from({length: 1000}, (_, at) => `line ${at}`);
  writeFileSync(join(root, 'edited.txt'), `${lines.join('\n')}\nvalue 0\n`);
  await call('read_file', {path: 'edited.txt'});
  let value = 0;
  await rate('read_file, 1,000 lines', () => call('read_file', {path: 'edited.txt'}));
  await rate('str_replace in 1,000 lines', () => {
    value += 1;
    return call('str_replace', {
      path: 'edited.txt',
      old_string: `value ${value - 1}`,
      new_string: `value ${value}`,
    });
  });
  await rate('apply_patch of one file, GNU patch included', () => {
    value += 1;
    const hunk = `@@ -999,3 +999,3 @@\n line 998\n line 999\n-value ${value - 1}\n+value ${value}\n`;
    return call('apply_patch', {unified_diff: `--- a/edited.txt\n+++ b/edited.txt\n${hunk}`});
  });
}

function makeTree(root) {
  for (let at = 0; at < fileCount; at += 1) {
    const number = Math.floor(at / PER_DIRECTORY);
    const directory = join(root, `d${number % 20}`, `e${number}`);
    if (at % PER_DIRECTORY === 0) mkdirSync(directory, {recursive: true});
    const lines = Array.from(
      {length: 10},
      (_, line) => `  return value_${at}_${line}; // some text to go through`,
    );
    if (at % MATCH_EVERY === 0) lines.push('const needle = 1;');
    writeFileSync(join(directory, `f${at}.${at % 10 === 0 ? 'md' : 'ts'}`), `${lines.join('\n')}\n`);
  }
  writeFileSync(join(root, '.gitignore'), 'd1/\n*.tmp\n');
}

function contextOf(step) {
  return {
    requestId: `r${step}`,
    step,
    signal: new AbortController().signal,
    maxOutputBytes: 102_400,
    availableCapacityBytes: Number.POSITIVE_INFINITY,
    allowTruncation: true,
    log: () => {},
    emit: async () => {},
    saveArtifact: async path => ({ok: true, value: path}),
    progress: () => {},
  };
}

/** Alternately, so that what else the machine does falls on both. */
async function compare(name, ours, theirs) {
  const times = {ours: [], theirs: []};
  await ours();
  theirs();
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await time(ours));
    times.theirs.push(await time(theirs));
  }
  const [mine, plain] = [median(times.ours), median(times.theirs)];
  console.log(
    `${name.padEnd(34)} ${mine.toFixed(0).padStart(7)} ms ${plain.toFixed(0).padStart(6)} ms   ${(mine / plain).toFixed(2)}`,
  );
}

async function rate(name, work) {
  await work();
  const start = performance.now();
  let calls = 0;
  while (performance.now() - start < 1000) {
    await work();
    calls += 1;
  }
  console.log(`${name.padEnd(44)} ${((calls * 1000) / (performance.now() - start)).toFixed(0).padStart(6)}`);
}

async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
