import {execFileSync} from 'node:child_process';
import {symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {temporaryDirectory} from './temporary-directory.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * JavaScript for a child process: compiles modules of the project, given by their paths in it, with all
 * they import. Returns the directory that has them at the same paths, ending in `.js`.
 */
export function compileSources(...paths: readonly string[]): string {
  const directory = temporaryDirectory();
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      rootDir: PROJECT,
      outDir: directory,
      typeRoots: [join(PROJECT, 'node_modules/@types')],
    },
    files: paths.map(path => join(PROJECT, path)),
    include: [],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(directory, 'package.json'), '{"type": "module"}');
  symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', directory], {stdio: 'pipe'});
  return directory;
}
