import {ok, type Result} from '../../core/result.ts';
import {IgnoreRules} from '../glob/ignore-rules.ts';
import {readGitignore} from '../glob/read-gitignore.ts';
import type {Workspace} from '../jail.ts';
import {isProtectedName} from '../protected-name.ts';
import {readNames} from './read-names.ts';
import {type Ripgrep, runRipgrep} from './run-ripgrep.ts';
import {withIgnoreFile} from './with-ignore-file.ts';

const IGNORE_FILE = '.gitignore';
/** Of all files together; what comes later is taken for none. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * The .gitignore files of the workspace, read through the jail. ripgrep is not let at them: it follows a link,
 * be it to /dev/zero, reads whatever it finds to its end, and waits at a FIFO. Here it only says where they
 * are, outside of what the one in the root ignores.
 */
export async function loadIgnoreRules(
  ripgrep: Ripgrep,
  workspace: Pick<Workspace, 'resolve' | 'openFile'>,
  signal: AbortSignal,
): Promise<Result<IgnoreRules>> {
  const files = new Map<string, string>();
  let characters = 0;
  const load = async (path: string): Promise<void> => {
    const resolved = workspace.resolve(path);
    if (!resolved.ok || characters > MAX_CHARACTERS) return;
    const text = await readGitignore(await workspace.openFile(resolved.value));
    if (text === undefined) return;
    characters += text.length;
    files.set(path.slice(0, -IGNORE_FILE.length - 1) || '.', text);
  };
  await load(IGNORE_FILE);
  const root = new IgnoreRules(files);
  const found: string[] = [];
  const run = await withIgnoreFile(ripgrep, root, walking =>
    runRipgrep(ripgrep, {
      args: ['--files', '--null', '-g', IGNORE_FILE, ...walking, '--', '.'],
      onStdout: readNames(path => {
        if (path !== IGNORE_FILE && !path.split('/').some(isProtectedName)) found.push(path);
      }),
      signal,
    }),
  );
  if (!run.ok) return run;
  for (const path of found.sort()) {
    if (signal.aborted) break;
    if (!root.ignoresFile(path)) await load(path);
  }
  return ok(files.size > 1 ? new IgnoreRules(files) : root);
}
