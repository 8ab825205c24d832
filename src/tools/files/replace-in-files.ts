// The tool replace_in_files: replaces text in every file that matches, or in none.
import {z} from 'zod';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {ReplacePlan} from '../../workspace/change/replace-in-files.ts';
import {inTurns} from '../../workspace/open-file.ts';
import {readable} from '../../workspace/patch/patch.ts';
import {compileGlob} from '../../workspace/walk/glob.ts';
import {
  changeLine,
  defineChangeTool,
  fileStat,
  statOf,
  stepOf,
  undoStep,
} from '../change/define-change-tool.ts';
import type {WorkspaceSession} from './session.ts';

/** Half a search and the writing of what it found. */
const TIMEOUT_MS = 40_000;
const NAMED_LEFT_OUT = 20;

const MAX_CHARACTERS = 10_000;

// Short, as every model carries it: limits and defaults of false are not in the schema.
const params = z.strictObject({
  query: z
    .string()
    .refine(
      query => query !== '' && query.length <= MAX_CHARACTERS,
      `must have 1 to ${MAX_CHARACTERS} characters`,
    )
    .refine(query => !/[\0\r\n]/.test(query), 'must be a single line, as lines are searched one by one'),
  replacement: z
    .string()
    .refine(text => text.length <= MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters`)
    .refine(text => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL'),
  is_regex: z.boolean().optional().describe('Rust regex; $1 in replacement.'),
  glob: z.string().optional().describe('Such as "*.py".'),
  path: z.string().optional(),
  whole_word: z.boolean().optional(),
  case_sensitive: z.boolean().default(true),
  dry_run: z.boolean().optional(),
});

const data = z.object({
  replacements: z.int(),
  files: z.array(z.object({path: z.string(), count: z.int(), ...fileStat})),
  left_out: z
    .array(z.object({path: z.string(), reason: z.string()}))
    .describe('Files that match and were not changed: not_utf8, protected, hard_linked or too_large.'),
  left_out_total: z.int(),
  not_text: z.int().describe('Binary files that were not looked into.'),
  unreadable: z.int().describe('Files and directories that may not be read.'),
  undo_step: undoStep,
  dry_run: z.boolean(),
  diff: z.string().exactOptional().describe('Of a dry run.'),
});

export function replaceInFilesTool(session: WorkspaceSession): Tool {
  const {workspace} = session;
  return defineChangeTool(session, {
    name: 'replace_in_files',
    title: 'Replace in files',
    description: 'Replaces text within lines in every file, or in none. Leaves out binary and ignored files.',
    params,
    data,
    timeoutMs: TIMEOUT_MS,
    paths: () => [],
    plan: async (request, _, time) => {
      const {
        query: text,
        replacement,
        is_regex: isRegex = false,
        whole_word = false,
        case_sensitive,
      } = request;
      const glob = request.glob === undefined ? ok(undefined) : compileGlob(request.glob, 'glob');
      if (!glob.ok) return glob;
      const where = workspace.resolve(request.path ?? '.');
      if (!where.ok) return where;
      const hasGroups = await groupsIn(isRegex, text, replacement);
      if (!hasGroups.ok) return hasGroups;
      const ripgrep = await session.ripgrep();
      if (!ripgrep.ok) return ripgrep;
      const {planReplacement} = await import('../../workspace/change/replace-in-files.ts');
      const planned = await planReplacement(
        {
          query: {text, isRegex, caseSensitive: case_sensitive, wholeWord: whole_word},
          replacement,
          hasGroups: hasGroups.value,
          where: where.value,
          glob: glob.value,
        },
        {workspace, ripgrep: ripgrep.value, time},
      );
      if (!planned.ok) return planned;
      const plan = planned.value;
      if (plan.changes.length === 0) return nothing(plan, text, case_sensitive);
      const {renderFileChanges} = await import('../../workspace/patch/unified.ts');
      const diffs = await inTurns(renderFileChanges(plan.changes), time);
      if (!diffs.ok) return diffs;
      return ok({
        ...plan,
        files: diffs.value.map((diff, index) => ({
          path: diff.path,
          count: plan.files[index]?.count ?? 0,
          ...statOf(diff),
        })),
        diff: diffs.value.map(diff => diff.text).join(''),
        summary: `${countOf(plan.count, plan.files.length)} (${JSON.stringify(text)})`,
      });
    },
    answer: ({count, files, leftOut, notText, unreadable, diff}, step, {dry_run = false}) => ({
      replacements: count,
      files: [...files],
      left_out: leftOut.slice(0, NAMED_LEFT_OUT).map(file => ({...file})),
      left_out_total: leftOut.length,
      not_text: notText,
      unreadable,
      dry_run,
      ...(step === undefined ? {} : {undo_step: step}),
      ...(dry_run ? {diff: readable(diff)} : {}),
    }),
    renderText: ({replacements, files, left_out_total, not_text, unreadable, undo_step, dry_run}) =>
      [
        `${dry_run ? 'Dry run, nothing was changed: ' : ''}${[countOf(replacements, files.length), ...stepOf(undo_step)].join(' · ')}`,
        // Else each of its lines had one.
        ...files.map(({path, count, ...stat}) =>
          changeLine({name: path, ...stat}, ...(count === stat.removed ? [] : [`${count} matches`])),
        ),
        ...leftOutLine(left_out_total, not_text, unreadable),
      ].join('\n'),
  });
}

async function groupsIn(isRegex: boolean, query: string, replacement: string): Promise<Result<boolean>> {
  if (!isRegex) return ok(false);
  const {readTemplate} = await import('../../workspace/change/replacements.ts');
  const read = readTemplate(query, replacement);
  if (read.ok) return read;
  return fail('invalid_params', `replacement ${read.error}. Nothing was written.`, {
    field: 'replacement',
    reason: read.error,
  });
}

function nothing(
  {leftOut, searched, notText, unreadable}: ReplacePlan,
  query: string,
  caseSensitive: boolean,
): Err<Failure> {
  const where = searched === 1 ? 'the file that was searched' : `the ${searched} files that were searched`;
  const hint = [
    ...leftOutLine(leftOut.length, notText, unreadable),
    ...(caseSensitive ? ['Case counts; case_sensitive=false ignores it.'] : []),
  ].join(' ');
  return fail('no_match', `Nothing to replace for ${JSON.stringify(query)} in ${where}. ${hint}`.trim(), {
    hint,
  });
}

function leftOutLine(leftOut: number, notText: number, unreadable: number): readonly string[] {
  const parts = [
    ...(leftOut > 0 ? [`${leftOut} that match and cannot be changed`] : []),
    ...(notText > 0 ? [`${notText} binary`] : []),
    ...(unreadable > 0 ? [`${unreadable} that may not be read`] : []),
  ];
  return parts.length === 0 ? [] : [`[files left out: ${parts.join(', ')}]`];
}

function countOf(count: number, files: number): string {
  return `${count} in ${files} ${files === 1 ? 'file' : 'files'}`;
}
