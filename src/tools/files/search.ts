// The tool search: finds lines in text files with ripgrep.

import {z} from 'zod';
import {Deadline} from '../../core/deadline.ts';
import {fail, ok} from '../../core/result.ts';
import type {Tool, ToolContext} from '../../core/tool.ts';
import type {SearchAnswer, SearchMatch} from '../../workspace/search/search-files.ts';
import {compileGlob} from '../../workspace/walk/glob.ts';
import {outputLimit, readingTool} from '../define-tool.ts';
import {takeWithin} from './list-files.ts';
import type {WorkspaceSession} from './session.ts';
import {explainNothing, renderMatches, searchPlace} from './show-matches.ts';

/** Tool API, search. */
const TIMEOUT_MS = 60_000;
/** What is found by then is looked up within this, and within what the runtime waits longer. */
const READING_MS = 1500;
/** The answer without its matches. */
const FRAME_BYTES = 100;
/** The details of a time-out without the answer in them. */
const DETAILS_BYTES = 100;

const params = z
  .strictObject({
    query: z
      .string()
      .min(1)
      .max(10_000)
      .refine(query => !query.includes('\0'), 'must not contain NUL')
      .describe('Text, in any case; a Rust regex with is_regex.'),
    glob: z.string().min(1).optional().describe('Only files that fit, such as "*.py" or "src/**/*.ts".'),
    path: z.string().min(1).optional().describe('File or directory; glob holds below it.'),
    output: z
      .enum(['matches', 'files', 'count'])
      .optional()
      .describe('Lines (default), file names, or matches per file.'),
    case_sensitive: z.boolean().optional(),
    multiline: z.boolean().optional().describe('A match may span lines; "." does with (?s).'),
    include_ignored: z.boolean().optional().describe('Also ignored files.'),
    max_per_file: z.int().min(1).max(1000).optional().describe('Lines of one file.'),
    max_results: z.int().min(1).max(1000).default(50).describe('Lines, or files, to return.'),
    context_lines: z.int().min(0).max(10).default(2).describe('Lines before and after each.'),
    is_regex: z.boolean().default(false),
  })
  .refine(({query, multiline}) => multiline === true || !/[\r\n]/.test(query), {
    path: ['query'],
    message: 'must be a single line, as lines are searched one by one, or multiline true',
  });

const match = z.object({
  file: z.string(),
  line: z.int(),
  content: z.string(),
  content_truncated: z.literal(true).exactOptional().describe('The line is longer than what content shows.'),
  end_line: z.int().exactOptional().describe('With multiline, the last line of content.'),
  context_before: z.array(z.string()),
  context_after: z.array(z.string()),
});

const data = z.object({
  matches: z.array(match).describe('By file, then line.'),
  truncated: z.boolean(),
  total_matches: z.int().describe('All matching lines, also those not returned.'),
  files: z
    .array(z.object({file: z.string(), matches: z.int()}))
    .exactOptional()
    .describe('With output "files" or "count".'),
  total_files: z.int().exactOptional().describe('All files with matches, also those not returned.'),
  nothing_found: z
    .object({searched_files: z.int(), ignored_files: z.int(), hint: z.string().exactOptional()})
    .exactOptional()
    .describe('Why there is no match: files that were searched, and ignored ones that fit.'),
  counted: z.literal(true).exactOptional().describe('The text shows the number of matches of each file.'),
});

export function searchTool(session: WorkspaceSession): Tool {
  const {workspace, clock} = session;
  return readingTool(session, {
    name: 'search',
    title: 'Search files',
    description: 'Finds lines in text files, not in .git, binary or ignored ones. glob finds files by name.',
    params,
    data,
    timeoutMs: TIMEOUT_MS + READING_MS,
    path: ({path}) => path ?? '.',
    summary: ({query, glob, path: named}, path) => {
      const below = named === undefined ? '' : ` below ${path}`;
      const fitting = glob === undefined ? '' : ` in ${glob}`;
      return `${JSON.stringify(query)}${fitting}${below}`;
    },
    read: async (_, request, context, reading) => {
      const searching = new Deadline(TIMEOUT_MS, clock, context.signal, {tool: 'search'});
      return find(request, context, {searching, reading}).finally(() => searching.close());
    },
    renderText: renderMatches,
  });

  async function find(
    request: z.infer<typeof params>,
    context: ToolContext,
    {searching, reading}: {readonly searching: Deadline; readonly reading: Deadline},
  ) {
    const glob = request.glob === undefined ? ok(undefined) : compileGlob(request.glob, 'glob');
    if (!glob.ok) return glob;
    const ripgrep = await session.ripgrep();
    if (!ripgrep.ok) return ripgrep;
    const place = await searchPlace(session, request.path, glob.value);
    if (!place.ok) return place;
    const onlyCounts = request.output === 'files' || request.output === 'count';
    const {searchFiles} = await import('../../workspace/search/search-files.ts');
    const found = await searchFiles(
      {
        text: request.query,
        isRegex: request.is_regex,
        caseSensitive: request.case_sensitive,
        multiline: request.multiline,
        root: place.value.root,
        glob: place.value.glob,
        includeIgnored: request.include_ignored === true || place.value.isFile,
        maxPerFile: request.max_per_file,
        onlyCounts,
        maxResults: request.max_results,
        contextLines: request.context_lines,
      },
      {ripgrep: ripgrep.value, workspace, searching: searching.signal, reading},
    );
    if (!found.ok) return found;
    if (reading.cancelled) return searching.failure();
    const whyNothing = () =>
      explainNothing(session, request, {place: place.value, searched: found.value.searched}, reading);
    const {complete, total} = found.value;
    const room = outputLimit(context) - FRAME_BYTES - (complete ? 0 : DETAILS_BYTES);
    const answer = {
      ...(onlyCounts ? countsOf(found.value, request, room) : linesOf(found.value, room)),
      ...(total === 0 && complete && {nothing_found: await whyNothing()}),
    };
    if (complete) return ok(answer);
    // What was found is no answer, as earlier files may be missing, but better than nothing.
    return fail(
      'timeout',
      `search did not finish within ${TIMEOUT_MS} ms; \`details.partial\` has what was found. Narrow it with glob.`,
      {timeout_ms: TIMEOUT_MS, partial: answer},
    );
  }
}

type SearchRequest = z.infer<typeof params>;
type SearchData = z.infer<typeof data>;

function linesOf({matches: all, total, complete}: SearchAnswer, room: number): SearchData {
  const matches = [...takeWithin(all.map(toJson), room)];
  return {matches, truncated: matches.length < total || !complete, total_matches: total};
}

function countsOf(
  {files: all, total, complete}: SearchAnswer,
  {max_results, output}: SearchRequest,
  room: number,
): SearchData {
  const counts = Array.from(all, ([file, matches]) => ({file, matches}));
  const files = [...takeWithin(counts.slice(0, max_results), room)];
  return {
    matches: [],
    truncated: files.length < all.size || !complete,
    total_matches: total,
    files,
    total_files: all.size,
    ...(output === 'count' && {counted: true as const}),
  };
}

function toJson({context_before, context_after, ...found}: SearchMatch): z.infer<typeof match> {
  return {...found, context_before: [...context_before], context_after: [...context_after]};
}
