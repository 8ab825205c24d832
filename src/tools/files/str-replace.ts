import {z} from 'zod';
import {yieldAfter} from '../../core/async/yield-after.ts';
import {ok} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import type {PreparedReplacement, TextEdit} from '../../workspace/edit/replace/prepare-replacement.ts';
import type {ReplacedMatch} from '../../workspace/edit/replace/replace-exact.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import {bytesOf, readable} from '../../workspace/patch/byte-string.ts';
import type {FileDiff} from '../../workspace/patch/diff/render-unified.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {changedFile} from '../change/changed-file.ts';
import {makeChange} from '../change/make-change.ts';
import {PlanOnce} from '../change/plan-once.ts';
import type {PlannedChange} from '../change/planned-change.ts';
import {FINISH_MS, OUTER_MS} from '../outer-bound.ts';
import {schemaOf} from '../schema.ts';
import {pathOutline} from './path-outline.ts';
import {suggestSimilar} from './suggest-similar.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** As for apply_patch. */
const TIMEOUT_MS = 10_000;

/** W18: a list of edits may stand in the place of the two texts. Each goes through the whole file. */
const MAX_EDITS = 200;

const edit = z.strictObject({
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().nullish(),
});

const params = z
  .strictObject({
    path: z.string().min(1),
    old_string: z
      .string()
      .optional()
      .describe('Exactly as in the file. It must occur once: add lines around it.'),
    new_string: z.string().optional(),
    replace_all: z.boolean().default(false).describe('Each place.'),
    edits: z
      .array(edit)
      .min(1)
      .max(MAX_EDITS)
      .optional()
      .describe('Instead of old_string and new_string: several, in order, all or none.'),
    dry_run: z.boolean().default(false).describe('Show the diff only.'),
  })
  .superRefine(({old_string, new_string, replace_all, edits}, {addIssue}) => {
    const refuse = (field: string, message: string): void =>
      addIssue({code: 'custom', path: [field], message});
    if (edits === undefined) {
      if (old_string === undefined)
        refuse('old_string', 'is missing; give old_string and new_string, or edits');
      if (new_string === undefined)
        refuse('new_string', 'is missing; give old_string and new_string, or edits');
      return;
    }
    if (old_string !== undefined || new_string !== undefined || replace_all)
      refuse('edits', 'goes without old_string, new_string and replace_all; put them into the list');
  });

const match = z.object({
  lines: z.array(z.int()).describe('First and last line of what was replaced, as numbered before.'),
  count: z.int(),
  line_endings: z.string().exactOptional().describe('"crlf": new_string got the line endings of the file.'),
});

const data = z.object({
  path: z.string(),
  match,
  edits: z.array(match).exactOptional().describe('Of each edit, with lines as numbered before it.'),
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
  const {workspace, files, tracker, clock} = session;
  const plans = new PlanOnce(async (request: z.infer<typeof params>, {signal}) => {
    const path = workspace.resolveForWrite(request.path);
    if (!path.ok) return path;
    const edits = editsOf(request);
    const {prepareReplacement} = await import('../../workspace/edit/replace/prepare-replacement.ts');
    const prepared = await limitCall({tool: 'str_replace', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
      prepareReplacement(files, tracker, {path: path.value, edits}, time),
    );
    if (!prepared.ok) return suggestSimilar(session, prepared, signal);
    await yieldAfter(prepared.value.summary.bytes);
    const change = changedFile(prepared.value);
    await yieldAfter(prepared.value.summary.bytes);
    const {renderFileChange} = await import('../../workspace/patch/diff/render-unified.ts');
    return ok({prepared: prepared.value, change, diff: renderFileChange(change)});
  });
  return defineTool({
    name: 'str_replace',
    title: 'Replace text in a file',
    description:
      'Replaces exact text in a file that was read: one place, each (replace_all), or several edits. For several files: apply_patch.',
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: false},
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: 'patch_file',
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    finishMs: FINISH_MS,
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
      // Edits that undo each other leave the file as it was.
      if (!request.dry_run && plan.prepared.summary.changed) {
        const {signal} = context;
        const done = await limitCall({tool: 'str_replace', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
          makeChange(session, context, {...planned.value, describe, time}),
        );
        if (!done.ok) return done;
        plan = done.value;
      }
      const {prepared, diff} = plan;
      const {path} = prepared.summary;
      return ok({
        path,
        match: toJson(prepared.match),
        ...(request.edits === undefined ? {} : {edits: prepared.matches.map(toJson)}),
        added: diff.added,
        removed: diff.removed,
        dry_run: request.dry_run,
        diff: readable(diff.text),
      });
    },
    renderText: ({path, match: {count}, added, removed, dry_run, diff}) => {
      const places = count === 1 ? '' : ` (${count} places)`;
      return `${dry_run ? 'Dry run, nothing was changed: ' : ''}${path} | +${added} -${removed}${places}\n${diff}`;
    },
  });
}

function editsOf({old_string, new_string, replace_all, edits}: z.infer<typeof params>): readonly TextEdit[] {
  return (edits ?? [{old_string, new_string, replace_all}]).map(one => ({
    oldString: one.old_string ?? '',
    newString: one.new_string ?? '',
    replaceAll: one.replace_all ?? false,
  }));
}

function toJson({lines, ...rest}: ReplacedMatch): z.infer<typeof match> {
  return {lines: [...lines], ...rest};
}

function describe({prepared, change, diff}: ReplacementPlan): PlannedChange {
  return {patch: bytesOf(diff.text), changes: [change], changedFiles: [prepared.summary.path]};
}
