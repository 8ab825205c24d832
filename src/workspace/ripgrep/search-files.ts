import {ok, type Result} from '../../core/result.ts';
import type {Deadline} from '../deadline.ts';
import type {Glob} from '../glob/compile-glob.ts';
import type {IgnoreRules} from '../glob/ignore-rules.ts';
import type {Workspace} from '../jail.ts';
import {isProtectedName} from '../protected-name.ts';
import {sortBytewise} from '../sort-bytewise.ts';
import {countMatches, type FileCount} from './count-matches.ts';
import {loadIgnoreRules} from './load-ignore-rules.ts';
import {locateMatches, type MatchLocation} from './locate-matches.ts';
import type {Query} from './query-arguments.ts';
import {readLines} from './read-lines.ts';
import type {Ripgrep} from './run-ripgrep.ts';

export interface SearchRequest extends Query {
  readonly glob: Glob | undefined;
  readonly maxResults: number;
  readonly contextLines: number;
}

export interface SearchMatch {
  readonly file: string;
  readonly line: number;
  readonly content: string;
  readonly context_before: readonly string[];
  readonly context_after: readonly string[];
}

export interface SearchAnswer {
  readonly matches: readonly SearchMatch[];
  /** Matching lines in all files, those that are not listed included. */
  readonly total: number;
  /** False where time ran out while files were searched; then there may be more, and earlier ones. */
  readonly complete: boolean;
}

export interface SearchParts {
  readonly ripgrep: Ripgrep;
  readonly workspace: Workspace;
  /** Ends the search of all files. */
  readonly searching: AbortSignal;
  /** Ends the reading of the lines that were found. */
  readonly reading: Deadline & {readonly signal: AbortSignal};
}

const CHECK_EVERY = 64;

/**
 * W4: matching lines with their surroundings, by path (bytewise) and line. First every file is counted, in
 * parallel; then the lines of as many files as the answer needs are looked up.
 */
export async function searchFiles(request: SearchRequest, parts: SearchParts): Promise<Result<SearchAnswer>> {
  const {ripgrep, workspace, searching, reading} = parts;
  const ignored = await loadIgnoreRules(ripgrep, workspace, searching);
  if (!ignored.ok) return ignored;
  const counted = await countMatches(ripgrep, request, request.glob, ignored.value, searching);
  if (!counted.ok) return counted;
  const wanted = judge(counted.value.files, request.glob, ignored.value, reading);
  if (wanted === undefined) return reading.failure();
  const byPath = new Map(wanted.map(file => [file.path, file]));
  const files = sortBytewise([...byPath.keys()]).flatMap(path => byPath.get(path) ?? []);
  const located = await locateMatches(ripgrep, workspace, request, files, request.maxResults, reading.signal);
  if (!located.ok) return located;
  const matches = await show(located.value, request.contextLines, parts);
  if (!matches.ok) return matches;
  const total = files.reduce((sum, {lines}) => sum + lines, 0);
  return ok({matches: matches.value, total, complete: counted.value.complete});
}

/**
 * What ripgrep lets through is judged again by rules that are ours, and the same for all tools: for it, a file
 * that a glob asks for is not ignored any more. Undefined where time ran out.
 */
function judge(
  files: readonly FileCount[],
  glob: Glob | undefined,
  ignored: IgnoreRules,
  deadline: Deadline,
): readonly FileCount[] | undefined {
  const kept: FileCount[] = [];
  for (const [index, file] of files.entries()) {
    if (index % CHECK_EVERY === 0 && deadline.spent) return undefined;
    const {path} = file;
    if (glob !== undefined && !glob.keepsPath(path)) continue;
    if (!path.split('/').some(isProtectedName) && !ignored.ignoresFile(path)) kept.push(file);
  }
  return kept;
}

async function show(
  located: readonly MatchLocation[],
  contextLines: number,
  {workspace, reading}: SearchParts,
): Promise<Result<readonly SearchMatch[]>> {
  const matches: SearchMatch[] = [];
  for (const [path, places] of groupByPath(located)) {
    const wanted = new Map<number, number>();
    for (const {line} of places) {
      for (let near = Math.max(1, line - contextLines); near <= line + contextLines; near += 1)
        wanted.set(near, 0);
    }
    for (const {line, column} of places) wanted.set(line, column);
    const read = await readLines(workspace, path, wanted, reading);
    if (!read.ok && reading.spent) return read;
    // It vanished in between.
    if (!read.ok) continue;
    const around = (from: number, to: number): string[] => {
      const lines: string[] = [];
      for (let line = Math.max(1, from); line <= to; line += 1) {
        const text = read.value.get(line);
        if (text !== undefined) lines.push(text);
      }
      return lines;
    };
    for (const {line} of places) {
      matches.push({
        file: path,
        line,
        content: read.value.get(line) ?? '',
        context_before: around(line - contextLines, line - 1),
        context_after: around(line + 1, line + contextLines),
      });
    }
  }
  return ok(matches);
}

function groupByPath(located: readonly MatchLocation[]): ReadonlyMap<MatchLocation['path'], MatchLocation[]> {
  const groups = new Map<MatchLocation['path'], MatchLocation[]>();
  for (const match of located) {
    const group = groups.get(match.path);
    if (group === undefined) groups.set(match.path, [match]);
    else group.push(match);
  }
  return groups;
}
