// The workspace tools on a generated tree, beside plain `rg` where it does the same.
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs} from '../load.js';
import {alternate, wallTime} from '../measure.js';

const FILES = 50_000;
const PER_DIRECTORY = 50;
const MATCH_EVERY = 100;
const OURS = 'forge-tools';

export function measure({rounds}) {
  return inTemporaryDirectory(base => measureIn(base, rounds));
}

async function measureIn(base, rounds) {
  const root = join(base, 'work');
  makeTree(root);
  const call = await openTools(root, join(base, 'state'));
  const rg = await ripgrepIn(root);
  const tables = [];
  for (const [title, ours, theirs] of comparisons(call, rg)) {
    const costs = await alternate({[OURS]: ours, rg: theirs}, rounds, {clock: wallTime, sampleMs: 0});
    tables.push({title, rows: rowsOf(costs), ours: OURS});
  }
  const costs = await alternate(await edits(root, call), rounds, {clock: wallTime, sampleMs: 200});
  const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms, calls: 1}));
  tables.push({title: 'one file', unit: 'a second', rows});
  return {tables, remarks: [`${FILES} files, ${PER_DIRECTORY} in a directory.`]};
}

function comparisons(call, rg) {
  const fixed = ['-i', '--hidden', '-F', '-e'];
  const search = params => () => call('search', params);
  const files = ['--files', '--hidden', '--no-ignore'];
  return [
    [
      'search, a match in 1 of 100 files',
      search({query: 'needle'}),
      rg('--json', ...fixed, 'needle', '--', '.'),
    ],
    [
      'search, 10 matches in each file',
      search({query: 'return'}),
      rg('--json', ...fixed, 'return', '--', '.'),
    ],
    ['the same, against rg --count', search({query: 'return'}), rg('--count', ...fixed, 'return', '--', '.')],
    ['search, no match', search({query: 'absent'}), rg('--json', ...fixed, 'absent', '--', '.')],
    [
      'search in *.md (1 of 10 files)',
      search({query: 'needle', glob: '*.md'}),
      rg('--json', '-g', '*.md', ...fixed, 'needle', '--', '.'),
    ],
    ['glob **/*.md', () => call('glob', {pattern: '**/*.md'}), rg(...files, '-g', '**/*.md')],
    ['glob f1234*', () => call('glob', {pattern: 'f1234*'}), rg(...files, '-g', 'f1234*')],
    ['list_files', () => call('list_files', {}), rg(...files, '--sort', 'path')],
    [
      'list_files, respect_gitignore',
      () => call('list_files', {respect_gitignore: true}),
      rg('--files', '--sort', 'path'),
    ],
  ];
}

/** What an agent does to one file of 1,000 lines; GNU patch included. */
async function edits(root, call) {
  const lines = Array.from({length: 1000}, (_, at) => `line ${at}`);
  writeFileSync(join(root, 'edited.txt'), `${lines.join('\n')}\nvalue 0\n`);
  await call('read_file', {path: 'edited.txt'});
  let value = 0;
  return {
    'read_file, 1,000 lines': () => call('read_file', {path: 'edited.txt'}),
    'str_replace in 1,000 lines': () => {
      value += 1;
      return call('str_replace', {
        path: 'edited.txt',
        old_string: `value ${value - 1}`,
        new_string: `value ${value}`,
      });
    },
    'apply_patch of one file': () => {
      value += 1;
      const hunk = `@@ -999,3 +999,3 @@\n line 998\n line 999\n-value ${value - 1}\n+value ${value}\n`;
      return call('apply_patch', {unified_diff: `--- a/edited.txt\n+++ b/edited.txt\n${hunk}`});
    },
  };
}

async function openTools(root, stateDirectory) {
  const {systemClock} = await loadOurs('core/clock.js');
  const {openWorkspaceSession} = await loadOurs('tools/files/session.js');
  const {workspaceTools} = await loadOurs('tools/files/file-tools.js');
  const opened = openWorkspaceSession({root, stateDirectory, programDirectories: [], clock: systemClock});
  if (!opened.ok) throw new Error(opened.error.message);
  const tools = new Map(workspaceTools(opened.value).map(tool => [tool.name, tool]));
  let step = 0;
  return async (name, params) => {
    const prepared = tools.get(name).prepare(params);
    if (!prepared.ok) throw new Error(prepared.error.all);
    step += 1;
    const answer = await prepared.value.execute(contextOf(step));
    if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    return answer.value.data;
  };
}

async function ripgrepIn(root) {
  const {rgPath} = await import('@vscode/ripgrep');
  const options = {cwd: root, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28};
  return (...args) =>
    () => {
      try {
        execFileSync(rgPath, ['--no-config', ...args], options);
      } catch (error) {
        // 1 says that nothing was found.
        if (error.status !== 1) throw error;
      }
    };
}

function makeTree(root) {
  for (let at = 0; at < FILES; at += 1) {
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
  const {signal} = new AbortController();
  return {
    requestId: `r${step}`,
    step,
    signal,
    deadline: {signal, spent: false, cancelled: false},
    maxOutputBytes: 102_400,
    availableCapacityBytes: Number.POSITIVE_INFINITY,
    allowTruncation: true,
    log: () => {},
    emit: async () => {},
    saveArtifact: async path => ({ok: true, value: path}),
    progress: () => {},
  };
}

function rowsOf(costs) {
  return Object.entries(costs).map(([name, ms]) => ({name, costs: ms}));
}
