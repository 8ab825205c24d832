import {describe, expect, test} from 'vitest';
import type {FileSystem} from '../../src/workspace/memory-workspace.ts';
import {contentHash} from '../../src/workspace/open-file.ts';
import type {WorkspacePath, WritablePath} from '../../src/workspace/workspace-path.ts';
import {codeOf, unwrap} from '../support/outcome.ts';

/** What every implementation of the port does. `create` makes one that holds these files. */
export function fileSystemContract(
  name: string,
  create: (files: Readonly<Record<string, string | Uint8Array>>) => Promise<FileSystem>,
): void {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const FILES = {
    'b.txt': 'b\r\n',
    'src/a.ts': 'a\n',
    'src/deep/z.ts': 'z',
    'src-2/x': '',
    'src/\u{1f600}': 'supplementary',
    'src/\uffee': 'last of the BMP',
    '.hidden/h': 'h',
    '.git/config': 'c',
    'src/.git': 'gitdir: elsewhere',
    'bin.dat': new Uint8Array([0xff, 0x00, 0x80]),
  };
  const at = (files: FileSystem, path: string): WorkspacePath => unwrap(files.resolve(path));
  const to = (files: FileSystem, path: string): WritablePath => unwrap(files.resolveForWrite(path));

  describe(`contract of the file-system port: ${name}`, () => {
    test('ruling W3: lists files only, recursively, in bytewise order, without .git', async () => {
      const files = await create(FILES);
      expect(unwrap(await files.listFiles(at(files, '.')))).toEqual([
        '.hidden/h',
        'b.txt',
        'bin.dat',
        'src-2/x',
        'src/a.ts',
        'src/deep/z.ts',
        'src/\uffee',
        'src/\u{1f600}',
      ]);
      expect(unwrap(await files.listFiles(at(files, 'src/deep')))).toEqual(['src/deep/z.ts']);
      expect(codeOf(await files.listFiles(at(files, 'none')))).toBe('file_not_found');
      expect(codeOf(await files.listFiles(at(files, 'b.txt')))).toBe('file_not_found');
    });

    test('reads exactly the bytes that are there', async () => {
      const files = await create(FILES);
      expect(unwrap(await files.readFile(at(files, 'b.txt')))).toEqual(Buffer.from('b\r\n'));
      expect(unwrap(await files.readFile(at(files, 'bin.dat')))).toEqual(Buffer.from([0xff, 0x00, 0x80]));
      expect(unwrap(await files.readFile(at(files, 'src-2/x')))).toHaveLength(0);
      expect(codeOf(await files.readFile(at(files, 'none')))).toBe('file_not_found');
      expect(codeOf(await files.readFile(at(files, 'b.txt/none')))).toBe('file_not_found');
      expect(codeOf(await files.readFile(at(files, 'src')))).toBe('not_a_file');
      expect(codeOf(await files.readFile(at(files, 'b.txt'), {maxBytes: 2}))).toBe('file_too_large');
      expect(codeOf(await files.readFile(at(files, 'b.txt'), {maxBytes: 3}))).toBe('ok');
    });

    test('opens a file and reads from any position', async () => {
      const files = await create({f: '0123456789'});
      const file = unwrap(await files.openFile(at(files, 'f')));
      expect(file.info).toMatchObject({kind: 'file', size: 10, links: 1});
      const into = new Uint8Array(4);
      expect(await file.read(into, 3)).toBe(4);
      expect(Buffer.from(into).toString()).toBe('3456');
      expect(await file.read(into, 8)).toBe(2);
      expect(await file.read(into, 10)).toBe(0);
      expect(await file.read(into, 99)).toBe(0);
      await file.close();
      expect(codeOf(await files.openFile(at(files, '.')))).toBe('not_a_file');
    });

    test('tells files, directories and nothing apart', async () => {
      const files = await create(FILES);
      expect(unwrap(await files.stat(at(files, 'b.txt')))).toMatchObject({
        kind: 'file',
        size: 3,
        mode: 0o644,
      });
      expect(unwrap(await files.stat(at(files, 'src')))).toMatchObject({kind: 'directory'});
      expect(unwrap(await files.stat(at(files, '.')))).toMatchObject({kind: 'directory'});
      expect(codeOf(await files.stat(at(files, 'none')))).toBe('file_not_found');
    });

    test('ruling W11: writes new files with their parents, keeps the mode of old ones', async () => {
      const files = await create(FILES);
      expect(codeOf(await files.writeFile(to(files, 'n/e/w.txt'), bytes('new')))).toBe('ok');
      expect(unwrap(await files.readFile(at(files, 'n/e/w.txt')))).toEqual(Buffer.from('new'));
      expect(codeOf(await files.writeFile(to(files, 'n/e/w.txt'), bytes('x'), {mode: 0o755}))).toBe('ok');
      expect(codeOf(await files.writeFile(to(files, 'n/e/w.txt'), bytes('newer')))).toBe('ok');
      expect(unwrap(await files.stat(at(files, 'n/e/w.txt')))).toMatchObject({size: 5, mode: 0o755});
      expect(codeOf(await files.writeFile(to(files, 'src'), bytes('x')))).toBe('not_a_file');
      expect(codeOf(await files.writeFile(to(files, 'b.txt/x'), bytes('x')))).toBe('file_not_found');
      expect(unwrap(await files.listFiles(at(files, 'n')))).toEqual(['n/e/w.txt']);
    });

    test('ruling W6: writes and removes only what is expected to be there', async () => {
      const files = await create({f: 'one'});
      const path = to(files, 'f');
      const [one, two] = [contentHash(bytes('one')), contentHash(bytes('two'))];
      expect(codeOf(await files.writeFile(path, bytes('x'), {expected: two}))).toBe('stale_read');
      expect(codeOf(await files.writeFile(path, bytes('x'), {expected: 'absent'}))).toBe('stale_read');
      expect(codeOf(await files.writeFile(to(files, 'g'), bytes('x'), {expected: one}))).toBe('stale_read');
      expect(unwrap(await files.listFiles(at(files, '.')))).toEqual(['f']);
      expect(codeOf(await files.writeFile(path, bytes('two'), {expected: one}))).toBe('ok');
      expect(codeOf(await files.writeFile(to(files, 'g'), bytes('x'), {expected: 'absent'}))).toBe('ok');
      expect(codeOf(await files.removeFile(path, one))).toBe('stale_read');
      expect(codeOf(await files.removeFile(path, two))).toBe('ok');
      expect(codeOf(await files.removeFile(path))).toBe('file_not_found');
      expect(unwrap(await files.listFiles(at(files, '.')))).toEqual(['g']);
    });

    test('what is handed in and out is a copy', async () => {
      const files = await create({f: 'one'});
      const content = bytes('two');
      await files.writeFile(to(files, 'f'), content);
      content.fill(0);
      const first = unwrap(await files.readFile(at(files, 'f')));
      expect(first).toEqual(Buffer.from('two'));
      first.fill(0);
      expect(unwrap(await files.readFile(at(files, 'f')))).toEqual(Buffer.from('two'));
    });

    test('ruling W1: paths that leave, or that no tool may write, are no paths of it', async () => {
      const files = await create(FILES);
      expect(codeOf(files.resolve('../x'))).toBe('path_escape');
      expect(codeOf(files.resolve('/etc/passwd'))).toBe('path_escape');
      expect(codeOf(files.resolve('a\0'))).toBe('invalid_params');
      expect(codeOf(files.resolveForWrite('.git/config'))).toBe('path_escape');
      expect(codeOf(files.resolveForWrite('.'))).toBe('not_a_file');
    });
  });
}
