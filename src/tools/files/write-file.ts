import {z} from 'zod';
import {yieldAfter} from '../../core/async/yield-after.ts';
import {ok} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import {prepareWrite} from '../../workspace/edit/replace/prepare-write.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import {bytesOf, readable} from '../../workspace/patch/byte-string.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {lineEdits} from '../../workspace/patch/line-edits.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';
import {countUnseen} from '../../workspace/seen-lines.ts';
import {byteCount} from '../byte-count.ts';
import {changedFile} from '../change/changed-file.ts';
import {makeChange} from '../change/make-change.ts';
import {PlanOnce} from '../change/plan-once.ts';
import {FINISH_MS, OUTER_MS} from '../outer-bound.ts';
import {schemaOf} from '../schema.ts';
import {pathOutline} from './path-outline.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** As for apply_patch. */
const TIMEOUT_MS = 10_000;

const params = z.strictObject({
  path: z.string().min(1).describe('File relative to the workspace. Directories are made as needed.'),
  content: z
    .string()
    .refine(content => !/\p{Surrogate}/u.test(content), 'must be well-formed Unicode')
    .describe('The whole new content.'),
  dry_run: z.boolean().default(false).describe('Show the diff and change nothing.'),
});

const data = z.object({
  path: z.string(),
  bytes: z.int().describe('Size of the new content.'),
  created: z.boolean().describe('There was no such file before.'),
  changed: z.boolean().describe('False where the file has that content already.'),
  line_endings: z.string().exactOptional().describe('"crlf": content got the line endings of the file.'),
  added: z.int().describe('Lines in the diff.'),
  removed: z.int(),
  unread_lines_replaced: z
    .int()
    .exactOptional()
    .describe('Lines of the old content that went, and that no read in this session had shown.'),
  undo_step: z.int().exactOptional().describe('What undo takes to bring these lines back.'),
  dry_run: z.boolean(),
  diff: z.string().exactOptional().describe('Of a dry run.'),
});

export function writeFileTool(session: WorkspaceSession): Tool {
  const {workspace, files, tracker, clock} = session;
  const unreadOf = (change: FileChange): number => {
    if (change.kind !== 'modify') return 0;
    const seen = tracker.seen(change.path, stateHash(change.old));
    return seen === 'all' ? 0 : countUnseen(seen, lineEdits(change.old.content, change.new.content));
  };
  const plans = new PlanOnce(async (request: z.infer<typeof params>, {signal}) => {
    const path = workspace.resolveForWrite(request.path);
    if (!path.ok) return path;
    const prepared = await limitCall({tool: 'write_file', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
      prepareWrite(files, tracker, path.value, request.content, time),
    );
    if (!prepared.ok) return prepared;
    await yieldAfter(prepared.value.summary.bytes);
    const change = changedFile(prepared.value);
    await yieldAfter(prepared.value.summary.bytes);
    const {renderFileChange} = await import('../../workspace/patch/diff/render-unified.ts');
    return ok({prepared: prepared.value, change, diff: renderFileChange(change), unread: unreadOf(change)});
  });
  return defineTool({
    name: 'write_file',
    title: 'Write file',
    description:
      'Creates a file, or replaces the whole content of one that was read in this session. ' +
      'Use str_replace or apply_patch to change parts of a file.',
    annotations: {readOnly: false, destructive: true, idempotent: true, openWorld: false},
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: 'write_file',
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    finishMs: FINISH_MS,
    outline: ({path, dry_run}) => pathOutline(workspace, path, dry_run),
    intend: async (request, context) => {
      const planned = await plans.plan(request, context);
      if (!planned.ok) return planned;
      const {prepared, diff, unread} = planned.value;
      const {path, bytes, created} = prepared.summary;
      const what = [
        ...(created ? ['new'] : []),
        byteCount(bytes),
        ...(unread > 0 ? [`replaces ${unread} unread ${unread === 1 ? 'line' : 'lines'}`] : []),
        ...(request.dry_run ? ['dry run'] : []),
      ];
      return ok({
        subject: {kind: 'path', values: [path]},
        summary: `write_file ${path} (${what.join(', ')})`,
        preview: readable(diff.text),
        fileHashes: {[path]: prepared.before?.hash ?? 'absent'},
        dryRun: request.dry_run,
      });
    },
    execute: async (request, context) => {
      const planned = await plans.take(request, context);
      if (!planned.ok) return planned;
      const {plan} = planned.value;
      const {change, diff, unread} = plan;
      const {summary, lineEndings} = plan.prepared;
      const {dry_run} = request;
      if (!dry_run && summary.changed) {
        const {signal} = context;
        const planned = {
          patch: bytesOf(diff.text),
          changes: [change],
          changedFiles: [summary.path],
          knows: 'all' as const,
        };
        const done = await limitCall({tool: 'write_file', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
          // The whole content was written without knowing what changed since, so it is not worked out anew.
          makeChange(session, context, {plan, describe: () => planned, replan: undefined, time}),
        );
        if (!done.ok) return done;
      }
      const endings = lineEndings === undefined ? {} : {line_endings: lineEndings};
      const shown = dry_run ? {diff: readable(diff.text)} : {};
      const lost = {
        ...(unread > 0 ? {unread_lines_replaced: unread} : {}),
        ...(unread > 0 && !dry_run ? {undo_step: context.step} : {}),
      };
      return ok({
        ...summary,
        ...endings,
        ...lost,
        added: diff.added,
        removed: diff.removed,
        dry_run,
        ...shown,
      });
    },
    renderText,
  });
}

function renderText(answer: z.infer<typeof data>): string {
  const {path, bytes, created, changed, line_endings, added, removed, dry_run, diff = ''} = answer;
  const {unread_lines_replaced: unread = 0, undo_step} = answer;
  const what = created ? 'new file' : changed ? 'replaced' : 'unchanged, it has that content already';
  const kept = line_endings === undefined ? '' : ', CRLF kept';
  const stat = `${path} | +${added} -${removed} (${what}, ${byteCount(bytes)}${kept})`;
  const lines = unread === 1 ? '1 line that had not been read' : `${unread} lines that had not been read`;
  const fate = undo_step === undefined ? 'would go' : `went; undo with step=${undo_step} brings them back`;
  const lost = unread === 0 ? '' : `\n[${lines} ${fate}]`;
  return dry_run ? `Dry run, nothing was changed: ${stat}${lost}\n${diff}` : `${stat}${lost}`;
}
