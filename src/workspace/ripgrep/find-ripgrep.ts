import {delimiter, isAbsolute, relative} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {findProgram, isProgramToTrust} from '../../system/find-program.ts';
import {packagedRipgrep} from './packaged-ripgrep.ts';

/** Where `rg` is looked for besides its package. */
export interface RipgrepPlaces {
  /** The directories of a `PATH`. */
  readonly directories: readonly string[];
  /** Its real path. What lies in it is never run: whoever writes there would write our programs (review R3, R8). */
  readonly workspaceRoot: string;
  /** Absolute paths below the root that no tool and no command can change, such as the package with all it loads. */
  readonly protectedPaths: readonly string[];
}

/** The absolute path of ripgrep: of the package `@vscode/ripgrep`, else of the system or the `PATH`. */
export async function findRipgrep(
  places: RipgrepPlaces,
  findPackaged: () => string | undefined = packagedRipgrep,
): Promise<Result<string>> {
  const {directories, workspaceRoot, protectedPaths} = places;
  const untrustedTrees = [workspaceRoot];
  const packaged = findPackaged();
  if (packaged !== undefined && (await isProgramToTrust(packaged, untrustedTrees))) return ok(packaged);
  const found = await findProgram('rg', {path: directories.join(delimiter), untrustedTrees});
  if (found !== undefined) return ok(found);
  if (packaged !== undefined) {
    // Installed in the workspace beside this package, it is as trustworthy as our own code, and protected with it.
    const isProtected = protectedPaths.some(path => isInside(path, packaged));
    if (isProtected && (await isProgramToTrust(packaged, []))) return ok(packaged);
    return fail(
      'ripgrep_unavailable',
      `ripgrep was found at ${JSON.stringify(packaged)} only, where it is not run: it lies in the workspace, or others can replace it. Install it for the system (\`apt-get install ripgrep\`), or forge-tools outside the workspace.`,
      {error: 'not_trusted'},
    );
  }
  return fail(
    'ripgrep_unavailable',
    'ripgrep is not installed. Install it (`apt-get install ripgrep`), or the optional package @vscode/ripgrep.',
    {error: 'not_found'},
  );
}

function isInside(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
}
