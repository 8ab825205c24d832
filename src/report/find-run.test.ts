import {mkdirSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {findRun} from './find-run.ts';

function makeRuns() {
  const cwd = temporaryDirectory();
  const runsRoot = temporaryDirectory();
  const make = (directory: string, time: number): string => {
    mkdirSync(directory, {recursive: true});
    writeFileSync(join(directory, 'events.jsonl'), '');
    utimesSync(join(directory, 'events.jsonl'), time, time);
    return directory;
  };
  return {places: {cwd, runsRoot}, cwd, runsRoot, make};
}

test('report: a run is found by its path, its log, its name, or as the latest', async () => {
  const {places, cwd, runsRoot, make} = makeRuns();
  const here = make(join(cwd, 'runs/1'), 3);
  const old = make(join(runsRoot, 'old'), 2);
  const young = make(join(runsRoot, 'young'), 9);
  mkdirSync(join(runsRoot, 'zzz-no-run'));
  for (const [written, found] of [
    ['runs/1', here],
    ['runs/1/events.jsonl', here],
    [here, here],
    ['old', old],
    ['latest', young],
  ] as const) {
    expect(await findRun(written, places), written).toEqual({ok: true, value: found});
  }
});

test.each([
  ['missing', 'There is no run "missing": neither'],
  ['../missing', 'is not there'],
  ['empty', 'is no run: it has no events.jsonl'],
  ['latest', 'No run is in'],
  ['..', 'is no run'],
])('report: %s is refused with a reason', async (written, message) => {
  const {places, cwd} = makeRuns();
  mkdirSync(join(cwd, 'empty'));
  const found = await findRun(written, places);
  expect(found).toMatchObject({ok: false, error: {code: 'file_not_found'}});
  expect(found.ok ? '' : found.error.message).toContain(message);
});
