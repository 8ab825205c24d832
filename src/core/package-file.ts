// Finds files that belong to this package, from sources, from the build and from bundles.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const NAME = 'forge-tools';

let root: URL | undefined;

/**
 * A file of this package by its path from the package's root. Every form this module takes lies two folders below
 * that root: `src/core/`, `dist/core/`, and the bundled command line in `dist/bin/`. Where the bundler of an
 * application has moved it, the package is looked up beside the bundle: as a package that Node finds from there, or as
 * a folder `forge-tools`. Never from the working directory: what lies there may be the project of somebody else.
 */
export function packageFile(path: string): URL {
  root ??= findRoot(ownPlace());
  return new URL(path, root);
}

/** The root of the package for a module at `place`. Throws where the package is not beside it. */
export function findRoot(place: string | undefined): URL {
  if (place !== undefined) {
    for (const candidate of candidates(place)) if (isOurs(candidate)) return candidate;
  }
  const where = place === undefined ? 'from a bundle that does not know where it is' : `from ${place}`;
  throw new Error(
    `The files of ${NAME} are not found ${where}. Leave ${NAME} out of the bundle ("external"), or copy node_modules/${NAME} beside it.`,
  );
}

function* candidates(place: string): Iterable<URL> {
  yield new URL('../../', place);
  try {
    const manifest = createRequire(place).resolve(`${NAME}/package.json`);
    yield new URL('./', pathToFileURL(manifest));
  } catch {
    // It is not installed there.
  }
  yield new URL(`./${NAME}/`, place);
}

function isOurs(candidate: URL): boolean {
  try {
    return JSON.parse(readFileSync(new URL('package.json', candidate), 'utf8')).name === NAME;
  } catch {
    return false;
  }
}

/** Bundles in the format of CommonJS have no `import.meta.url`. */
function ownPlace(): string | undefined {
  const url: string | undefined = import.meta.url;
  if (url?.startsWith('file:')) return url;
  return typeof __filename === 'string' ? pathToFileURL(__filename).href : undefined;
}
