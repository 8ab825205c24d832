import fc from 'fast-check';
import {expect, test} from 'vitest';
import {openTestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {InMemoryFileSystem} from '../in-memory-file-system.ts';
import {walkTree} from '../walk/walk-tree.ts';
import {compileGlob} from './compile-glob.ts';
import {scanFiles} from './scan-files.ts';

test('ADR 08: the scan of a file system and the walk find the same files', {tags: 'slow'}, async () => {
  const name = fc.constantFrom(
    'a',
    'b',
    '.h',
    'a.ts',
    '\u00e9',
    '\u{1f600}',
    '\uffee',
    '-x',
    'a b',
    '.git',
    '.GIT',
    '[',
  );
  const path = fc.array(name, {minLength: 1, maxLength: 4}).map(parts => parts.join('/'));
  const globs = fc.constantFrom(
    '**',
    '*.ts',
    'a/**',
    '!a',
    '!*.ts',
    '/*',
    '**/b',
    '{a,b}/*',
    '?',
    '[a-b]',
    '-x',
    '.*',
    '\\[',
    '!b/',
    'a b',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, {maxLength: 10}),
      globs,
      fc.constantFrom('.', 'a'),
      async (paths, text, rootName) => {
        const files = paths.filter(one => !paths.some(other => other.startsWith(`${one}/`)));
        const from = files.some(file => file.startsWith('a/')) ? rootName : '.';
        const tree = {...Object.fromEntries(files.map(file => [file, ''])), '.gitignore': 'a\n*.ts\n'};
        const {session} = await openTestWorkspace(tree);
        const root = unwrap(session.workspace.resolve(from));
        const glob = unwrap(compileGlob(text, 'pattern'));
        const prefix = from === '.' ? '' : 'a/';
        const scanned = unwrap(await scanFiles(new InMemoryFileSystem(tree), root, glob));
        expect(unwrap(await scanFiles(session.files, root, glob))).toEqual(scanned);
        const walked = unwrap(await walkTree(session.workspace, root, {glob, maxFiles: 1000}));
        expect(walked.files.map(file => prefix + file)).toEqual(scanned);
      },
    ),
    {numRuns: 40},
  );
});
