// Searches files, and shows the matches with the lines around them.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import type {Glob} from '../walk/glob.ts';
import {TreeWalk} from '../walk/tree-walk.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {type FoundByFile, type FoundLine, findMatches, findMatchesByFile} from './find-matches.ts';
import type {Query, Ripgrep} from './ripgrep.ts';
import {lineNumbers, readLines, type ShownLine} from './show-lines.ts';
import {TreeText} from './tree-text.ts';

/** Of one match that spans lines. */
const MAX_SHOWN_LINES = 50;

export interface SearchRequest extends Query {
  /** Holds below `root`. */
  readonly glob: Pick<Glob, 'matchesDirectory' | 'matchesFile'> | undefined;
  /** A directory. Default: the whole workspace. */
  readonly root?: WorkspacePath | undefined;
  readonly includeIgnored?: boolean | undefined;
  readonly maxResults: number;
  readonly contextLines: number;
  /** Lines of one file. */
  readonly maxPerFile?: number | undefined;
  /** Numbers of matches in each file, and no lines. */
  readonly onlyCounts?: boolean | undefined;
}

export interface SearchMatch {
  readonly file: string;
  readonly line: number;
  readonly content: string;
  readonly context_before: readonly string[];
  readonly context_after: readonly string[];
  /** W14: the line is shown in part. */
  readonly content_truncated?: true;
  /** Of a match that spans lines, which are then all in `content`. */
  readonly end_line?: number;
}

export interface SearchAnswer {
  readonly matches: readonly SearchMatch[];
  /** Matching lines in all files, those that are not listed included. */
  readonly total: number;
  /** With `onlyCounts`: matching lines in each file that has any, in order. */
  readonly files: ReadonlyMap<WorkspacePath, number>;
  /** Text files that were searched. */
  readonly searched: number;
  /** False where time ran out before ripgrep had searched all files: then there may be more. */
  readonly complete: boolean;
}

export interface SearchDeps {
  readonly ripgrep: Ripgrep;
  readonly workspace: Workspace;
  /** Ends the search of all files. */
  readonly searching: AbortSignal;
  /** Ends the reading of the lines that were found. */
  readonly reading: Deadline & {readonly signal: AbortSignal};
}

/**
 * W4: matching lines with their surroundings, by path (bytewise) and line, hidden files included. The files
 * are walked, chosen and read through the jail, and ripgrep gets their text.
 */
export async function searchFiles(request: SearchRequest, deps: SearchDeps): Promise<Result<SearchAnswer>> {
  const {ripgrep, workspace, searching, reading} = deps;
  const {maxResults, contextLines, maxPerFile, onlyCounts} = request;
  const root = request.root === undefined ? workspace.resolve('.') : ok(request.root);
  if (!root.ok) return root;
  const walk = new TreeWalk(workspace, root.value, {
    glob: request.glob,
    ignored: request.includeIgnored ? undefined : 'left-out',
    deadline: reading,
  });
  const text = new TreeText(walk, searching, request.multiline ? 'nul' : 'newline');
  const limits = {maxLines: onlyCounts ? 0 : maxResults, maxPerFile: maxPerFile ?? Number.POSITIVE_INFINITY};
  const found =
    onlyCounts || maxPerFile !== undefined || request.multiline
      ? await findMatchesByFile(ripgrep, request, text, limits, reading.signal)
      : await findMatches(ripgrep, request, text, maxResults, reading.signal);
  if (!found.ok) return found;
  if (text.failure !== undefined) return text.failure;
  const matches = await show(found.value.lines, contextLines, deps);
  if (!matches.ok) return matches;
  const files = 'files' in found.value ? (found.value as FoundByFile).files : new Map();
  return ok({
    matches: matches.value,
    total: found.value.total,
    files,
    searched: text.files,
    complete: found.value.finished && !text.stopped,
  });
}

async function show(
  found: readonly FoundLine[],
  contextLines: number,
  {workspace, reading}: SearchDeps,
): Promise<Result<readonly SearchMatch[]>> {
  const matches: SearchMatch[] = [];
  for (const [path, lines] of groupByPath(found)) {
    const shown = await showInFile(workspace, path, lines, contextLines, reading);
    if (shown.ok) matches.push(...shown.value);
    // Else it vanished, or was exchanged, in between.
    else if (reading.spent) return shown;
  }
  return ok(matches);
}

async function showInFile(
  workspace: Workspace,
  path: WorkspacePath,
  found: readonly FoundLine[],
  contextLines: number,
  deadline: Deadline,
): Promise<Result<readonly SearchMatch[]>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file;
  try {
    const offsets = found.map(({offset}) => offset);
    const numbers = await lineNumbers(file.value, offsets, deadline);
    if (!numbers.ok) return numbers;
    const wanted = new Map<number, number>();
    const spans = numbers.value.map((line, index) => ({line, lines: found[index]?.lines ?? 1}));
    for (const {line, lines} of spans) {
      const last = line + Math.min(lines, MAX_SHOWN_LINES) - 1 + contextLines;
      for (let near = Math.max(1, line - contextLines); near <= last; near += 1) wanted.set(near, 0);
    }
    for (const [index, line] of numbers.value.entries()) wanted.set(line, found[index]?.column ?? 0);
    const read = await readLines(file.value, wanted, deadline);
    if (!read.ok) return read;
    return ok(spans.flatMap(span => matchAt(path, span, read.value, contextLines)));
  } finally {
    await file.value.close();
  }
}

function matchAt(
  file: string,
  {line, lines: span}: {readonly line: number; readonly lines: number},
  lines: ReadonlyMap<number, ShownLine>,
  contextLines: number,
): readonly SearchMatch[] {
  const numbers = Array.from({length: Math.min(span, MAX_SHOWN_LINES)}, (_, index) => line + index);
  const shown = numbers.map(number => lines.get(number)).filter(found => found !== undefined);
  // The file became shorter in between.
  if (shown.length === 0) return [];
  const cut = span > shown.length || shown.some(found => found.cut);
  const around = (from: number, to: number): readonly string[] => {
    const texts: string[] = [];
    for (let near = Math.max(1, from); near <= to; near += 1) {
      const found = lines.get(near);
      if (found !== undefined) texts.push(found.text);
    }
    return texts;
  };
  return [
    {
      file,
      line,
      content: shown.map(({text}) => text).join('\n'),
      ...(cut ? {content_truncated: true} : {}),
      ...(span > 1 ? {end_line: line + span - 1} : {}),
      context_before: around(line - contextLines, line - 1),
      context_after: span > MAX_SHOWN_LINES ? [] : around(line + span, line + span - 1 + contextLines),
    },
  ];
}

function groupByPath(found: readonly FoundLine[]): ReadonlyMap<WorkspacePath, readonly FoundLine[]> {
  const groups = new Map<WorkspacePath, FoundLine[]>();
  for (const line of found) {
    const group = groups.get(line.path);
    if (group === undefined) groups.set(line.path, [line]);
    else group.push(line);
  }
  return groups;
}
