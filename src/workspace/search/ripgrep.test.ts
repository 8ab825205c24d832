import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {STANDARD_DIRECTORIES} from '../../system/find-program.ts';
import {findRipgrep} from './ripgrep.ts';

describe('find-ripgrep', () => {
  test('takes that of the package', async () => {
    expect(unwrap(await findRipgrep({directories: [], workspaceRoot: '/w', protectedPaths: []}))).toBe(
      rgPath,
    );
  });

  test('review R8: not that of a package which lies in the workspace', async () => {
    const workspaceRoot = dirname(dirname(rgPath));
    const bin = join(temporaryDirectory(), 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'rg'), '', {mode: 0o755});
    const found = await findRipgrep({
      directories: [join(workspaceRoot, 'bin'), bin],
      workspaceRoot,
      protectedPaths: [],
    });
    expect([...STANDARD_DIRECTORIES, bin]).toContain(dirname(unwrap(found)));
    const nowhere = await findRipgrep({directories: [], workspaceRoot: '/', protectedPaths: []});
    expect(nowhere).toMatchObject({
      error: {
        code: 'ripgrep_unavailable',
        message: expect.stringContaining(`${JSON.stringify(rgPath)} only, where it is not run`),
        details: {error: 'not_trusted'},
      },
    });
  });

  test('review R8: that of a package in the workspace is run where it is protected like our own code', async () => {
    const protectedPaths = [dirname(dirname(dirname(rgPath)))];
    const found = await findRipgrep({directories: [], workspaceRoot: '/', protectedPaths});
    expect(unwrap(found)).toBe(rgPath);
    const beside = [`${dirname(rgPath)}-other`, rgPath.slice(0, -1)];
    expect(codeOf(await findRipgrep({directories: [], workspaceRoot: '/', protectedPaths: beside}))).toBe(
      'ripgrep_unavailable',
    );
  });

  describe('without the package', () => {
    const none = () => undefined;

    test('review R3: none that lies in the workspace, by whatever link', async () => {
      const base = temporaryDirectory();
      const workspaceRoot = join(base, 'work');
      const [planted, linked, good] = ['work/bin', 'linked', 'bin'].map(name => {
        mkdirSync(join(base, name), {recursive: true});
        return join(base, name);
      }) as [string, string, string];
      for (const directory of [planted, good]) {
        writeFileSync(join(directory, 'rg'), '');
        chmodSync(join(directory, 'rg'), 0o755);
      }
      symlinkSync(join(planted, 'rg'), join(linked, 'rg'));
      const bad = ['', '.', 'node_modules/.bin', '/nowhere', planted, linked];
      const withGood = await findRipgrep(
        {directories: [...bad, good], workspaceRoot, protectedPaths: []},
        none,
      );
      expect([...STANDARD_DIRECTORIES, good]).toContain(dirname(unwrap(withGood)));
      // The directories of the system lie in the workspace then, too.
      const all = {directories: bad, workspaceRoot: '/', protectedPaths: []};
      expect(codeOf(await findRipgrep(all, none))).toBe('ripgrep_unavailable');
    });
  });
});
