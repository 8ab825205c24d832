import type {Workspace} from '../jail/jail.ts';
import type {WritablePath} from '../workspace-path.ts';

/** As git does: a directory is gone with its last file. */
export function removeEmptyDirectories(workspace: Workspace, path: WritablePath): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    workspace.removeDirectory(path.slice(0, end) as WritablePath);
  }
}
