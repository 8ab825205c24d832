import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {readTree} from '../../../test/support/read-tree.ts';
import {undoStep} from './undo-step.ts';

const FILES = {'a.txt': 'one\n', 'dir/run.sh': '#!/bin/sh\n', 'bin.dat': Buffer.from([0, 255, 10, 1])};

const applied = async ({runtime}: CallableWorkspace) =>
  (await runtime.events()).filter(({event}) => event === 'PATCH_APPLIED').map(({payload}) => payload);
const edit = (old_string: string, new_string: string) => ({path: 'a.txt', old_string, new_string});

describe('move_file', () => {
  test('W19: keeps content and mode, takes empty directories with it, and is undone', async () => {
    const place = await callWorkspaceTools(FILES);
    chmodSync(join(place.root, 'dir/run.sh'), 0o755);
    const before = readTree(place.root);
    const done = await place.data('move_file', {from: 'dir/run.sh', to: 'new/deep/go.sh'});
    expect(done).toEqual({from: 'dir/run.sh', to: 'new/deep/go.sh', bytes: 10, undo_step: 1, dry_run: false});
    expect(readFileSync(join(place.root, 'new/deep/go.sh'), 'utf8')).toBe('#!/bin/sh\n');
    expect(statSync(join(place.root, 'new/deep/go.sh')).mode & 0o777).toBe(0o755);
    expect(existsSync(join(place.root, 'dir'))).toBe(false);
    expect(place.tool('move_file').renderText(done)).toBe('dir/run.sh => new/deep/go.sh · step 1');
    expect(await applied(place)).toMatchObject([{step: 1, changed_files: ['dir/run.sh', 'new/deep/go.sh']}]);
    unwrap(await undoStep(place.session, place.runDirectory, 1));
    expect(readTree(place.root)).toEqual(before);
    expect(existsSync(join(place.root, 'new'))).toBe(false);
  });

  test('W19: what was read stays read under the new name, and only there', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('move_file', {from: 'dir/run.sh', to: 'b.sh'});
    expect(await place.code('write_file', {path: 'b.sh', content: 'x'})).toBe('not_read');
    await place.data('read_file', {path: 'a.txt'});
    await place.data('move_file', {from: 'a.txt', to: 'c.txt'});
    expect(await place.code('str_replace', {...edit('one', '1'), path: 'c.txt'})).toBe('ok');
    writeFileSync(join(place.root, 'c.txt'), 'somebody else\n');
    expect(await place.code('move_file', {from: 'c.txt', to: 'd.txt'})).toBe('stale_read');
  });

  test.each([
    ['a file', 'bin.dat', /^"bin\.dat" exists already, and nothing is moved over it/],
    ['a directory', 'dir', /^"dir" is a directory; for a place in it write "dir\/a\.txt"/],
    ['itself', './a.txt', /^From and to are both "a\.txt"/],
    ['a place below a file', 'bin.dat/x/y', /^"bin\.dat" is no directory/],
  ])('policy: not over %s', async (_, to, says) => {
    const place = await callWorkspaceTools(FILES);
    const before = readTree(place.root);
    for (const dry_run of [false, true]) {
      const {error} = await place.call('move_file', {from: 'a.txt', to, dry_run});
      expect(error).toMatchObject({
        error_type: 'invalid_params',
        details: {field: 'to'},
        message: expect.stringMatching(says),
      });
    }
    expect(readTree(place.root)).toEqual(before);
  });

  test('W1: nothing but one plain file in the workspace is moved, and to no other place', async () => {
    const place = await callWorkspaceTools(FILES);
    symlinkSync('a.txt', join(place.root, 'link'));
    mkdirSync(join(place.root, '.git'));
    const codes = [];
    for (const [from, to] of [
      ['link', 'x'],
      ['dir', 'x'],
      ['a.txt', 'link'],
      ['a.txt', 'link/x'],
      ['a.txt', '../x'],
      ['a.txt', '.git/x'],
      ['../x', 'x'],
      ['none', 'x'],
    ]) {
      codes.push(await place.code('move_file', {from: from as string, to: to as string}));
    }
    expect(codes).toEqual([
      'symlink_blocked',
      'not_a_file',
      'invalid_params',
      'invalid_params',
      'path_escape',
      'path_escape',
      'path_escape',
      'file_not_found',
    ]);
  });

  test('W19: of two moves to one place sent together, one is made', async () => {
    const place = await callWorkspaceTools(FILES);
    const codes = await Promise.all([
      place.code('move_file', {from: 'a.txt', to: 'x'}),
      place.code('move_file', {from: 'bin.dat', to: 'x'}),
    ]);
    expect(codes.filter(code => code === 'ok')).toHaveLength(1);
    // The one that is left, the moved one, and `dir` with its file.
    expect(Object.keys(readTree(place.root))).toHaveLength(4);
  });
});

