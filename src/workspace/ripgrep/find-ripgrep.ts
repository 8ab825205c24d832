import {constants} from 'node:fs';
import {access, realpath} from 'node:fs/promises';
import {isAbsolute, join, sep} from 'node:path';
import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';

/** Where `rg` is looked for besides its package. */
export interface RipgrepPlaces {
  /** The directories of a `PATH`. Relative ones, and those in the workspace, are passed over. */
  readonly directories: readonly string[];
  /** What lies in it is never run: whoever writes there would write our programs. */
  readonly workspaceRoot: string;
}

/** The absolute path of ripgrep: of the package `@vscode/ripgrep`, else the first one in `directories`. */
export async function findRipgrep({directories, workspaceRoot}: RipgrepPlaces): Promise<Result<string>> {
  const packaged = await packagedRipgrep();
  if (packaged !== undefined && (await isExecutable(packaged))) return ok(packaged);
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  for (const directory of directories) {
    if (!isAbsolute(directory)) continue;
    const path = join(directory, name);
    if (!(await isExecutable(path))) continue;
    const real = await realpath(path);
    if (!real.startsWith(workspaceRoot.endsWith(sep) ? workspaceRoot : `${workspaceRoot}${sep}`))
      return ok(real);
  }
  return fail(
    'ripgrep_unavailable',
    'ripgrep is not installed. Install it (`apt-get install ripgrep`), or the optional package @vscode/ripgrep.',
    {error: 'not_found'},
  );
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    // It throws where there is no binary for the platform, or the package was left out.
    return undefined;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
