import {ok} from '../../src/core/result.ts';
import type {Workspace} from '../../src/workspace/jail/jail.ts';
import type {FileSystem} from '../../src/workspace/memory-workspace.ts';
import {readWhole} from '../../src/workspace/open-file.ts';
import {walkTree} from '../../src/workspace/walk/walk-tree.ts';
import type {WorkspacePath} from '../../src/workspace/workspace-path.ts';

/** The jail behind the port of the files in memory, so that one contract holds both. */
export function jailedFileSystem(workspace: Workspace): FileSystem {
  return {
    resolve: workspace.resolve,
    resolveForWrite: workspace.resolveForWrite,
    stat: async path => workspace.inspect(path),
    listFiles: async (directory, deadline) => {
      const walked = await walkTree(workspace, directory, {maxFiles: 1000, deadline});
      const above = directory === '.' ? '' : `${directory}/`;
      return walked.ok ? ok(walked.value.files.map(file => `${above}${file}` as WorkspacePath)) : walked;
    },
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
