import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Worker} from 'node:worker_threads';
import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../support/call-workspace-tools.ts';
import {openTestWorkspace} from '../support/open-test-workspace.ts';

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
