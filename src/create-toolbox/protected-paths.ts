import {existsSync, realpathSync} from 'node:fs';
import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {fileURLToPath} from 'node:url';
import {packageFile} from '../core/package-file.ts';

/** What this package loads beside its own code, where the workspace is the package itself. */
const LOADED = ['node_modules', 'vocabulary', 'assets', 'package.json'];

export interface ProtectedDeps {
  /** The workspace, an absolute path. */
  readonly root: string;
  /** Files that the host names, such as the configuration, there or not. */
  readonly named: readonly string[];
  /** Where runs, locks and journals are kept. */
  readonly state: readonly string[];
}

/**
 * Reviews R8 and R9: what of a workspace no tool and no command may change, because we believe it or execute it:
 * the configuration, this package with all it loads, the executable of Node, and our own state. Absolute paths
 * that lie in the workspace.
 */
export function protectedPaths({root, named, state}: ProtectedDeps): readonly string[] {
  const real = realPath(root);
  const isWithin = (path: string): boolean => isInside(root, path) || isInside(real, path);
  const paths = [...named, ...state, process.execPath].map(path => resolve(path));
  const believed = [...new Set([...paths, ...paths.map(realPath)])].filter(isWithin);
  return [...believed, ...packageParts(real)];
}

/** The outermost `node_modules` that holds the package, else the package, else what of it is in use. */
function packageParts(root: string): readonly string[] {
  const home = realPath(fileURLToPath(packageFile('.')));
  if (home === root) {
    // The code in use is `dist` or `src`; the other one can be worked on.
    const [code = ''] = relative(home, realPath(fileURLToPath(import.meta.url))).split(sep);
    return [code, ...LOADED].map(part => join(home, part)).filter(existsSync);
  }
  if (!isInside(root, home)) return [];
  const names = relative(root, home).split(sep);
  const outermost = names.indexOf('node_modules');
  return [outermost === -1 ? home : join(root, ...names.slice(0, outermost + 1))];
}

function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Of what is not there, the place where it would be. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}
