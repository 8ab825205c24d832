import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

interface LockFile {
  readonly packages: Readonly<
    Record<string, {readonly optionalDependencies?: Readonly<Record<string, string>>}>
  >;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const places = ['', 'bench/', 'test/mutation/', 'test/package/'];

test.each(places)(
  'policy: npm ci takes %spackage-lock.json: each optional package of a package is in it',
  place => {
    const {packages} = JSON.parse(readFileSync(`${root}${place}package-lock.json`, 'utf8')) as LockFile;
    const missing = Object.entries(packages).flatMap(([path, {optionalDependencies = {}}]) =>
      Object.keys(optionalDependencies)
        .filter(name => !placesOf(path, name).some(found => found in packages))
        .map(name => `${path || 'the project'}: ${name}`),
    );
    expect(missing).toEqual([]);
  },
);

/** Where a package may be that another one asks for: beside it, or in a folder above. */
function placesOf(path: string, name: string): readonly string[] {
  const parts = path === '' ? [] : path.split('/node_modules/');
  return [
    ...parts.map((_, end) => `${parts.slice(0, end + 1).join('/node_modules/')}/node_modules/${name}`),
    `node_modules/${name}`,
  ];
}
