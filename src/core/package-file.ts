/**
 * A file of this package by its path from the package's root. Every form this module takes lies two folders
 * below that root: `src/core/`, `dist/core/`, and the bundled command line in `dist/bin/`.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
