// Lists the tools for files, in the order in which they are offered.
import type {Tool} from '../../core/tool.ts';
import {undoTool} from '../change/undo.ts';
import {applyPatchTool} from './apply-patch.ts';
import {deleteFileTool} from './delete-file.ts';
import {globTool} from './glob.ts';
import {listFilesTool} from './list-files.ts';
import {moveFileTool} from './move-file.ts';
import {readFileTool} from './read-file.ts';
import {replaceInFilesTool} from './replace-in-files.ts';
import {searchTool} from './search.ts';
import type {WorkspaceSession} from './session.ts';
import {strReplaceTool} from './str-replace.ts';
import {writeFileTool} from './write-file.ts';

export function workspaceTools(session: WorkspaceSession): readonly Tool[] {
  return [
    listFilesTool(session),
    globTool(session),
    searchTool(session),
    readFileTool(session),
    strReplaceTool(session),
    writeFileTool(session),
    applyPatchTool(session),
    replaceInFilesTool(session),
    moveFileTool(session),
    deleteFileTool(session),
    undoTool(session),
  ];
}
