// Somebody moves the tree at full speed while all tools work in it, in several sessions: nothing outside is
// read, written, deleted, connected to or executed. FORGE_ADVERSARY_SECONDS sets how long each case takes (15).
import {spawn, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Json} from '../../src/core/result.ts';
import {createToolbox, type Toolbox, type ToolResult} from '../../src/index.ts';
import {callWorkspaceTools} from '../support/call-workspace-tools.ts';
import {fileForUser} from '../support/file-for-user.ts';
import {openTestWorkspace} from '../support/open-test-workspace.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

/** Of each of the four cases. */
const SECONDS = Number(process.env['FORGE_ADVERSARY_SECONDS'] ?? 15);
const LONGEST_COMMAND = 500;
const ADVERSARY = fileURLToPath(new URL('./support/moving-adversary.pl', import.meta.url));
const isRoot = process.geteuid?.() === 0;

/** Starts with what no file of the tree has. */
const CANARY = `canary-${createHash('sha256').update(String(process.pid)).digest('hex')}`;

interface Place {
  readonly tree: string;
  readonly outside: string;
  readonly connections: () => number;
}

/** A tree, and beside it what nobody may touch: files, a socket, the directory of another user. */
async function makePlace(owner: number): Promise<Place> {
  const base = temporaryDirectory();
  chmodSync(base, 0o755);
  const [tree, outside] = [join(base, 'tree'), join(base, 'outside')];
  for (const directory of [
    'd/e',
    'sub/d',
    'sub/.git',
    '.git/hooks',
    '.git/modules',
    '.git/refs',
    '.git/objects',
  ]) {
    mkdirSync(join(tree, directory), {recursive: true});
  }
  for (const file of ['f.txt', 'd/file.txt', 'd/e/file.txt', 'sub/f.txt', 'sub/d/file.txt', '.git/config']) {
    writeFileSync(join(tree, file), 'inside\n');
  }
  writeFileSync(join(tree, '.git/config'), '[core]\n\trepositoryformatversion = 0\n');
  writeFileSync(join(tree, '.git/HEAD'), 'ref: refs/heads/main\n');
  for (const directory of ['d/e', 'sub/d', 'git/hooks', 'git/modules', 'd/.bin', 'user']) {
    mkdirSync(join(outside, directory), {recursive: true});
    for (let at = 0; at < 20; at++) writeFileSync(join(outside, directory, `${at}.txt`), `${CANARY}\n`);
  }
  for (const file of ['f.txt', 'd/file.txt', 'd/e/file.txt', 'sub/f.txt', 'sub/d/file.txt', 'git/config']) {
    writeFileSync(join(outside, file), `${CANARY}\n`);
  }
  chmodSync(join(outside, 'user'), 0o700);
  let connections = 0;
  const docker = createServer(socket => {
    connections += 1;
    socket.destroy();
  });
  docker.listen(join(outside, 'd', 'docker.sock'));
  await once(docker, 'listening');
  onTestFinished(() => void docker.close());
  if (isRoot) {
    give(tree, owner);
    give(join(outside, 'user'), 1001);
  }
  return {tree, outside, connections: () => connections};
}

function give(path: string, owner: number): void {
  chownSync(path, owner, owner);
  for (const name of readdirSync(path, {recursive: true})) chownSync(join(path, String(name)), owner, owner);
}

/** Every entry with its kind, mode, owner, time of change and content. */
function photograph(directory: string): string {
  return readdirSync(directory, {recursive: true})
    .map(String)
    .sort()
    .map(name => {
      const path = join(directory, name);
      const {mode, uid, size, mtimeMs, ino} = lstatSync(path);
      const isFile = lstatSync(path).isFile();
      const content = isFile ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      // The time of a directory changes with its entries, which are here themselves.
      return [name, mode, uid, isFile ? size : '', isFile ? mtimeMs : '', ino, content].join(' ');
    })
    .join('\n');
}

