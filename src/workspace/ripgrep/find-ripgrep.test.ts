import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {afterEach, describe, expect, test, vi} from 'vitest';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {findRipgrep} from './find-ripgrep.ts';

describe('find-ripgrep', () => {
  test('takes that of the package', async () => {
    expect(unwrap(await findRipgrep({directories: [], workspaceRoot: '/w'}))).toBe(rgPath);
  });

  describe('without the package', () => {
    afterEach(() => {
      vi.doUnmock('@vscode/ripgrep');
    });

    test('the first rg of PATH that is not in the workspace, by whatever link', async () => {
      // The package throws where there is no binary for the platform.
      vi.doMock('@vscode/ripgrep', () => {
        throw new Error('Could not find @vscode/ripgrep-plan9-mips');
      });
      const base = temporaryDirectory();
      const workspaceRoot = join(base, 'work');
      const [planted, linked, notExecutable, good] = ['work/bin', 'linked', 'not-executable', 'bin'].map(
        name => {
          mkdirSync(join(base, name), {recursive: true});
          return join(base, name);
        },
      ) as [string, string, string, string];
      for (const directory of [planted, notExecutable, good]) writeFileSync(join(directory, 'rg'), '');
      chmodSync(join(planted, 'rg'), 0o755);
      chmodSync(join(good, 'rg'), 0o755);
      symlinkSync(join(planted, 'rg'), join(linked, 'rg'));
      const bad = ['', '.', 'node_modules/.bin', '/nowhere', planted, linked, notExecutable];
      expect(codeOf(await findRipgrep({directories: bad, workspaceRoot}))).toBe('ripgrep_unavailable');
      expect(unwrap(await findRipgrep({directories: [...bad, good], workspaceRoot}))).toBe(join(good, 'rg'));
    });
  });
});
