import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import {planFileChange} from '../../tools/change/define-change-tool.ts';
import {refreshTracker} from '../../tools/change/make-change.ts';
import {openWorkspace} from '../jail/jail.ts';
import {contentHash} from '../open-file.ts';
import {readText} from '../read-text.ts';
import {ReadTracker} from '../read-tracker.ts';
import {changeWorkspace} from './change-workspace.ts';
import {type FileChange, fileWrites} from './file-change.ts';
import {prepareReplacement} from './prepare-replacement.ts';
import {prepareWrite} from './prepare-write.ts';

/** A session on a workspace that has `f.txt`. */
async function session(content = 'one\ntwo\n') {
  const root = temporaryDirectory();
  const at = join(root, 'f.txt');
  writeFileSync(at, content);
  const tracker = new ReadTracker();
  const workspace = unwrap(openWorkspace(root));
  const options = {directory: join(temporaryDirectory(), 'state'), clock: systemClock};
  return {
    root,
    at,
    commit: async (prepared: Result<{readonly change: FileChange}>): Promise<string> => {
      if (!prepared.ok) return prepared.error.code;
      const {change} = prepared.value;
      if (change.old?.hash === change.new?.hash) return 'ok';
      const {changes} = unwrap(await planFileChange(change));
      const done = await changeWorkspace(workspace, options, undefined, held =>
        held.commit(fileWrites(changes)),
      );
      if (done.ok) refreshTracker(tracker, changes, new Map());
      return codeOf(done);
    },
    workspace,
    tracker,
    read: async (path: string, startLine?: number, endLine?: number) => {
      const parsed = unwrap(workspace.resolve(path));
      const {hash} = unwrap(await readText(workspace, parsed, {startLine, endLine, maxBytes: 100_000}));
      tracker.record(parsed, hash);
    },
    write: async (path: string, text: string) =>
      prepareWrite(workspace, tracker, unwrap(workspace.resolveForWrite(path)), text),
    replace: (oldString: string, newString: string) =>
      prepareReplacement(workspace, tracker, {
        path: unwrap(workspace.resolveForWrite('f.txt')),
        edits: [{oldString, newString, replaceAll: false}],
      }),
  };
}

describe('ruling W6: the lock', () => {
  test('a file that was not read is neither replaced nor edited', async () => {
    const {commit, write, replace, at} = await session();
    expect(await commit(await write('f.txt', 'x'))).toBe('not_read');
    expect(await commit(await replace('one', 'x'))).toBe('not_read');
    expect(readFileSync(at, 'utf8')).toBe('one\ntwo\n');
  });

  test('a file that changed since is neither; reading it again opens the lock', async () => {
    const {commit, read, write, replace, at} = await session();
    await read('f.txt');
    writeFileSync(at, 'one\nTWO\n');
    expect(await commit(await write('f.txt', 'x'))).toBe('stale_read');
    expect(await commit(await replace('one', 'x'))).toBe('stale_read');
    await read('f.txt');
    expect(await commit(await replace('one', 'x'))).toBe('ok');
  });

  test('one that was touched, or changed and changed back, is not stale', async () => {
    const {commit, read, replace, at} = await session();
    await read('f.txt');
    writeFileSync(at, 'else');
    writeFileSync(at, 'one\ntwo\n');
    utimesSync(at, 1, 1);
    expect(await commit(await replace('one', 'x'))).toBe('ok');
  });

  test('a ranged read opens it, and so does a write of one\u2019s own', async () => {
    const {commit, read, write, replace, at} = await session();
    await read('f.txt', 2, 2);
    expect(await commit(await replace('one', '1'))).toBe('ok');
    expect(await commit(await replace('two', '2'))).toBe('ok');
    expect(await commit(await write('f.txt', 'three\n'))).toBe('ok');
    expect(await commit(await replace('three', '3'))).toBe('ok');
    expect(readFileSync(at, 'utf8')).toBe('3\n');
  });

  test('a change between working out and committing is found, and nothing is written', async () => {
    const {commit, read, write, replace, at, root} = await session();
    await read('f.txt');
    const [edit, whole, fresh] = [
      await replace('one', 'x'),
      await write('f.txt', 'y'),
      await write('new.txt', 'z'),
    ];
    writeFileSync(at, 'theirs');
    writeFileSync(join(root, 'new.txt'), 'theirs');
    for (const prepared of [edit, whole, fresh]) expect(await commit(prepared)).toBe('stale_read');
    expect(readFileSync(at, 'utf8')).toBe('theirs');
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('theirs');
    expect(readdirSync(root).sort()).toEqual(['f.txt', 'new.txt']);
  });
});