function openSession(workspace: string, sandbox: 'bubblewrap' | 'docker'): Toolbox {
  const run = temporaryDirectory();
  const toolbox = createToolbox({
    workspace,
    runDirectory: join(run, 'run'),
    environment: {
      env: {
        ...process.env,
        // As npx and an activated virtual environment do.
        PATH: `${join(workspace, 'node_modules/.bin')}:${process.env['PATH']}`,
        DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'],
        XDG_STATE_HOME: join(run, 'state'),
      },
      cwd: run,
      homeDir: run,
      tempDir: run,
    },
    config: {
      tools: {
        mode: 'enabled',
        approval: {mode: 'auto'},
        run: {
          sandbox,
          memory_mb: 256,
          docker: {image: process.env['FORGE_TEST_DOCKER_IMAGE'] ?? '', user: ''},
        },
      },
    },
  });
  return toolbox;
}

const LOOK_AROUND = `
cat f.txt d/* d/e/* sub/* sub/d/* .git/* .git/*/* .git/*/*/* nested/.git/* node_modules/* 2>/dev/null
find . -type s 2>/dev/null | head -20 | while read -r at; do
  perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0]))' "$at"
done
echo written >d/from-run.txt; echo written >sub/from-run.txt; echo written >.git/modules/from-run.txt
rm -rf d/e .git/commondir .git/modules; mkdir -p d/e; echo inside >d/e/file.txt
true
`;

/** One call of every tool at names that move; the answers of all. */
const callsOf = (round: number): readonly (readonly [string, {readonly [name: string]: Json}])[] => [
  ['read_file', {path: 'f.txt'}],
  ['read_file', {path: 'd/e/file.txt'}],
  ['list_files', {root: 'd'}],
  ['list_files', {}],
  ['glob', {pattern: '**/*.txt'}],
  ['search', {query: 'canary-', max_results: 5}],
  ['search', {query: '^canary-[0-9a-f]+$', is_regex: true}],
  ['write_file', {path: 'd/written.txt', content: 'written\n'}],
  ['write_file', {path: 'd/e/deep/written.txt', content: 'written\n'}],
  ['str_replace', {path: 'd/file.txt', old_string: 'inside', new_string: 'inside '}],
  ['apply_patch', {unified_diff: `--- /dev/null\n+++ b/d/patched-${round}.txt\n@@ -0,0 +1 @@\n+patched\n`}],
  // No file of the workspace has it: what is found lies outside.
  ['replace_in_files', {query: 'canary-', replacement: 'found-'}],
  ['move_file', {from: `d/patched-${round}.txt`, to: `d/e/moved-${round}.txt`}],
  ['delete_file', {path: 'd/written.txt'}],
  ['run', {command: LOOK_AROUND, timeout_sec: 10}],
];

interface Tally {
  calls: number;
  readonly successes: Map<string, number>;
  readonly leaks: string[];
}

async function work(toolbox: Toolbox, name: string, end: number, tally: Tally): Promise<void> {
  for (let round = 0; performance.now() < end; round++) {
    const results = await Promise.all(
      callsOf(round).map(([tool, params], at) =>
        toolbox
          .call({tool, params, request_id: `${name}-${round}-${at}`})
          .then(result => [tool, result] as const),
      ),
    );
    for (const [tool, result] of results) {
      tally.calls += 1;
      if (result.status === 'success') tally.successes.set(tool, (tally.successes.get(tool) ?? 0) + 1);
      if (leaks(tool, result)) tally.leaks.push(`${tool}: ${JSON.stringify(result).slice(0, 500)}`);
    }
  }
}

/** The whole canary is in no answer, and nothing that matched its beginning was counted. */
function leaks(tool: string, result: ToolResult): boolean {
  if (JSON.stringify(result).includes(CANARY)) return true;
  if (tool === 'replace_in_files' && result.status === 'success') return true;
  const matches = tool === 'search' && result.status === 'success' ? result.data : undefined;
  return (
    matches !== null &&
    typeof matches === 'object' &&
    'total_matches' in matches &&
    matches['total_matches'] !== 0
  );
}

