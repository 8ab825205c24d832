export interface Launcher {
  readonly program: readonly [string, ...string[]];
  readonly version: string;
  readonly platform: string;
}

/** A pinned version of the package, which npx downloads where it is not there: never a path into its cache. */
export function npxLauncher({version, platform}: Omit<Launcher, 'program'>): readonly [string, ...string[]] {
  const npx = ['npx', '-y', `forge-tools@${version}`] as const;
  // npx is a script there, which clients cannot start by themselves.
  return platform === 'win32' ? ['cmd', '/c', ...npx] : [...npx];
}

/** This installation, by its path; npx where the path is one of npx's cache, which dies with the next version. */
export function thisLauncher(launcher: Launcher): readonly [string, ...string[]] {
  const isCached = launcher.program.some(part => /[\\/]_npx[\\/]/.test(part));
  return isCached ? npxLauncher(launcher) : launcher.program;
}
