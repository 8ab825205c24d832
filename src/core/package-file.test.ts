import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {findRoot, packageFile} from './package-file.ts';

test.each(['package.json', 'vocabulary/cl100k_base.bin', 'dist/bin/worker.js', 'demo/site/robots.txt'])(
  'packageFile finds %s, whatever the working directory is',
  path => {
    expect(packageFile(path).pathname.endsWith(`/${path}`)).toBe(true);
    expect(existsSync(packageFile(path))).toBe(true);
  },
);

function write(file: string, text: string): string {
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, text);
  return file;
}

test.each([
  ['a package that Node finds from there', 'node_modules/forge-tools', 'out/server/app.js'],
  ['a folder beside it', 'out/server/forge-tools', 'out/server/app.js'],
])('policy: the files of a package whose code was bundled are in %s', (_, folder, bundle) => {
  const place = temporaryDirectory();
  // Not ours: what only lies where a module of ours would have it.
  write(join(place, 'package.json'), '{"name": "application"}');
  write(join(place, folder, 'package.json'), '{"name": "forge-tools"}');
  const root = findRoot(pathToFileURL(join(place, bundle)).href);
  expect(root.href).toBe(`${pathToFileURL(join(place, folder)).href}/`);
});

test('policy: where they are not found the message says what to do, and the working directory is not looked at', () => {
  const place = temporaryDirectory();
  expect(() => findRoot(pathToFileURL(join(place, 'out/app.js')).href)).toThrow(
    /not found from file:.*Leave forge-tools out of the bundle \("external"\), or copy node_modules\/forge-tools beside it\./,
  );
  expect(() => findRoot(undefined)).toThrow(/a bundle that does not know where it is/);
});
