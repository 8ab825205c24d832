import {ok, type Result} from '../../core/result.ts';
import type {Glob} from '../glob/compile-glob.ts';
import {isProtectedName} from '../protected-name.ts';
import {sortBytewise} from '../sort-bytewise.ts';
import {readNames} from './read-names.ts';
import {type Ripgrep, runRipgrep} from './run-ripgrep.ts';

/**
 * ADR 08: `glob` by `rg --files -g …`, all files that are wanted below `ripgrep.cwd`, relative to it, in
 * bytewise order. Undefined where the signal fired.
 */
export async function listWithRipgrep(
  ripgrep: Ripgrep,
  glob: Glob,
  signal: AbortSignal,
): Promise<Result<readonly string[] | undefined>> {
  const files: string[] = [];
  const globs = glob.patterns.flatMap(pattern => ['-g', pattern]);
  const run = await runRipgrep(ripgrep, {
    // The last glob that fits counts, so that none brings `.git` back.
    args: ['--files', '--null', '--hidden', '--no-ignore', ...globs, '--iglob=!.git', '--', '.'],
    onStdout: readNames(path => {
      if (glob.keepsPath(path) && !path.split('/').some(isProtectedName)) files.push(path);
    }),
    signal,
  });
  if (!run.ok) return run;
  return ok(run.value === 'complete' ? sortBytewise(files) : undefined);
}
