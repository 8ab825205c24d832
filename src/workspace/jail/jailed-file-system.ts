import {ok, type Result} from '../../core/result.ts';
import {type Deadline, overdue} from '../deadline.ts';
import type {FileSystem} from '../file-system.ts';
import {readWhole} from '../open-file.ts';
import {isProtectedName} from '../protect/protected-name.ts';
import {bytewise} from '../walk/bytewise.ts';
import {isPassedOver} from '../walk/is-passed-over.ts';
import {childPath, type WorkspacePath} from '../workspace-path.ts';
import type {Workspace} from './jail.ts';

/** The files on disk, through the jail. */
export function jailedFileSystem(workspace: Workspace): FileSystem {
  return {
    resolve: workspace.resolve,
    resolveForWrite: workspace.resolveForWrite,
    stat: async path => workspace.inspect(path),
    listFiles: (directory, deadline) => listFiles(workspace, directory, deadline),
    openFile: workspace.openFile,
    readFile: async (path, options) => {
      const file = await workspace.openFile(path);
      return file.ok ? readWhole(file.value, options) : file;
    },
    writeFile: async (path, content, options = {}) => {
      const staged = await workspace.stage(path, content, {mode: options.mode});
      if (!staged.ok) return staged;
      const put = await staged.value.commit(options.expected, options.deadline);
      return put.ok ? ok() : put;
    },
    removeFile: async (path, expected, deadline) => {
      const removed = await workspace.remove(path, expected, deadline);
      return removed.ok ? ok() : removed;
    },
  };
}

async function listFiles(
  workspace: Workspace,
  directory: WorkspacePath,
  deadline: Deadline | undefined,
): Promise<Result<readonly WorkspacePath[]>> {
  const files: WorkspacePath[] = [];
  const pending = [directory];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const opened = workspace.openDirectory(path);
    if (!opened.ok && path !== directory && isPassedOver(opened.error)) continue;
    if (!opened.ok) return opened;
    const entries = await opened.value.entries();
    opened.value.close();
    if (!entries.ok) return entries;
    for (const {name, kind} of entries.value) {
      if (isProtectedName(name)) continue;
      if (kind === 'file') files.push(childPath(path, name));
      else if (kind === 'directory') pending.push(childPath(path, name));
    }
  }
  return ok(files.sort(bytewise));
}
