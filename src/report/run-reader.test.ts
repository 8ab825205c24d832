import {appendFileSync, readFileSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openTestRuntime} from '../../test/support/open-test-runtime.ts';
import {verifyLog} from '../runtime/events/verify-log.ts';
import {RunReader} from './run-reader.ts';

test('report: a run is read on from where it was read, to the same end as from its beginning', async () => {
  const {call, directory} = await openTestRuntime();
  const reader = new RunReader(directory);
  for (let step = 1; step <= 3; step++) {
    await call('echo', {text: 'x'});
    const read = await reader.readOn();
    expect(read).toEqual(await verifyLog(join(directory, 'events.jsonl')));
    expect([...reader.history.calls.keys()]).toHaveLength(step);
    expect(reader.history.takeChanged()).toEqual([step]);
  }
});

test('report: a run is running while its process lives, then ended', async () => {
  const {runtime, directory, call} = await openTestRuntime();
  await call('echo', {text: 'x'});
  const reader = new RunReader(directory);
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'running', verdict: {state: 'intact'}});
  await runtime.session.close();
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'ended', verdict: {state: 'intact'}});
});

test('policy: half a line is being written while the run is in use, and torn when it is not', async () => {
  const {runtime, directory} = await openTestRuntime();
  const reader = new RunReader(directory);
  appendFileSync(join(directory, 'events.jsonl'), '{"seq":2');
  await reader.readOn();
  expect(await reader.head([])).toMatchObject({state: 'running', verdict: {state: 'intact'}});
  await runtime.session.directory.release();
  expect(await reader.head([])).toMatchObject({state: 'cut off', verdict: {state: 'torn'}});
});

test('policy: a log that became shorter or other while it was followed is tampered with', async () => {
  const {call, directory} = await openTestRuntime();
  const log = join(directory, 'events.jsonl');
  await call('echo', {text: 'x'});
  const [shorter, other] = [new RunReader(directory), new RunReader(directory)];
  await shorter.readOn();
  await other.readOn();
  const [, second = ''] = readFileSync(log, 'utf8').split('\n');
  appendFileSync(log, `${second}\n`);
  expect(await other.readOn()).toMatchObject({value: {state: 'tampered', events: 3}});
  truncateSync(log, 40);
  expect(await shorter.readOn()).toMatchObject({value: {state: 'tampered', problem: {line: 4}}});
  expect(await shorter.head([])).toMatchObject({
    verdict: {text: expect.stringContaining('TAMPERED: line 4')},
  });
});
