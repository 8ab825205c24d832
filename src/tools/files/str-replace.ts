// The tool str_replace: replaces exact text in a file that was read.
import {z} from 'zod';
import {ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {TextEdit} from '../../workspace/change/prepare-replacement.ts';
import type {ReplacedMatch} from '../../workspace/change/replace-exact.ts';
import {readable} from '../../workspace/patch/patch.ts';
import {
  changeLine,
  defineChangeTool,
  fileStat,
  planFileChange,
  statOf,
  stepOf,
  undoStep,
} from '../change/define-change-tool.ts';
import type {WorkspaceSession} from './session.ts';

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
    line: z.int().min(1).optional().describe('Of several places the nearest.'),
    edits: z
      .array(edit)
      .min(1)
      .max(MAX_EDITS)
      .optional()
      .describe('Instead of old_string and new_string: several, in order, all or none.'),
    dry_run: z.boolean().default(false).describe('Show the diff only.'),
  })
  .superRefine(({old_string, new_string, replace_all, line, edits}, {addIssue}) => {
    const refuse = (field: string, message: string): void =>
      addIssue({code: 'custom', path: [field], message});
    if (edits === undefined) {
      if (old_string === undefined)
        refuse('old_string', 'is missing; give old_string and new_string, or edits');
      if (new_string === undefined)
        refuse('new_string', 'is missing; give old_string and new_string, or edits');
      return;
    }
    if (old_string !== undefined || new_string !== undefined || replace_all || line !== undefined)
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
  ...fileStat,
  undo_step: undoStep,
  dry_run: z.boolean(),
  diff: z.string(),
});

export function strReplaceTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return defineChangeTool(session, {
    name: 'str_replace',
    title: 'Replace text in a file',
    description:
      'Replaces exact text in a file that was read: one place, each (replace_all), or several edits. For several files: apply_patch.',
    params,
    data,
    paths: ({path}) => [path],
    plan: async (request, _, time) => {
      const path = workspace.resolveForWrite(request.path);
      if (!path.ok) return path;
      const edits = editsOf(request);
      const {prepareReplacement} = await import('../../workspace/change/prepare-replacement.ts');
      const prepared = await prepareReplacement(workspace, tracker, {path: path.value, edits}, time);
      if (!prepared.ok) return prepared;
      const planned = await planFileChange(prepared.value.change, time);
      if (!planned.ok) return planned;
      const {match, matches} = prepared.value;
      const [first, last] = match.lines;
      const summary = `${path.value} (${first === last ? `line ${first}` : `lines ${first}-${last}`})`;
      return ok({...planned.value, summary, path: path.value, match, matches});
    },
    answer: ({path, match, matches, diff, ...stat}, step, {edits, dry_run}) => ({
      path,
      match: toJson(match),
      ...(edits === undefined ? {} : {edits: matches.map(toJson)}),
      ...statOf(stat),
      ...(step === undefined ? {} : {undo_step: step}),
      dry_run,
      diff: readable(diff),
    }),
    // Who made the change knows its text.
    renderText: ({path, match: {count}, undo_step, dry_run, diff, ...stat}) => {
      const places = count === 1 ? [] : [`${count} matches`];
      const line = changeLine({name: path, ...stat}, ...places, ...stepOf(undo_step));
      return dry_run ? `Dry run, nothing was changed: ${line}\n${diff}` : line;
    },
  });
}

function editsOf(request: z.infer<typeof params>): readonly TextEdit[] {
  const {old_string, new_string, replace_all, line, edits} = request;
  return (edits ?? [{old_string, new_string, replace_all}]).map(one => ({
    oldString: one.old_string ?? '',
    newString: one.new_string ?? '',
    replaceAll: one.replace_all ?? false,
    nearLine: line,
  }));
}

function toJson({lines, ...rest}: ReplacedMatch): z.infer<typeof match> {
  return {lines: [...lines], ...rest};
}
