import {mkdirSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {MODULES} from './mutation/modules.js';
import {temporaryDirectory} from './support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

describe('what is mutated', () => {
  test.each(Object.entries(MODULES))('policy: %s has code, and tests that have to notice', (_, find) => {
    const {mutate, tests} = find(ROOT);
    expect(mutate.length).toBeGreaterThan(0);
    expect(tests.length).toBeGreaterThan(0);
    expect(new Set([...mutate, ...tests]).size).toBe(mutate.length + tests.length);
  });

  test('policy: in the workspace, all that opens, changes or names entries of the system', () => {
    const mutated = new Set(Object.values(MODULES).flatMap(find => find(ROOT).mutate));
    const workspace = readdirSync(join(ROOT, 'src/workspace'), {recursive: true, encoding: 'utf8'})
      .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map(name => `src/workspace/${name}`);
    const touching = workspace.filter(path =>
      /from '(?:node:fs|node:fs\/promises|[./]+\/(?:jail\/)?(?:open-path|entry-handle)\.ts)'/.test(
        readFileSync(join(ROOT, path), 'utf8'),
      ),
    );
    expect(touching.length).toBeGreaterThan(10);
    expect(touching.filter(path => !mutated.has(path))).toEqual([]);
  });

  test('policy: a file or folder that moved away is an error', () => {
    const root = temporaryDirectory();
    expect(() => MODULES['url']?.(root)).toThrow(
      'Expected modules.js to name files that exist, got src/web/url.ts',
    );
    for (const name of ['jail', 'walk']) mkdirSync(join(root, 'src/workspace', name), {recursive: true});
    expect(() => MODULES['jail']?.(root)).toThrow(
      'Expected modules.js to name files that exist, got src/workspace/open-file.ts',
    );
  });
});
