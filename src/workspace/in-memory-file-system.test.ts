import {expect, test} from 'vitest';
import {fileSystemContract} from '../../test/contracts/file-system.ts';
import {unwrap} from '../../test/support/outcome.ts';
import {InMemoryFileSystem} from './in-memory-file-system.ts';

fileSystemContract('in memory', async files => new InMemoryFileSystem(files));

test('ADR 08: a host seeds it and looks at what became of the files', async () => {
  const files = new InMemoryFileSystem({'/workspace/a.txt': '\ufeffa', 'b/c.txt': 'c'});
  expect(files.text('a.txt')).toBe('\ufeffa');
  await files.writeFile(unwrap(files.resolveForWrite('b/c.txt')), new TextEncoder().encode('changed'));
  expect(files.text('b/c.txt')).toBe('changed');
  expect(files.text('none')).toBeUndefined();
  expect([...files.files.keys()]).toEqual(['a.txt', 'b/c.txt']);
  expect(() => new InMemoryFileSystem({'../x': ''})).toThrow('outside the workspace');
});
