import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {
  openWorkspaceSession,
  type WorkspaceSession,
  type WorkspaceSessionOptions,
} from '../../src/tools/files/session.ts';
import {unwrap} from './outcome.ts';
import {temporaryDirectory} from './temporary-directory.ts';

export interface TestWorkspace {
  readonly session: WorkspaceSession;
  readonly root: string;
  /** Beside the root. */
  readonly outside: string;
  readonly runDirectory: string;
}

export type TestFiles = Readonly<Record<string, string | Uint8Array>>;

/** A workspace with these files, gone with the test. */
export async function openTestWorkspace(
  files: TestFiles = {},
  options: Partial<WorkspaceSessionOptions> = {},
): Promise<TestWorkspace> {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  const outside = join(base, 'work2');
  mkdirSync(root);
  mkdirSync(outside);
  writeFiles(root, files);
  const opened = openWorkspaceSession({
    root,
    stateDirectory: join(base, 'state'),
    programDirectories: [],
    clock: systemClock,
    ...options,
  });
  const session = unwrap(opened);
  onTestFinished(() => session.close());
  return {session, root, outside, runDirectory: join(base, 'run')};
}

export function writeFiles(root: string, files: TestFiles): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), content);
  }
}
