// Opens files on the desktop of a person, and shows text in their pager.
import {spawn} from 'node:child_process';
import {isAbsolute} from 'node:path';
import {findProgram, isProgramToTrust, STANDARD_DIRECTORIES} from '../system/find-program.ts';

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program that shows a file as its user likes it, and what it takes; `undefined` where no desktop is to be seen. */
export function desktopOpener({platform, env}: Desktop): readonly [string, ...string[]] | undefined {
  // A machine that builds may have a display, and nobody who looks at it.
  if (env['CI'] !== undefined && env['CI'] !== '' && env['CI'] !== 'false') return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  return hasDisplay ? ['xdg-open'] : undefined;
}

/** Opens a file for the person at the desktop. The value says whether a program was started for it. */
export async function openOnDesktop(
  file: string,
  desktop: Desktop,
  standard: readonly string[] = STANDARD_DIRECTORIES,
): Promise<boolean> {
  const opener = desktopOpener(desktop);
  if (opener === undefined) return false;
  const [name, ...args] = opener;
  const program = await findProgram(name, {path: desktop.env['PATH'], untrustedTrees: [], standard});
  if (program === undefined) return false;
  return new Promise(resolve => {
    // It outlives this program, as the window does.
    const child = spawn(program, [...args, file], {
      stdio: 'ignore',
      detached: true,
      env: desktop.env,
      windowsHide: true,
    });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

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
    // A reader may leave before the end.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
