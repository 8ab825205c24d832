import {spawn} from 'node:child_process';
import {isAbsolute} from 'node:path';
import {findProgram, isProgramToTrust, STANDARD_DIRECTORIES} from '../../system/find-program.ts';

export interface PagerSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Review R3: no program is taken from there. */
  readonly untrustedTrees: readonly string[];
}

/** Ends at once where the text fits, keeps colours, and leaves the text on the screen. */
const LESS = 'FRX';

/**
 * Gives a text to the pager that a person chose (`PAGER`, else `less`), and waits until they have read it. The value says
 * whether one was started. `PAGER` is a program and its arguments, and no line for a shell; empty or `cat` is none.
 */
export async function showInPager(
  text: string,
  {env, untrustedTrees}: PagerSurroundings,
  standard: readonly string[] = STANDARD_DIRECTORIES,
): Promise<boolean> {
  const [name = '', ...args] = (env['PAGER'] ?? 'less').trim().split(/\s+/);
  if (name === '' || name === 'cat') return false;
  const program = isAbsolute(name)
    ? (await isProgramToTrust(name, untrustedTrees))
      ? name
      : undefined
    : await findProgram(name, {path: env['PATH'], untrustedTrees, standard});
  if (program === undefined) return false;
  return new Promise(resolve => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: {...env, LESS: env['LESS'] ?? LESS},
    });
    child.once('error', () => resolve(false));
    child.once('close', () => resolve(true));
    // Whoever has read enough leaves before the end.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
