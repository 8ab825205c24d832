import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type HoldEntry, handleByDescriptor} from '../../src/workspace/jail/entry-handle.ts';
import type {Workspace} from '../../src/workspace/jail/jail.ts';
import {readWhole} from '../../src/workspace/open-file.ts';
import {openWorkspaceForTest} from './open-workspace-for-test.ts';
import {codeOf, unwrap} from './outcome.ts';
import {temporaryDirectory} from './temporary-directory.ts';

export interface JailedPlace {
  readonly workspace: Workspace;
  readonly root: string;
  readonly outside: string;
}

/** `root/` with some files, beside `outside/` with a secret. */
export async function jailedPlace(holdEntry: HoldEntry = handleByDescriptor): Promise<JailedPlace> {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  const outside = join(base, 'work2');
  mkdirSync(join(root, 'a/b/c'), {recursive: true});
  mkdirSync(join(root, '.git/hooks'), {recursive: true});
  mkdirSync(outside);
  writeFileSync(join(root, 'a/b/c/file.txt'), 'inside\n');
  writeFileSync(join(root, 'top.txt'), 'top\n');
  writeFileSync(join(root, '.git/config'), '[core]\n');
  writeFileSync(join(outside, 'secret.txt'), 'secret\n');
  const workspace = openWorkspaceForTest(root, {holdEntry});
  return {workspace, root, outside};
}

/** What a file says, or the code of the failure. */
export async function readAt(workspace: Workspace, path: string): Promise<string> {
  const parsed = workspace.resolve(path);
  if (!parsed.ok) return parsed.error.code;
  const file = await workspace.openFile(parsed.value);
  if (!file.ok) return file.error.code;
  return new TextDecoder().decode(unwrap(await readWhole(file.value)));
}

/** `ok`, or the code of the failure. */
export async function writeAt(workspace: Workspace, path: string, content = 'new\n'): Promise<string> {
  const parsed = workspace.resolveForWrite(path);
  if (!parsed.ok) return parsed.error.code;
  const staged = await workspace.stage(parsed.value, new TextEncoder().encode(content));
  return staged.ok ? codeOf(await staged.value.commit()) : staged.error.code;
}
