import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {jailedPlace, readAt, writeAt} from '../../../test/support/jailed-place.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {openWorkspace} from './jail.ts';

const WAYS_TO_HOLD: readonly (readonly [string, HoldEntry])[] = [
  ['by descriptor', handleByDescriptor],
  ['by name', handleByName],
];

describe.each(WAYS_TO_HOLD)('the root of a workspace, pinned %s', (how, holdEntry) => {
  test.each(['a link', 'another directory'])(
    'review R4: %s in its place gains nothing',
    async replacement => {
      const {workspace, root, outside} = await jailedPlace(holdEntry);
      writeFileSync(join(outside, 'top.txt'), 'secret\n');
      renameSync(root, `${root}-real`);
      if (replacement === 'a link') symlinkSync(outside, root);
      else renameSync(outside, root);

      const seen = await readAt(workspace, 'top.txt');
      expect(seen).toBe(how === 'by descriptor' ? 'top\n' : 'io_error');
      expect(await writeAt(workspace, 'planted')).toBe('io_error');
      expect(await writeAt(workspace, 'new/planted')).toBe('io_error');
      expect(codeOf(await workspace.remove(unwrap(workspace.resolveForWrite('top.txt'))))).toBe('io_error');
      expect(readdirSync(root).sort()).toEqual(['secret.txt', 'top.txt']);
      expect(readdirSync(`${root}-real`).sort()).toEqual(['.git', 'a', 'top.txt']);
    },
  );

  test('review R4: what changes something says that the root is another one, and what to do', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    expect(workspace.verifyRoot()).toEqual({ok: true, value: undefined});
    renameSync(root, `${root}-real`);
    expect(workspace.verifyRoot()).toMatchObject({
      error: {
        code: 'io_error',
        message: expect.stringMatching(
          /work" was moved or replaced .* Put it back, or open a new session\.$/,
        ),
        details: {path: root, error: 'root_moved', operation: 'reach'},
      },
    });
    renameSync(`${root}-real`, root);
    expect(codeOf(workspace.verifyRoot())).toBe('ok');
    expect(await writeAt(workspace, 'new')).toBe('ok');
  });

  test('review R4: the identity is that of the directory', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    const {dev, ino} = statSync(root, {bigint: true});
    expect(workspace.identity).toEqual({dev, ino});
  });

  test('a closed workspace leads nowhere, whatever gets its descriptor next', async () => {
    const {workspace, root, outside} = await jailedPlace(holdEntry);
    workspace.close();
    workspace.close();
    const other = unwrap(openWorkspace(outside, {holdEntry}));
    expect(await readAt(workspace, 'secret.txt')).toBe('io_error');
    expect(workspace.openDirectory(unwrap(workspace.resolve('.')))).toMatchObject({
      error: {
        code: 'io_error',
        message: expect.stringMatching(/work" is closed\. Open a new session\.$/),
        details: {path: root, error: 'closed', operation: 'reach'},
      },
    });
    expect(await readAt(workspace, 'top.txt')).toBe('io_error');
    expect(await writeAt(workspace, 'top.txt')).toBe('io_error');
    expect(readFileSync(join(root, 'top.txt'), 'utf8')).toBe('top\n');
    other.close();
  });
});

test.each(['dev', 'ino'] as const)('review R4: a root with another %s is another one', async part => {
  const {root} = await jailedPlace();
  // As where another file system is mounted on it, with directories of the same number.
  const holdEntry: HoldEntry = address => {
    const entryHandle = handleByDescriptor(address);
    const identity = entryHandle.identify();
    return {...entryHandle, identify: () => ({...identity, [part]: identity[part] + 1n})};
  };
  const workspace = unwrap(openWorkspace(root, {holdEntry}));
  expect(workspace.verifyRoot()).toMatchObject({error: {code: 'io_error', details: {error: 'root_moved'}}});
  workspace.close();
});

test('a root that the system does not let us hold once more is told with its reason', async () => {
  const {root} = await jailedPlace();
  let isFull = false;
  const holdEntry: HoldEntry = address => {
    if (isFull) throw Object.assign(new Error('EMFILE'), {code: 'EMFILE', syscall: 'open'});
    return handleByDescriptor(address);
  };
  const workspace = unwrap(openWorkspace(root, {holdEntry}));
  isFull = true;
  expect(workspace.openDirectory(unwrap(workspace.resolve('.')))).toMatchObject({
    error: {code: 'io_error', details: {path: root, error: 'EMFILE', operation: 'reach'}},
  });
  workspace.close();
});

test('an open workspace holds one descriptor, and none when it is closed', async () => {
  const {root} = await jailedPlace();
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const workspaces = Array.from({length: 20}, () => unwrap(openWorkspace(root)));
  expect(descriptors()).toBe(before + 20);
  for (const workspace of workspaces) workspace.close();
  expect(descriptors()).toBe(before);
});

test('a root that is removed and made anew is another one', async () => {
  const {workspace, root} = await jailedPlace();
  rmSync(root, {recursive: true});
  mkdirSync(root);
  writeFileSync(join(root, 'top.txt'), 'new');
  expect(await readAt(workspace, 'top.txt')).toBe('file_not_found');
  expect(await writeAt(workspace, 'top.txt')).toBe('io_error');
});
