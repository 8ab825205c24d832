import {linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import type {EntryIdentity} from './entry-handle.ts';
import {openWorkspace} from './jail.ts';
import {ProtectedPaths} from './protected-paths.ts';

/** The reason for which a path is refused for writing, by the path; `ok` where it is not. */
function reasons(root: string, protectedPaths: readonly string[], paths: readonly string[]) {
  const workspace = unwrap(openWorkspace(root, {protectedPaths}));
  try {
    return Object.fromEntries(
      paths.map(path => {
        const resolved = workspace.resolveForWrite(path);
        return [path, resolved.ok ? 'ok' : String(resolved.error.details['reason'])];
      }),
    );
  } finally {
    workspace.close();
  }
}

describe('review R9: protected paths', () => {
  test('a file, a directory and what is not there yet, with what is below and what holds them', () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'package/dist'), {recursive: true});
    writeFileSync(join(root, 'forge.toml'), '');
    const paths = ['forge.toml', 'package', 'conf/later.toml'].map(path => join(root, path));
    expect(
      reasons(root, paths, [
        'forge.toml',
        './x/../forge.toml',
        join(root, 'forge.toml'),
        'package',
        'package/dist/index.js',
        'package/new/file',
        'conf',
        'conf/later.toml',
        'conf/later.toml/x',
        'conf/other.toml',
        'forge.toml2',
        'packages/x',
        'x/forge.toml',
      ]),
    ).toEqual({
      'forge.toml': 'protected',
      './x/../forge.toml': 'protected',
      [join(root, 'forge.toml')]: 'protected',
      package: 'protected',
      'package/dist/index.js': 'protected',
      'package/new/file': 'protected',
      conf: 'protected',
      'conf/later.toml': 'protected',
      'conf/later.toml/x': 'protected',
      'conf/other.toml': 'ok',
      'forge.toml2': 'ok',
      'packages/x': 'ok',
      'x/forge.toml': 'ok',
    });
  });

  test('in whatever way some file system spells them', () => {
    const root = temporaryDirectory();
    const paths = [join(root, 'Forge/caf\u00e9.toml')];
    for (const path of [
      'forge/CAFE\u0301.TOML',
      'FORGE/caf\u00e9.toml.',
      'forge/caf\u00e9.to\u200bml',
      'forge/caf\u00e9.toml::$DATA',
    ]) {
      expect(reasons(root, paths, [path])).toEqual({[path]: 'protected'});
    }
  });

  test('by the place that a link leads to, and by the link', () => {
    const base = temporaryDirectory();
    const root = join(base, 'work');
    mkdirSync(join(root, 'real'), {recursive: true});
    writeFileSync(join(root, 'real/target.toml'), '');
    symlinkSync('real/target.toml', join(root, 'forge.toml'));
    symlinkSync(root, join(base, 'alias'));
    const paths = [join(base, 'alias/forge.toml'), join(base, 'alias/later.toml')];
    expect(reasons(root, paths, ['forge.toml', 'real/target.toml', 'later.toml', 'real/x'])).toEqual({
      'forge.toml': 'protected',
      'real/target.toml': 'protected',
      'later.toml': 'protected',
      'real/x': 'ok',
    });
  });

  test('by what they are: a hard link has another name and the same content', () => {
    const base = temporaryDirectory();
    const root = join(base, 'work');
    mkdirSync(root);
    writeFileSync(join(base, 'config.toml'), '');
    linkSync(join(base, 'config.toml'), join(root, 'innocent'));
    expect(reasons(root, [join(base, 'config.toml')], ['innocent', 'other'])).toEqual({
      innocent: 'protected',
      other: 'ok',
    });
  });

  test('by what they are, at any depth, whichever of them it is', () => {
    const base = temporaryDirectory();
    const root = join(base, 'work');
    mkdirSync(join(root, 'a/b'), {recursive: true});
    const paths = ['one.toml', 'two.toml'].map(name => join(base, name));
    for (const path of paths) writeFileSync(path, '');
    linkSync(paths[1] ?? '', join(root, 'a/b/innocent'));
    writeFileSync(join(root, 'a/b/other'), '');
    expect(
      reasons(root, [...paths, join(base, 'none.toml')], ['a/b/innocent', 'a/b/other', 'a/b/c']),
    ).toEqual({
      'a/b/innocent': 'protected',
      'a/b/other': 'ok',
      'a/b/c': 'ok',
    });
  });

  test('by what they are: the same number on another device is something else', () => {
    const base = temporaryDirectory();
    const file = join(base, 'config.toml');
    writeFileSync(file, '');
    const {dev, ino} = statSync(file, {bigint: true});
    const protects = (found: EntryIdentity) =>
      new ProtectedPaths([join(base, 'work')], [file], () => found).protects('x' as WorkspacePath);
    expect(protects({dev, ino})).toBe(true);
    expect(protects({dev: dev + 1n, ino})).toBe(false);
    expect(protects({dev, ino: ino + 1n})).toBe(false);
  });

  test('by the place that a link leads to, however much below it is not there yet', () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    const paths = [join(root, 'link/not/yet/there.toml')];
    expect(reasons(root, paths, ['real/not/yet/there.toml', 'real/not', 'real/other'])).toEqual({
      'real/not/yet/there.toml': 'protected',
      'real/not': 'protected',
      'real/other': 'ok',
    });
  });

  test('that hold the workspace close all of it; those outside nothing', () => {
    const root = temporaryDirectory();
    expect(reasons(root, [dirname(root)], ['a/b'])).toEqual({'a/b': 'protected'});
    expect(reasons(root, [root], ['a/b'])).toEqual({'a/b': 'protected'});
    expect(reasons(root, [`${root}-other`, join(root, '../other/x')], ['a/b', 'x'])).toEqual({
      'a/b': 'ok',
      x: 'ok',
    });
  });

  test('say what to do', () => {
    const root = temporaryDirectory();
    const workspace = unwrap(openWorkspace(root, {protectedPaths: [join(root, 'forge.toml')]}));
    expect(workspace.resolveForWrite('FORGE.toml')).toEqual({
      ok: false,
      error: {
        code: 'path_escape',
        retryable: false,
        message:
          '"FORGE.toml" is protected: it is, or holds, what is kept from all tools, such as the configuration. Leave it as it is, or have it changed by hand.',
        details: {path: 'FORGE.toml', reason: 'protected'},
      },
    });
    workspace.close();
  });

  test('are closed to all tools that write', async () => {
    const root = join(temporaryDirectory(), 'work');
    mkdirSync(root);
    const place = await openTestWorkspace({}, {root, protectedPaths: [join(root, 'forge.toml')]});
    writeFileSync(join(root, 'forge.toml'), 'mode = "ask"\n');
    writeFileSync(join(root, 'a.txt'), 'a\n');
    const {code} = await callWorkspaceTools({}, {workspace: {...place, root}});
    expect(await code('read_file', {path: 'forge.toml'})).toBe('ok');
    expect(await code('write_file', {path: 'forge.toml', content: 'x'})).toBe('path_escape');
    expect(await code('str_replace', {path: 'forge.toml', old_string: 'ask', new_string: 'auto'})).toBe(
      'path_escape',
    );
    for (const diff of [
      '--- a/forge.toml\n+++ b/forge.toml\n@@ -1 +1 @@\n-mode = "ask"\n+mode = "auto"\n',
      '--- a/forge.toml\n+++ /dev/null\n@@ -1 +0,0 @@\n-mode = "ask"\n',
      'diff --git a/a.txt b/forge.toml\nsimilarity index 100%\nrename from a.txt\nrename to forge.toml\n',
      'diff --git a/forge.toml b/b.toml\nsimilarity index 100%\nrename from forge.toml\nrename to b.toml\n',
    ]) {
      expect([diff, await code('apply_patch', {unified_diff: diff})]).toEqual([diff, 'path_escape']);
    }
    expect(readFileSync(join(root, 'forge.toml'), 'utf8')).toBe('mode = "ask"\n');
  });
});
