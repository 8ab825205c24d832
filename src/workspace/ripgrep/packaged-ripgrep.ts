import {createRequire} from 'node:module';
import {packageFile} from '../../core/package-file.ts';

const PACKAGE = '@vscode/ripgrep';

/**
 * The program of the package `@vscode/ripgrep`, which keeps it in a package for each platform. It is looked up by name and
 * not imported: a bundler that follows the import takes the program for code.
 */
export function packagedRipgrep(): string | undefined {
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    const entry = createRequire(packageFile('package.json')).resolve(PACKAGE);
    return createRequire(entry).resolve(`${PACKAGE}-${process.platform}-${process.arch}/bin/${program}`);
  } catch {
    // There is no binary for the platform, or the package was left out.
    return undefined;
  }
}