describe('ruling W11: write_file', () => {
  test('makes new files and their parents, without a read', async () => {
    const {commit, write, replace, read, root} = await session();
    const prepared = unwrap(await write('a/b/new.txt', 'é\n'));
    expect(prepared.change).toMatchObject({path: 'a/b/new.txt', old: undefined});
    expect(readdirSync(root)).toEqual(['f.txt']);
    expect(await commit({ok: true, value: prepared})).toBe('ok');
    expect(readFileSync(join(root, 'a/b/new.txt'), 'utf8')).toBe('é\n');
    await read('f.txt');
    expect(await commit(await replace('two', '2'))).toBe('ok');
  });

  test('a preparation writes nothing and tells what would be: dry_run', async () => {
    const {read, write, root, at} = await session();
    await read('f.txt');
    const prepared = unwrap(await write('f.txt', 'one\n2\n'));
    const [before, after] = ['one\ntwo\n', 'one\n2\n'].map(content => ({
      content,
      hash: contentHash(Buffer.from(content)),
    }));
    expect(prepared.change).toMatchObject({path: 'f.txt', old: before, new: after});
    expect(readFileSync(at, 'utf8')).toBe('one\ntwo\n');
    expect(readdirSync(root)).toEqual(['f.txt']);
  });

  test('policy: content that is too large is refused before the file is looked at', async () => {
    const {workspace, tracker} = await session();
    const path = unwrap(workspace.resolveForWrite('f.txt'));
    const bytes = new Uint8Array(32 * 1024 * 1024 + 1);
    expect(codeOf(await prepareWrite(workspace, tracker, path, bytes))).toBe('file_too_large');
  });

  test('the same content is no change, and the file is not touched', async () => {
    const {commit, read, write, at} = await session();
    await read('f.txt');
    const inode = statSync(at).ino;
    const prepared = unwrap(await write('f.txt', 'one\ntwo\n'));
    expect(prepared.change.new.hash).toBe(prepared.change.old?.hash);
    expect(await commit({ok: true, value: prepared})).toBe('ok');
    expect(statSync(at).ino).toBe(inode);
  });

  test('ruling W6: the mode stays, the content is what was given', async () => {
    const {commit, read, write, at} = await session('a\r\n');
    chmodSync(at, 0o755);
    await read('f.txt');
    expect(await commit(await write('f.txt', '\ufeffb\r\nc'))).toBe('ok');
    expect(statSync(at).mode & 0o777).toBe(0o755);
    expect(readFileSync(at, 'utf8')).toBe('\ufeffb\r\nc');
  });

  test('ruling W1: links, hard links and directories are refused before anything is written', async () => {
    const {read, write, root, at} = await session();
    await read('f.txt');
    linkSync(at, join(root, 'hard.txt'));
    symlinkSync('f.txt', join(root, 'soft.txt'));
    expect(codeOf(await write('f.txt', 'x'))).toBe('not_a_file');
    expect(codeOf(await write('hard.txt', 'x'))).toBe('not_a_file');
    expect(codeOf(await write('soft.txt', 'x'))).toBe('symlink_blocked');
    expect(codeOf(await write('soft.txt/x', 'x'))).toBe('symlink_blocked');
    mkdirSync(join(root, 'directory/below'), {recursive: true});
    expect(await write('directory', 'x')).toMatchObject({
      error: {code: 'not_a_file', details: {kind: 'directory'}},
    });
    expect(readFileSync(at, 'utf8')).toBe('one\ntwo\n');
  });
});