/** A process of the host that owns the tree, and can do all that a command can and more. */
async function moveFromOutside({tree, outside}: Place, owner: number): Promise<string> {
  const program = isRoot ? fileForUser(ADVERSARY, owner) : ADVERSARY;
  const child = spawn('perl', [program, tree, outside, String(SECONDS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(isRoot && owner !== 0 ? {uid: owner, gid: owner} : {}),
  });
  let said = '';
  child.stdout.on('data', chunk => {
    said += chunk;
  });
  await once(child, 'close');
  return said;
}

/** A command of a session, in its sandbox. */
async function moveFromInside({tree, outside}: Place): Promise<string> {
  copyFileSync(ADVERSARY, join(tree, 'adversary.pl'));
  const session = openSession(tree, 'bubblewrap');
  let said = '';
  for (let left = SECONDS; left > 0; left -= LONGEST_COMMAND) {
    const seconds = Math.min(left, LONGEST_COMMAND);
    const command = `perl adversary.pl . ${outside} ${seconds}`;
    const params = {command, timeout_sec: seconds + 20, env: {IN_SANDBOX: '1'}};
    const result = await session.call({tool: 'run', params, request_id: `adversary-${left}`});
    said += JSON.stringify(result);
  }
  await session.close();
  return said;
}

describe.each([
  ['root', 0],
  ['another user', 1000],
])('a tree of %s', (_, owner) => {
  test.each([
    ['a command', 'inside'],
    ['a process of the host', 'outside'],
  ])(
    'policy: %s moves everything, and no canary is read, written, deleted, connected to or executed',
    {timeout: SECONDS * 1000 + 240_000},
    async (_who, from) => {
      const place = await makePlace(owner);
      const {tree, outside} = place;
      const before = photograph(outside);
      const sessions = [
        openSession(tree, 'bubblewrap'),
        openSession(join(tree, 'sub'), 'bubblewrap'),
        ...(process.env['FORGE_TEST_DOCKER_HOST'] === undefined ? [] : [openSession(tree, 'docker')]),
      ];
      const tally: Tally = {calls: 0, successes: new Map(), leaks: []};
      // Each session has seen what it is about to change, while all is quiet.
      for (const session of sessions) {
        await session.call({tool: 'read_file', params: {path: 'd/file.txt'}, request_id: 'first'});
      }
      const moving = from === 'inside' ? moveFromInside(place) : moveFromOutside(place, owner);
      const end = performance.now() + SECONDS * 1000;
      await Promise.all(sessions.map((session, at) => work(session, `s${at}`, end, tally)));
      const moved = await moving;
      const exchanges = [...moved.matchAll(/exchanges (\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
      await Promise.all(sessions.map(session => session.close()));
      if (from === 'inside') lookLikeAPerson(tree);
      expect(tally.leaks.slice(0, 3), `${tally.leaks.length} answers leak`).toEqual([]);
      expect(existsSync(join(outside, 'executed'))).toBe(false);
      expect(place.connections()).toBe(0);
      expect(photograph(outside)).toBe(before);
      // Otherwise nothing was shown.
      expect(exchanges, moved.slice(0, 1000)).toBeGreaterThan(10_000);
      for (const tool of ['read_file', 'search', 'write_file', ...(from === 'inside' ? ['run'] : [])]) {
        expect(tally.successes.get(tool), tool).toBeGreaterThan(0);
      }
      console.log(
        `${from}: ${tally.calls} calls, ${exchanges} exchanges`,
        Object.fromEntries(tally.successes),
      );
    },
  );
});

/** `git status` at the root. What was planted below the root is for whoever enters it. */
function lookLikeAPerson(tree: string): void {
  spawnSync('git', ['-c', 'safe.directory=*', '-C', tree, 'status'], {
    env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1'},
  });
}

/** `FORGE_TEST_SWAPS=1000000` for the long run. */
const SWAPS = Number(process.env['FORGE_TEST_SWAPS'] ?? 10_000);
const NAMES = Array.from({length: 400}, (_, at) => `f${at}.txt`);

interface Swapped {
  readonly directory: string;
  readonly aside: string;
  readonly outside: string;
}

/** Exchanges a directory for a link to another and back, in a thread of its own, until it is stopped. */
function startSwapping(places: Swapped) {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const swapper = new Worker(new URL('./support/workspace-swapper.js', import.meta.url), {
    workerData: {...places, state},
  });
  const ended = new Promise((resolve, reject) => swapper.once('exit', resolve).once('error', reject));
  return {
    rounds: () => Atomics.load(state, 1),
    stop: async () => {
      Atomics.store(state, 0, 1);
      await ended;
    },
  };
}

test('review R5: no search, glob or list reflects a place outside, whatever is swapped meanwhile', {
  timeout: 600_000,
}, async () => {
  const place = await openTestWorkspace({'a.txt': 'steady\n', 'z/z.txt': 'steady\n'});
  const {root, outside} = place;
  mkdirSync(join(root, 'deep/swapped/inner'), {recursive: true});
  mkdirSync(join(outside, 'inner'), {recursive: true});
  for (const name of NAMES) {
    writeFileSync(join(root, 'deep/swapped/inner', name), 'inside\n');
    writeFileSync(join(outside, 'inner', name), 'canary\n'.repeat(3));
  }
  writeFileSync(join(outside, 'inner', 'canary.txt'), 'canary\n');
  // A rule that would hide what is inside, if it were read.
  writeFileSync(join(outside, '.gitignore'), '*\n');
  const {data} = await callWorkspaceTools({}, {workspace: place});

  const swaps = startSwapping({
    directory: join(root, 'deep/swapped'),
    aside: join(root, 'deep/aside'),
    outside,
  });
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  try {
    while (swaps.rounds() < SWAPS) {
      const [canary, any, steady, globbed, listed] = await Promise.all([
        data('search', {query: 'canary'}),
        data('search', {query: '^(canary|inside)$', is_regex: true, glob: 'deep/**', max_results: 1}),
        data('search', {query: 'steady'}),
        data('glob', {pattern: '**/canary*'}),
        data('list_files', {glob: '**/canary*'}),
      ]);
      note(`canary ${canary['total_matches']}`);
      note(`steady ${steady['total_matches']}`);
      note(`globbed ${globbed['files']}`);
      note(`listed ${listed['total_files']}`);
      // A file outside has three such lines, one inside has one.
      if (Number(any['total_matches']) > NAMES.length * 2) note('too many');
    }
  } finally {
    await swaps.stop();
  }
  expect([...seen.keys()].sort()).toEqual(['canary 0', 'globbed ', 'listed 0', 'steady 2']);
});

test('review R4: a root that is exchanged for a link shows and changes nothing outside', {
  timeout: 600_000,
}, async () => {
  const place = await openTestWorkspace({'a.txt': 'inside\n', 'd/b.txt': 'inside\n'});
  const {root, outside} = place;
  mkdirSync(join(outside, 'd'));
  for (const name of ['a.txt', 'd/b.txt', 'canary.txt']) writeFileSync(join(outside, name), 'canary\n');
  const {call} = await callWorkspaceTools({}, {workspace: place});

  const swaps = startSwapping({directory: root, aside: `${root}-aside`, outside});
  const seen = new Set<string>();
  let written = 0;
  try {
    for (let round = 0; swaps.rounds() < SWAPS; round += 1) {
      const [read, searched, listed, wrote] = await Promise.all([
        call('read_file', {path: round % 2 === 0 ? 'a.txt' : 'd/b.txt'}),
        call('search', {query: 'canary'}),
        call('glob', {pattern: '**/canary*'}),
        call('write_file', {path: `w/${round % 100}-${round}.txt`, content: 'written\n'}),
      ]);
      seen.add(`read ${JSON.stringify(Object(read.data)['content'])}`);
      seen.add(`found ${Object(searched.data)['total_matches']}`);
      seen.add(`listed ${Object(listed.data)['files']}`);
      seen.add(`wrote ${wrote.error?.error_type ?? 'ok'}`);
      if (wrote.error === null) written += 1;
    }
  } finally {
    await swaps.stop();
  }
  expect([...seen].sort()).toEqual(['found 0', 'listed ', 'read "inside\\n"', 'wrote io_error', 'wrote ok']);
  expect(readdirSync(outside, {recursive: true}).sort()).toEqual(['a.txt', 'canary.txt', 'd', 'd/b.txt']);
  expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('canary\n');
  expect(readdirSync(join(root, 'w'))).toHaveLength(written);
});