describe('delete_file', () => {
  test('W19: deletes any file, shows what goes, and undo brings it back byte for byte', async () => {
    const asked: string[] = [];
    const approver = {
      ask: async ({preview}: {preview: string}) => {
        asked.push(preview);
        return {answer: 'once'} as const;
      },
    };
    const place = await callWorkspaceTools(FILES, {approval: {mode: 'prompt'}, approver});
    const before = readTree(place.root);
    const done = await place.data('delete_file', {path: 'dir/run.sh'});
    expect(done).toEqual({path: 'dir/run.sh', bytes: 10, removed: 1, undo_step: 1, dry_run: false});
    expect(asked[0]).toContain('deleted file mode 100644');
    expect(asked[0]).toContain('-#!/bin/sh');
    expect(existsSync(join(place.root, 'dir'))).toBe(false);
    expect(place.tool('delete_file').renderText(done)).toBe(
      'dir/run.sh: +0 −1 · deleted · 10 bytes · step 1',
    );
    await place.data('delete_file', {path: 'bin.dat'});
    expect(Object.keys(readTree(place.root))).toEqual(['a.txt']);
    await place.data('undo');
    await place.data('undo');
    expect(readTree(place.root)).toEqual(before);
  });

  test('W1: a directory, a link, what is not there and what changed since it was read stay', async () => {
    const place = await callWorkspaceTools(FILES);
    symlinkSync('a.txt', join(place.root, 'link'));
    await place.data('read_file', {path: 'a.txt'});
    appendFileSync(join(place.root, 'a.txt'), 'x');
    const codes = [];
    for (const path of ['dir', 'link', 'b.txt', 'a.txt', '.', '.git/config'])
      codes.push(await place.code('delete_file', {path}));
    expect(codes).toEqual([
      'not_a_file',
      'symlink_blocked',
      'file_not_found',
      'stale_read',
      'not_a_file',
      'path_escape',
    ]);
    expect(await place.data('delete_file', {path: 'bin.dat', dry_run: true})).not.toHaveProperty('undo_step');
    expect(existsSync(join(place.root, 'bin.dat'))).toBe(true);
  });
});

