import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {readSmallFile} from './read-small-file.ts';

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe.each<readonly [string, HoldEntry]>([
  ['by descriptor', handleByDescriptor],
  ['by name', handleByName],
])('a file read at once, in a directory held %s', (_, holdEntry) => {
  function place() {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'd'));
    const opened = openWorkspaceForTest(root, {holdEntry});
    const directory = unwrap(opened.openDirectory(unwrap(opened.resolve('d'))));
    return {root, directory, at: (name: string) => join(root, 'd', name)};
  }

  test.each([
    ['nothing', '', 0],
    ['less than there is room for', 'abc', 3],
    ['as much as there is room for', 'abcd', undefined],
    ['more', 'abcde', undefined],
  ])('ruling W1: with %s in it', (_, content, expected) => {
    const {directory, at} = place();
    writeFileSync(at('f'), content);
    const into = new Uint8Array(4);
    const before = openDescriptors();
    expect(directory.readSmallFile('f', into)).toEqual({ok: true, value: expected});
    expect(openDescriptors()).toBe(before);
    if (expected !== undefined) expect(Buffer.from(into).toString('utf8', 0, expected)).toBe(content);
  });

  test('ruling W1: what is no regular file is refused, and does not block', () => {
    const {root, directory, at} = place();
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync('../secret', at('link'));
    execFileSync('mkfifo', [at('fifo')]);
    mkdirSync(at('below'));
    const before = openDescriptors();
    const refusal = (name: string) => {
      const read = directory.readSmallFile(name, new Uint8Array(64));
      return read.ok ? read.value : {code: read.error.code, ...read.error.details};
    };
    expect(refusal('fifo')).toMatchObject({code: 'not_a_file', path: 'd/fifo', kind: 'fifo'});
    expect(refusal('below')).toMatchObject({code: 'not_a_file', path: 'd/below', kind: 'directory'});
    expect(refusal('link')).toMatchObject({path: 'd/link'});
    expect(refusal('none')).toMatchObject({code: 'file_not_found', path: 'd/none'});
    expect(openDescriptors()).toBe(before);
  });

  test('ruling W1: a directory that became a link to another one is not read through', () => {
    const {root, directory, at} = place();
    writeFileSync(at('f'), 'inside');
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other/f'), 'outside');
    renameSync(join(root, 'd'), join(root, 'moved'));
    symlinkSync('other', join(root, 'd'));
    const into = new Uint8Array(64);
    const before = openDescriptors();
    const read = directory.readSmallFile('f', into);
    if (holdEntry === handleByDescriptor) expect(read).toEqual({ok: true, value: 'inside'.length});
    else
      expect(read).toMatchObject({error: {code: 'io_error', details: {error: 'ESTALE', operation: 'read'}}});
    expect(Buffer.from(into).toString()).not.toContain('outside');
    expect(openDescriptors()).toBe(before);
  });

  test('a file that says it is empty is read to its end, if it fits', () => {
    const own = holdEntry(`/proc/${process.pid}`);
    const read = (room: number) =>
      readSmallFile(own, 'status', 'status' as WorkspacePath, new Uint8Array(room));
    expect(unwrap(read(64 * 1024))).toBeGreaterThan(100);
    expect(read(100)).toEqual({ok: true, value: undefined});
    expect(codeOf(read(64 * 1024))).toBe('ok');
    own.close();
  });
});
