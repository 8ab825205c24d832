import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {codeOf} from '../../test/support/outcome.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {undoStep} from './services.ts';

const EDIT = {path: 'f.txt', old_string: 'one', new_string: '1'};

/** A run whose call of `str_replace` as step 2 is cancelled between its record and its commit. */
async function withCancelledStep() {
  const workspace = await openTestWorkspace({'f.txt': 'one\n'});
  const controller = new AbortController();
  const onStep = (step: string): void => {
    if (step.startsWith('staged')) controller.abort();
  };
  const session = {...workspace.session, journal: {...workspace.session.journal, onStep}};
  const place = await callWorkspaceTools({}, {workspace: {...workspace, session}});
  await place.data('read_file', {path: 'f.txt'});
  const {error} = await place.call('str_replace', EDIT, {signal: controller.signal});
  expect(error?.error_type).toBe('cancelled');
  const home = temporaryDirectory();
  const environment = {env: {HOME: home}, cwd: home, homeDir: home, tempDir: home};
  const undo = (step: number) =>
    undoStep({runDirectory: place.runDirectory, workspace: place.root, step}, environment);
  return {...place, undo, content: () => readFileSync(join(place.root, 'f.txt'), 'utf8')};
}

test('W7: a step that failed is not undone, although a later one left what it would have', async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const refused = await place.undo(2);
  expect(codeOf(refused)).toBe('file_not_found');
  expect(refused.ok || refused.error.message).toContain('Step 2 of this run failed and changed no files');
  expect(place.content()).toBe('1\n');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: a step whose end the log does not have, because the process was killed, is undone', async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const log = join(place.runDirectory, 'events.jsonl');
  const lines = readFileSync(log, 'utf8').split(/(?<=\n)/);
  const end = lines.findIndex(line => line.includes('PATCH_APPLIED'));
  writeFileSync(log, lines.slice(0, end).join(''));
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: wherever a kill cut the log off after the change, in a line or between lines, the step is undone', {
  tags: 'slow',
}, async () => {
  const place = await withCancelledStep();
  await place.data('str_replace', EDIT);
  const log = join(place.runDirectory, 'events.jsonl');
  const whole = readFileSync(log);
  const start = whole.lastIndexOf('"tool_call_started"');
  const lineStart = whole.lastIndexOf('\n', start) + 1;
  const cuts = [...whole.keys()].filter(at => at >= lineStart && (at % 97 === 0 || whole[at - 1] === 0x0a));
  expect(cuts.length).toBeGreaterThan(10);
  for (const cut of [...cuts, whole.length]) {
    writeFileSync(log, whole.subarray(0, cut));
    writeFileSync(join(place.root, 'f.txt'), '1\n');
    expect([cut, codeOf(await place.undo(3))]).toEqual([cut, 'ok']);
    expect(place.content()).toBe('one\n');
  }
});

/** A step whose process was killed: its record is there, and the log has nothing of its end. */
function killedStep(runDirectory: string, step: number, before: string, after: string): void {
  const state = (text: string) => ({sha256: sha256(text), mode: 0o644, owner: null});
  const files = [{path: 'f.txt', before: state(before), after: state(after)}];
  const name = `step_${String(step).padStart(4, '0')}.undo.json`;
  for (const directory of ['diffs', 'old']) mkdirSync(join(runDirectory, directory), {recursive: true});
  writeFileSync(join(runDirectory, 'diffs', name), JSON.stringify({version: 2, files}));
  writeFileSync(join(runDirectory, 'old', sha256(before)), before);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('W7: a step whose process was killed before its change is not undone when a later step made the same change', async () => {
  const place = await withCancelledStep();
  // The cancelled step 2 stands for one that has a record and no end.
  killedStep(place.runDirectory, 1, 'one\n', '1\n');
  await place.data('str_replace', EDIT);
  const refused = await place.undo(1);
  expect(codeOf(refused)).toBe('stale_read');
  expect(refused.ok || refused.error.message).toContain('Undo step 3 instead');
  expect(place.content()).toBe('1\n');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(place.content()).toBe('one\n');
});

test('W7: a step whose process was killed behind its change is undone after the steps that built on it', async () => {
  const place = await withCancelledStep();
  killedStep(place.runDirectory, 1, 'zero\n', 'one\n');
  await place.data('str_replace', EDIT);
  expect(codeOf(await place.undo(1))).toBe('stale_read');
  expect(codeOf(await place.undo(3))).toBe('ok');
  expect(codeOf(await place.undo(1))).toBe('ok');
  expect(place.content()).toBe('zero\n');
});
