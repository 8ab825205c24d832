import {spawn} from 'node:child_process';
import {findProgram, STANDARD_DIRECTORIES} from '../../system/find-program.ts';

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
