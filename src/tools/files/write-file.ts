// The tool write_file: creates a file, or replaces the whole of one that was read.

import {z} from 'zod';
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {FileChange} from '../../workspace/change/file-change.ts';
import {prepareWrite} from '../../workspace/change/prepare-write.ts';
import {inTurns} from '../../workspace/open-file.ts';
import {lineEdits} from '../../workspace/patch/changed-window.ts';
import {readable} from '../../workspace/patch/patch.ts';
import {countUnseen, type ReadTracker} from '../../workspace/read-tracker.ts';
import {
  changeLine,
  defineChangeTool,
  fileStat,
  planFileChange,
  statOf,
  stepOf,
  undoStep,
} from '../change/define-change-tool.ts';
import {byteCount} from '../define-tool.ts';
import type {WorkspaceSession} from './session.ts';

const params = z.strictObject({
  path: z.string().min(1).describe('Directories are made.'),
  content: z.string().refine(content => !/\p{Surrogate}/u.test(content), 'must be well-formed Unicode'),
  dry_run: z.boolean().default(false).describe('Show the diff only.'),
});

const data = z.object({
  path: z.string(),
  bytes: z.int().describe('Size of the new content.'),
  created: z.boolean().describe('There was no such file before.'),
  changed: z.boolean().describe('False where the file has that content already.'),
  line_endings: z.string().exactOptional().describe('"crlf": content got the line endings of the file.'),
  ...fileStat,
  unread_lines_replaced: z
    .int()
    .exactOptional()
    .describe('Lines of the old content that went, and that no read in this session had shown.'),
  undo_step: undoStep,
  dry_run: z.boolean(),
  diff: z.string().exactOptional().describe('Of a dry run.'),
});

export function writeFileTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return defineChangeTool(session, {
    name: 'write_file',
    title: 'Write file',
    description: 'Creates a file, or replaces the whole of one that was read. For a part: str_replace.',
    action: 'write_file',
    isIdempotent: true,
    params,
    data,
    paths: ({path}) => [path],
    afterwards: 'read',
    // The whole content was written without knowing what changed since.
    isBound: true,
    plan: async (request, _, time) => {
      const path = workspace.resolveForWrite(request.path);
      if (!path.ok) return path;
      const prepared = await prepareWrite(workspace, tracker, path.value, request.content, time);
      if (!prepared.ok) return prepared;
      const {change, lineEndings} = prepared.value;
      const planned = await planFileChange(change, time);
      if (!planned.ok) return planned;
      const unread = await unreadLines(tracker, change, time);
      if (!unread.ok) return unread;
      const {old, new: fresh} = change;
      const about = {
        path: path.value,
        bytes: fresh.bytes.length,
        created: old === undefined,
        changed: old?.hash !== fresh.hash,
      };
      const what = [
        ...(about.created ? ['new'] : []),
        byteCount(about.bytes),
        ...(unread.value > 0
          ? [`replaces ${unread.value} unread ${unread.value === 1 ? 'line' : 'lines'}`]
          : []),
      ];
      const summary = `${path.value} (${what.join(', ')})`;
      return ok({...planned.value, summary, about, lineEndings, unread: unread.value});
    },
    answer: ({about, lineEndings, unread, diff, ...stat}, step, {dry_run}) => ({
      ...about,
      ...(lineEndings === undefined ? {} : {line_endings: lineEndings}),
      ...(unread > 0 ? {unread_lines_replaced: unread} : {}),
      ...statOf(stat),
      ...(step === undefined ? {} : {undo_step: step}),
      dry_run,
      ...(dry_run ? {diff: readable(diff)} : {}),
    }),
    renderText,
  });
}

/** Lines that the change replaces or removes, and that no read of this session had shown. */
async function unreadLines(
  tracker: ReadTracker,
  {path, old, new: fresh}: FileChange,
  deadline: Deadline,
): Promise<Result<number>> {
  if (old === undefined || fresh === undefined) return ok(0);
  const seen = tracker.seen(path, old.hash);
  if (seen === 'all') return ok(0);
  const edits = await inTurns(lineEdits(old.content, fresh.content), deadline);
  return edits.ok ? ok(countUnseen(seen, edits.value)) : edits;
}

function renderText(answer: z.infer<typeof data>): string {
  const {path, bytes, created, changed, line_endings, added, removed, dry_run, diff = ''} = answer;
  const {unread_lines_replaced: unread = 0, undo_step} = answer;
  const what = created ? ['new file'] : changed ? [] : ['unchanged, it has that content already'];
  const kept = line_endings === undefined ? [] : ['CRLF kept'];
  const stat = changeLine(
    {name: path, lines: answer.lines, added, removed},
    ...what,
    byteCount(bytes),
    ...kept,
    ...stepOf(undo_step),
  );
  const lines = unread === 1 ? '1 line that had not been read' : `${unread} lines that had not been read`;
  const fate = undo_step === undefined ? 'would go' : `went; undo with step=${undo_step} brings them back`;
  const lost = unread === 0 ? '' : `\n[${lines} ${fate}]`;
  return dry_run ? `Dry run, nothing was changed: ${stat}${lost}\n${diff}` : `${stat}${lost}`;
}
