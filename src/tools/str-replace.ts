import {z} from 'zod';
import {ok} from '../core/result.ts';
import {defineTool, type Tool} from '../core/tool.ts';
import {yieldAfter} from '../core/yield-after.ts';
import type {PreparedReplacement} from '../workspace/edit/prepare-replacement.ts';
import {limitCall} from '../workspace/limit-call.ts';
import {bytesOf, readable} from '../workspace/patch/byte-string.ts';
import type {FileChange} from '../workspace/patch/file-change.ts';
import type {FileDiff} from '../workspace/patch/render-unified.ts';
import {changedFile} from './changed-file.ts';
import {makeChange, type PlannedChange} from './make-change.ts';
import {OUTER_MS, SETTLE_MS} from './outer-bound.ts';
import {pathOutline} from './path-outline.ts';
import {PlanOnce} from './plan-once.ts';
import {schemaOf} from './schema.ts';
import {suggestSimilar} from './suggest-similar.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** As for apply_patch. */
const TIMEOUT_MS = 10_000;

const params = z.strictObject({
  path: z.string().min(1).describe('File relative to the workspace; read it first.'),
  old_string: z
    .string()
    .describe('Text to replace, exactly as it is in the file. It must occur once: add lines around it.'),
  new_string: z.string().describe('What comes in its place.'),
  dry_run: z.boolean().default(false).describe('Show the diff and change nothing.'),
});

const data = z.object({
  path: z.string(),
  match: z.object({
    lines: z.array(z.int()).describe('First and last line of what was replaced, as numbered before.'),
    count: z.int(),
    line_endings: z.string().exactOptional().describe('"crlf": new_string got the line endings of the file.'),
  }),
  added: z.int().describe('Lines in the diff.'),
  removed: z.int(),
  dry_run: z.boolean(),
  diff: z.string(),
});

interface ReplacementPlan {
  readonly prepared: PreparedReplacement;
  readonly change: FileChange;
  readonly diff: FileDiff;
}

export function strReplaceTool(session: WorkspaceSession): Tool {
  const {workspace, files, ledger, clock} = session;
  const plans = new PlanOnce(async (request: z.infer<typeof params>, {signal}) => {
    const path = workspace.resolveForWrite(request.path);
    if (!path.ok) return path;
    const {old_string: oldString, new_string: newString} = request;
    const {prepareReplacement} = await import('../workspace/edit/prepare-replacement.ts');
    const prepared = await limitCall({tool: 'str_replace', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
      prepareReplacement(files, ledger, {path: path.value, oldString, newString}, time),
    );
    if (!prepared.ok) return suggestSimilar(session, prepared, signal);
    await yieldAfter(prepared.value.summary.bytes);
    const change = changedFile(prepared.value);
    await yieldAfter(prepared.value.summary.bytes);
    const {renderFileChange} = await import('../workspace/patch/render-unified.ts');
    return ok({prepared: prepared.value, change, diff: renderFileChange(change)});
  });
  return defineTool({
    name: 'str_replace',
    title: 'Replace text in a file',
    description:
      'Replaces one exact piece of text in a file that was read in this session. ' +
      'The best way to make a small change; use apply_patch for several places or files.',
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: false},
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: 'patch_file',
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    settleMs: SETTLE_MS,
    outline: ({path, dry_run}) => pathOutline(workspace, path, dry_run),
    intend: async (request, context) => {
      const planned = await plans.plan(request, context);
      if (!planned.ok) return planned;
      const {prepared, diff} = planned.value;
      const {path} = prepared.summary;
      const [first, last] = prepared.match.lines;
      const lines = first === last ? `line ${first}` : `lines ${first}-${last}`;
      return ok({
        subject: {kind: 'path', values: [path]},
        summary: `str_replace ${path} (${lines}${request.dry_run ? ', dry run' : ''})`,
        preview: readable(diff.text),
        fileHashes: {[path]: prepared.before?.hash ?? 'absent'},
        dryRun: request.dry_run,
      });
    },
    execute: async (request, context) => {
      const planned = await plans.take(request, context);
      if (!planned.ok) return planned;
      let {plan} = planned.value;
      if (!request.dry_run) {
        const {signal} = context;
        const done = await limitCall({tool: 'str_replace', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
          makeChange(session, context, {...planned.value, describe, time}),
        );
        if (!done.ok) return done;
        plan = done.value;
      }
      const {prepared, diff} = plan;
      const {path} = prepared.summary;
      const {lines, ...match} = prepared.match;
      return ok({
        path,
        match: {lines: [...lines], ...match},
        added: diff.added,
        removed: diff.removed,
        dry_run: request.dry_run,
        diff: readable(diff.text),
      });
    },
    renderText: ({path, added, removed, dry_run, diff}) =>
      `${dry_run ? 'Dry run, nothing was changed: ' : ''}${path} | +${added} -${removed}\n${diff}`,
  });
}

function describe({prepared, change, diff}: ReplacementPlan): PlannedChange {
  return {patch: bytesOf(diff.text), changes: [change], changedFiles: [prepared.summary.path]};
}
