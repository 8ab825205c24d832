import {execFileSync} from 'node:child_process';
import {copyFileSync, existsSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * JavaScript for a child process: compiles modules of the project, given by their paths in it, with all
 * they import, to the same paths below `directory`, ending in `.js`.
 */
export function compileInto(directory: string, paths: readonly string[]): void {
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
  writeFileSync(join(directory, 'package.json'), '{"name": "forge-tools", "type": "module"}');
  for (const name of ['node_modules', 'vocabulary', 'dist'])
    symlinkSync(join(PROJECT, name), join(directory, name));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', directory], {stdio: 'pipe'});
  // As in the build: to work them out takes a fifth of the time of a session that does little.
  const schemas = 'core/built-schemas.js';
  const place = join(directory, 'src', schemas);
  if (existsSync(place)) copyFileSync(join(PROJECT, 'dist', schemas), place);
}
