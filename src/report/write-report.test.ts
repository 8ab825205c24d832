import {appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openTestRuntime, toolOf, writeNoteTool} from '../../test/support/open-test-runtime.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import type {Tool} from '../core/tool.ts';
import {renderLines} from './render-lines.ts';
import {RunReader} from './run-reader.ts';
import {writeReport} from './write-report.ts';

async function recordedRun(tools?: readonly Tool[], tool = 'echo', params = {text: 'hello'}) {
  const runtime = await openTestRuntime(tools === undefined ? {} : {tools});
  await runtime.call(tool, params);
  return runtime;
}

/** The lines of data in a page, as its script reads them. */
function linesOf(page: string): readonly Record<string, unknown>[] {
  const blocks = [...page.matchAll(/<script class="data" type="application\/json">([^<]*)<\/script>/g)];
  return blocks.flatMap(([, text = '']) => text.split('\n')).map(line => JSON.parse(line));
}

test('report: a page is written beside the run, for its owner alone, in place of an older one', async () => {
  const {directory, runtime} = await recordedRun();
  await runtime.session.close();
  for (let times = 0; times < 2; times++) {
    const written = await writeReport(directory, undefined);
    expect(written).toMatchObject({
      ok: true,
      value: {
        path: join(directory, 'report.html'),
        calls: 1,
        refused: 0,
        failed: 0,
        log: 'intact',
        altered: 0,
        changed: 0,
      },
    });
  }
  expect(statSync(join(directory, 'report.html')).mode & 0o777).toBe(0o600);
  const [head, net, incident, call] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(head).toMatchObject({live: false, head: {state: 'ended', verdict: {state: 'intact'}, notes: []}});
  expect(net).toMatchObject({net: {files: 0}});
  expect(incident).toMatchObject({text: 'Session started, version 1'});
  expect(call).toMatchObject({step: 1, tool: 'echo', state: 'success', summary: 'hello'});
});

test('policy: the policy of the page has the hashes of its one style and its one script', async () => {
  const {directory} = await recordedRun();
  await writeReport(directory, undefined);
  const page = readFileSync(join(directory, 'report.html'), 'utf8');
  expect(page).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;sha256-[\w+/=]+&#39;; style-src &#39;sha256-[\w+/=]+&#39;; base-uri/,
  );
  expect(page).not.toMatch(/unsafe-|connect-src|https?:\/\/(?!\/)/);
  expect(page.match(/<script>/g)).toHaveLength(1);
});

test('policy: what was changed after it was written is said, in the page and in the answer', async () => {
  const {directory} = await recordedRun();
  writeFileSync(join(directory, 'calls/step_0001.json'), '{"params":{"text":"other"}}');
  expect(await writeReport(directory, undefined)).toMatchObject({
    ok: true,
    value: {altered: 1, log: 'intact'},
  });
  const [head, , , call] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(JSON.stringify(head)).toContain('1 files of the run are missing or were changed');
  expect(JSON.stringify(call)).toContain('changed after it was written');

  const log = join(directory, 'events.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').replace('"tool":"echo"', '"tool":"nope"'));
  expect(await writeReport(directory, undefined)).toMatchObject({
    ok: true,
    value: {log: 'tampered', calls: 0},
  });
});

test('policy: half a line of a crash is told, and what precedes it is shown', async () => {
  const {directory, runtime} = await recordedRun();
  await runtime.session.directory.release();
  appendFileSync(join(directory, 'events.jsonl'), '{"seq":5,"ti');
  expect(await writeReport(directory, undefined)).toMatchObject({ok: true, value: {log: 'torn', calls: 1}});
  const [head] = linesOf(readFileSync(join(directory, 'report.html'), 'utf8'));
  expect(head).toMatchObject({head: {state: 'cut off', verdict: {state: 'torn'}}});
});

test('policy: a page is bounded, and says what it leaves out', {tags: 'slow'}, async () => {
  const text = `${'*a* '.repeat(24_000)}\n`.repeat(2);
  const pages = toolOf('pages', async () => ({chunks: [{heading: 'a', text, token_count: 9}]}));
  const runtime = await openTestRuntime({tools: [pages], maxOutputBytes: 1_000_000});
  for (let step = 1; step <= 4; step++) await runtime.call('pages');
  const written = await writeReport(runtime.directory, undefined);
  expect(written.ok && written.value.bytes).toBeLessThan(4 * 400_000 + 100_000);
  const page = readFileSync(join(runtime.directory, 'report.html'), 'utf8');
  expect(page).toContain('4 calls are shown in part');
  expect(page).toContain('more characters are left out here');
});

test('report: what a call that was refused wanted to change is in the page', async () => {
  const directory = temporaryDirectory();
  const runtime = await recordedRun([writeNoteTool(directory)], 'write_note', {
    text: 'x',
    path: 'a',
  } as never);
  expect(await writeReport(runtime.directory, undefined)).toMatchObject({ok: true, value: {refused: 1}});
  const call = linesOf(readFileSync(join(runtime.directory, 'report.html'), 'utf8')).at(-1);
  expect(call).toMatchObject({state: 'refused', error: 'approval_required', by: 'tools.approval.mode'});
});

test('policy: a place that takes no file is refused before anything is read', async () => {
  const {directory} = await recordedRun();
  const place = temporaryDirectory();
  mkdirSync(join(place, 'd'));
  symlinkSync('/nonexistent', join(place, 'link'));
  for (const [path, reason] of [
    ['d', 'it is a directory'],
    ['link', 'it is no regular file'],
    ['no/file.html', 'there is no directory'],
  ] as const) {
    const written = await writeReport(directory, join(place, path));
    expect(written.ok ? '' : written.error.message).toContain(reason);
  }
});

test('policy: all calls together are bounded too, and a small one keeps its place among large ones', async () => {
  const {call, directory} = await openTestRuntime();
  const text = 'word '.repeat(4000);
  for (let step = 1; step <= 20; step++) await call('echo', {text: step % 5 === 0 ? 'small' : text});
  const reader = new RunReader(directory);
  await reader.readOn();
  const lines = await renderLines(reader, 100_000);
  const calls = lines.slice(1);
  expect(calls).toHaveLength(20);
  expect(lines.reduce((sum, {line}) => sum + line.length, 0)).toBeLessThan(100_000);
  expect(calls.map(({isCut}) => !isCut)).toEqual(calls.map((_, index) => (index + 1) % 5 === 0));
});