describe('undo', () => {
  test('W19: takes back the last change, then the one before, and a taking back too', {
    tags: 'slow',
  }, async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'a.txt'});
    await place.data('str_replace', edit('one', 'two'));
    await place.data('str_replace', edit('two', 'three'));
    const text = () => readFileSync(join(place.root, 'a.txt'), 'utf8');
    const done = await place.data('undo');
    expect(done).toEqual({step: 3, restored_files: ['a.txt'], undo_step: 4});
    expect(place.tool('undo').renderText(done)).toBe('Step 3 is taken back · step 4\na.txt');
    expect(text()).toBe('two\n');
    expect(await place.data('undo')).toMatchObject({step: 2});
    expect(text()).toBe('one\n');
    expect(await place.code('undo')).toBe('file_not_found');
    expect(await place.data('undo', {step: 5})).toMatchObject({step: 5});
    expect(text()).toBe('two\n');
    expect(await place.data('undo')).toMatchObject({step: 2});
    expect(text()).toBe('one\n');
    expect((await applied(place)).map(({undoes}) => undoes)).toEqual([undefined, undefined, 3, 2, 5, 2]);
  });

  test('W6: what was taken back has to be read again', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('delete_file', {path: 'a.txt'});
    await place.data('undo');
    expect(await place.code('write_file', {path: 'a.txt', content: ''})).toBe('not_read');
  });

  test('policy: a later change of the file is a refusal that names its step, or says that it was another process', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'a.txt'});
    await place.data('str_replace', edit('one', 'two'));
    await place.data('move_file', {from: 'a.txt', to: 'b.txt'});
    const {error} = await place.call('undo', {step: 2});
    expect(error).toMatchObject({error_type: 'stale_read', details: {path: 'a.txt'}});
    expect(error?.message).toMatch(/"a\.txt" changed since\. Steps that changed it: 3\. Undo these first/);
    await place.data('undo', {step: 3});
    writeFileSync(join(place.root, 'a.txt'), 'somebody\n');
    const other = await place.call('undo', {step: 2});
    expect(other.error?.message).toMatch(/Something else than a tool of this session changed it/);
    const again = await place.call('undo', {step: 3});
    expect(again.error?.message).toMatch(/^Step 3 was taken back in step 5 already\. .* undo step 5\.$/);
    const none = await place.call('undo', {step: 1});
    expect(none.error?.message).toMatch(/^Step 1 of this session changed no files\. Steps that did: 2, 5\.$/);
    expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('somebody\n');
  });

  test('review R18: a log or a record that another process wrote to undoes nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('delete_file', {path: 'a.txt'});
    const record = join(place.runDirectory, 'diffs/step_0001.undo.json');
    const text = readFileSync(record, 'utf8');
    writeFileSync(record, text.replaceAll('a.txt', 'c.txt'));
    expect(await place.call('undo')).toMatchObject({error: {details: {error: 'damaged'}}});
    writeFileSync(record, text);
    const log = join(place.runDirectory, 'events.jsonl');
    const lines = readFileSync(log, 'utf8');
    writeFileSync(log, lines.replace('"changed_files":["a.txt"]', '"changed_files":["c.txt"]'));
    expect(await place.call('undo')).toMatchObject({error: {details: {error: 'log_tampered'}}});
    writeFileSync(log, lines);
    expect(Object.keys(readTree(place.root))).not.toContain('a.txt');
  });

  test('W19: of two undos sent together each takes back a step of its own, or says why not', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('delete_file', {path: 'a.txt'});
    const codes = await Promise.all([place.code('undo'), place.code('undo')]);
    expect(codes.sort()).toEqual(['ok', 'stale_read']);
    expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('review B7: what is brought back is whose it was', needs('root'), async () => {
    const place = await callWorkspaceTools(FILES);
    const {chownSync} = await import('node:fs');
    chownSync(join(place.root, 'a.txt'), 1234, 1235);
    chmodSync(join(place.root, 'a.txt'), 0o640);
    await place.data('delete_file', {path: 'a.txt'});
    await place.data('undo');
    const {uid, gid, mode} = statSync(join(place.root, 'a.txt'));
    expect({uid, gid, mode: mode & 0o777}).toEqual({uid: 1234, gid: 1235, mode: 0o640});
  });
});

test('review: a change of files with long names keeps its step in the log, and is what undo takes back', {
  tags: 'slow',
}, async () => {
  const names = Array.from({length: 100}, (_, at) => `${'n'.repeat(200)}/${'m'.repeat(150)}${at}`);
  const place = await callWorkspaceTools({
    first: 'x\n',
    ...Object.fromEntries(names.map(name => [name, 'old\n'])),
  });
  await place.data('replace_in_files', {query: 'x', replacement: 'y'});
  await place.data('replace_in_files', {query: 'old', replacement: 'new'});
  expect((await applied(place)).at(-1)).toMatchObject({step: 2, undo_record_sha256: expect.any(String)});
  expect(await place.data('undo', {})).toMatchObject({step: 2});
  expect(readFileSync(join(place.root, names[99] ?? ''), 'utf8')).toBe('old\n');
});
