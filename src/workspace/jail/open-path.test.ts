import {mkdirSync, readdirSync, rmdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {asWritable, type WorkspacePath, type WritablePath} from '../workspace-path.ts';
import {type HoldEntry, handleByDescriptor} from './entry-handle.ts';
import {openParent, openPath, type RootHandle} from './open-path.ts';
import {openRoot} from './open-root.ts';

const at = (path: string): WritablePath => unwrap(asWritable(path as WorkspacePath));

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

/** A fresh root whose entries are held as Linux does, but `meddle` comes first. */
function rootHandle(meddle: (name: string, root: string) => void = () => {}): RootHandle {
  const root = temporaryDirectory();
  const holdEntry: HoldEntry = address => {
    meddle(address.slice(address.lastIndexOf('/') + 1), root);
    return handleByDescriptor(address);
  };
  const opened = openRoot(root, holdEntry);
  onTestFinished(() => opened.close());
  return {root: opened, holdEntry};
}

describe('the directory above a path', () => {
  test('is made with those above it, and only where it is asked for', () => {
    const place = rootHandle();
    expect(openParent(place, at('a/b/f'))).toMatchObject({
      error: {code: 'file_not_found', details: {path: 'a/b/f'}},
    });
    const first = unwrap(openParent(place, at('a/b/f'), true));
    expect(first).toMatchObject({name: 'f', created: ['a', 'a/b']});
    first.directory.close();
    const second = unwrap(openParent(place, at('a/c/f'), true));
    expect(second).toMatchObject({name: 'f', created: ['a/c']});
    second.directory.close();
    const top = unwrap(openParent(place, at('f')));
    expect(top).toMatchObject({name: 'f', created: []});
    top.directory.close();
  });

  test('that another made in the meantime is used, and is not ours to remove', () => {
    const met = new Set<string>();
    const place = rootHandle((name, root) => {
      if (name !== 'a' || met.has(name)) return;
      met.add(name);
      // Looked for and not found; when it is to be made, it is there.
      const missing = Object.assign(new Error('x'), {code: 'ENOENT', syscall: 'open'});
      mkdirSync(join(root, 'a'));
      throw missing;
    });
    const parent = unwrap(openParent(place, at('a/b/f'), true));
    expect(parent.created).toEqual(['a/b']);
    parent.directory.close();
  });

  test('that another removes as soon as it is made is not found', () => {
    const place = rootHandle((name, root) => {
      if (name === 'a' && readdirSync(root).includes('a')) rmdirSync(join(root, 'a'));
    });
    const before = openDescriptors();
    expect(openParent(place, at('a/f'), true)).toMatchObject({error: {code: 'file_not_found'}});
    expect(openDescriptors()).toBe(before);
  });

  test('that cannot be made is a failure of the system', () => {
    const place = rootHandle((name, root) => {
      if (name === 'a') rmdirSync(root);
    });
    const before = openDescriptors();
    expect(openParent(place, at('a/f'), true)).toMatchObject({error: {code: 'file_not_found'}});
    expect(openDescriptors()).toBe(before);
  });

  test('is no file', () => {
    const place = rootHandle();
    writeFileSync(join(place.root.path, 'f'), '');
    const before = openDescriptors();
    for (const make of [false, true]) {
      expect(openParent(place, at('f/x'), make)).toMatchObject({error: {code: 'file_not_found'}});
      expect(openParent(place, at('f/x/y'), make)).toMatchObject({error: {code: 'file_not_found'}});
    }
    expect(openDescriptors()).toBe(before);
  });
});

describe('an error on the way', () => {
  const failing = (error: Error) =>
    rootHandle(name => {
      if (name === 'b') throw error;
    });

  test('of the system is a failure that names the path, and nothing stays open', () => {
    const place = failing(Object.assign(new Error('x'), {code: 'EACCES', syscall: 'open'}));
    const before = openDescriptors();
    mkdirSync(join(place.root.path, 'a'));
    expect(openPath(place, at('a/b/c'))).toMatchObject({
      error: {code: 'io_error', details: {path: 'a/b/c', error: 'EACCES', operation: 'reach'}},
    });
    expect(openDescriptors()).toBe(before);
  });

  test('that is a bug is thrown on, and nothing stays open', () => {
    const place = failing(new TypeError('x'));
    const before = openDescriptors();
    mkdirSync(join(place.root.path, 'a'));
    expect(() => openPath(place, at('a/b/c'))).toThrow(new TypeError('x'));
    expect(openDescriptors()).toBe(before);
  });
});
