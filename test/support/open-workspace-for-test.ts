import {onTestFinished} from 'vitest';
import {openWorkspace, type Workspace, type WorkspaceOptions} from '../../src/workspace/jail/jail.ts';
import {unwrap} from './outcome.ts';

/** A workspace that is let go of with the test. */
export function openWorkspaceForTest(root: string, options: WorkspaceOptions = {}): Workspace {
  const workspace = unwrap(openWorkspace(root, options));
  onTestFinished(() => workspace.close());
  return workspace;
}
