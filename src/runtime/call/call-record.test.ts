import {createHash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {ToolContext} from '../../core/tool.ts';

test('report: a call leaves a record with its parameters, its plan and its result', async () => {
  const {call, directory} = await openTestRuntime();
  const text = 'long '.repeat(500);
  const result = await call('echo', {text});
  const path = join(directory, 'calls/step_0001.json');
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    version: 1,
    params: {text},
    intent: {summary: `echo ${text}`, preview: text},
    result,
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('report: a call that is refused before it has a plan leaves a record as well', async () => {
  const {call, directory} = await openTestRuntime();
  const {error} = await call('echo', {count: 1});
  const record = JSON.parse(await readFile(join(directory, 'calls/step_0001.json'), 'utf8'));
  expect(record).toMatchObject({params: {count: 1}, intent: null, result: {status: 'error', error}});
});

test('FR-WF-19b a record has no query string and no secret, in no field', async () => {
  const {call, directory} = await openTestRuntime();
  await call('echo', {text: 'see https://e.com/a?key=1234 with password=hunter22', token: 'abcdef'});
  await call('echo', {text: 'see https://e.com/a?key=1234 with password=hunter22'});
  for (const step of [1, 2]) {
    const record = await readFile(join(directory, `calls/step_000${step}.json`), 'utf8');
    expect(record).toContain('https://e.com/a?…');
    expect(record).not.toMatch(/1234|hunter22|abcdef/);
  }
});

test('report: a record is bounded, whatever the answer is', {tags: 'slow'}, async () => {
  const huge = toolOf('huge', async () => ({texts: Array.from({length: 40}, () => 'x'.repeat(100_000))}));
  const {call, directory} = await openTestRuntime({tools: [huge], maxOutputBytes: 50_000_000});
  expect(await call('huge')).toMatchObject({status: 'success'});
  expect((await stat(join(directory, 'calls/step_0001.json'))).size).toBeLessThan(1_300_000);
});

test('policy: the log vouches for everything that a call left', async () => {
  const leaving = toolOf('leaving', async ({saveArtifact}) => {
    await saveArtifact('logs/a.txt', 'first');
    return {};
  });
  const {call, directory, events} = await openTestRuntime({tools: [echoTool, leaving]});
  await call('leaving');
  const finished = (await events()).find(({event}) => event === 'tool_call_finished');
  const hashed = await Promise.all(
    ['logs/a.txt', 'calls/step_0001.json'].map(async path => {
      const content = await readFile(join(directory, path));
      return {path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex')};
    }),
  );
  expect(finished?.payload['artifacts']).toEqual(hashed);
});

test('W21: what a call saves once it has answered is vouched for by its next event, and by that alone', async () => {
  const left: ToolContext[] = [];
  const goesOn = toolOf('goes_on', async context => {
    await context.saveArtifact('logs/before.txt', 'before');
    await context.emit('STARTED', {});
    left.push(context);
    return {};
  });
  const {call, events} = await openTestRuntime({tools: [goesOn]});
  await call('goes_on');
  const [context] = left;
  await context?.emit('QUIET', {});
  await context?.saveArtifact('logs/after.txt', 'after');
  await context?.emit('ENDED', {exit_code: 0});
  await context?.emit('QUIET', {});
  const about = {request_id: expect.any(String), step: 1};
  const after = {
    path: 'logs/after.txt',
    bytes: 5,
    sha256: createHash('sha256').update('after').digest('hex'),
  };
  const own = (await events()).filter(({event}) => event === event.toUpperCase());
  expect(own.map(({event, payload}) => [event, payload])).toEqual([
    ['STARTED', about],
    ['QUIET', about],
    ['ENDED', {...about, exit_code: 0, artifacts: [after]}],
    ['QUIET', about],
  ]);
});
