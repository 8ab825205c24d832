import {chmodSync} from 'node:fs';
import {ok, type Result} from '../../core/result.ts';
import {errorCode} from '../../system/error-code.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';

/** What the owner of a directory needs to enter it: without it git takes `.git` for no repository. */
const OWNER = 0o700;

/**
 * Ruling W11: with `git = "commit"` a command may change the modes of `.git`, `objects` and `refs`. Where their
 * owner cannot enter them, git passes `.git` over and takes the HEAD, objects and refs that a command has laid
 * out in the root. So they are opened again. `root` is the workspace.
 */
export function mendGit(root: HeldDirectory): Result<undefined> {
  const git = holdDirectory(root.at('.git'));
  if (git === undefined) return ok(undefined);
  try {
    const mended = open(git, '.git');
    if (!mended.ok) return mended;
    for (const name of ['objects', 'refs']) {
      const part = holdDirectory(git.at(name));
      if (part === undefined) continue;
      try {
        const opened = open(part, `.git/${name}`);
        if (!opened.ok) return opened;
      } finally {
        part.close();
      }
    }
    return ok(undefined);
  } finally {
    git.close();
  }
}

function open({address, info}: HeldDirectory, path: string): Result<undefined> {
  const mode = Number(info.mode & 0o7777n);
  // Where handles are names, a link could have been held.
  if (!info.isDirectory() || (mode & OWNER) === OWNER) return ok(undefined);
  try {
    chmodSync(address, mode | OWNER);
    return ok(undefined);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return sandboxFailure({
      problem: `The owner of ${JSON.stringify(path)} cannot enter it, so git would look for a repository in what commands write`,
      remedy: `chmod u+rwx ${path}, or set tools.run.git = "read-only".`,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}
