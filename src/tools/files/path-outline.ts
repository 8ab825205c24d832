import type {CallOutline} from '../../core/tool.ts';
import type {Workspace} from '../../workspace/jail/jail.ts';

/** What rules on paths need of a tool that writes one file, before the file is looked at. */
export function pathOutline(workspace: Workspace, path: string, dryRun: boolean): CallOutline {
  const resolved = workspace.resolveForWrite(path);
  // What is no path is the tool's to explain.
  return resolved.ok ? {subject: {kind: 'path', values: [resolved.value]}, dryRun} : {dryRun};
}
