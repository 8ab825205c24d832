// Renders matches of a search as text, and explains why there are none.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Glob} from '../../workspace/walk/glob.ts';
import {walkTree} from '../../workspace/walk/walk-tree.ts';
import {pathNames, type WorkspacePath} from '../../workspace/workspace-path.ts';
import type {WorkspaceSession} from './session.ts';

interface Match {
  readonly file: string;
  readonly line: number;
  readonly content: string;
  readonly content_truncated?: true | undefined;
  readonly context_before: readonly string[];
  readonly context_after: readonly string[];
}

interface Answer {
  readonly matches: readonly Match[];
  readonly truncated: boolean;
  readonly total_matches: number;
  readonly files?: readonly {readonly file: string; readonly matches: number}[] | undefined;
  readonly total_files?: number | undefined;
  readonly counted?: true | undefined;
  readonly nothing_found?: NothingFound | undefined;
}

/**
 * W17, by file: its path, then `12:` before a line that matches and `12-` before one around it, `--` where lines are
 * left out between two. Each line once.
 */
export function renderMatches(answer: Answer): string {
  if (answer.nothing_found !== undefined) return renderNothing(answer.nothing_found);
  if (answer.files !== undefined) return renderCounts(answer, answer.files);
  const {matches, truncated, total_matches} = answer;
  if (matches.length === 0 && !truncated) return 'No matches.';
  const blocks = Array.from(byFile(matches), ([file, found]) => [file, ...linesOf(found)].join('\n'));
  const text = blocks.join('\n\n');
  if (!truncated) return text;
  const shown = text === '' ? '' : `${text}\n`;
  return `${shown}[${number(matches.length)} of ${number(total_matches)} matches; raise max_results, or narrow query, glob or path, to see the others; output="count" counts them]`;
}

function byFile(matches: readonly Match[]): ReadonlyMap<string, readonly Match[]> {
  const groups = new Map<string, Match[]>();
  for (const match of matches) {
    const group = groups.get(match.file);
    if (group === undefined) groups.set(match.file, [match]);
    else group.push(match);
  }
  return groups;
}

function linesOf(matches: readonly Match[]): readonly string[] {
  const lines: string[] = [];
  const matching = new Set(
    matches.flatMap(({line, content}) => content.split('\n').map((_, index) => line + index)),
  );
  let shown = 0;
  for (const match of matches) {
    const first = match.line - match.context_before.length;
    const hasContext = match.context_before.length + match.context_after.length > 0;
    if (hasContext && shown > 0 && first > shown + 1) lines.push('--');
    const content = match.content.split('\n');
    const last = match.line + content.length - 1;
    for (const [index, text] of [...match.context_before, ...content, ...match.context_after].entries()) {
      const line = first + index;
      if (line <= shown) continue;
      // A line around one match may be the next match itself, which says it then.
      if (line > last && matching.has(line)) break;
      const cut = line === last && match.content_truncated ? ' […]' : '';
      lines.push(`${line}${matching.has(line) ? ':' : '-'}${text}${cut}`);
      shown = line;
    }
  }
  return lines;
}

function renderCounts(
  {total_matches, total_files = 0, truncated, counted}: Answer,
  shown: Answer['files'] & {},
): string {
  if (shown.length === 0) return `${files(total_files)}, none shown.`;
  const lines = shown.map(({file, matches}) => (counted ? `${file}: ${number(matches)}` : file));
  const all = `${matches(total_matches)} in ${files(total_files)}`;
  const first = shown.length === 1 ? 'the first file' : `the first ${files(shown.length)}`;
  const note = truncated ? `${first}; ${all}; raise max_results to see more` : all;
  return [...lines, ...(truncated || counted ? [`[${note}]`] : [])].join('\n');
}

function renderNothing({searched_files, ignored_files, hint}: NothingFound): string {
  const found = searched_files === 0 ? 'No file was searched.' : `No matches in ${files(searched_files)}.`;
  const meant = hint === undefined ? '' : ` No file fits glob; did you mean ${JSON.stringify(hint)}?`;
  const ignored = ignored_files === 0 ? '' : ` ${ignoredNote(ignored_files)}`;
  return `${found}${meant}${ignored}`;
}

function ignoredNote(count: number): string {
  return count === 1
    ? '1 file that fits is ignored; include_ignored searches it.'
    : `${number(count)} files that fit are ignored; include_ignored searches them.`;
}

function matches(count: number): string {
  return count === 1 ? '1 match' : `${number(count)} matches`;
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${number(count)} files`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

/** Why a search found nothing. */
type NothingFound = {
  readonly searched_files: number;
  /** That fit and were not searched. */
  readonly ignored_files: number;
  /** A pattern that was perhaps meant. */
  readonly hint?: string;
};

/** A model that finds nothing concludes that there is nothing, so it is told where it was looked for (W17). */
export async function explainNothing(
  session: Pick<WorkspaceSession, 'workspace'>,
  {
    glob,
    include_ignored,
  }: {readonly glob?: string | undefined; readonly include_ignored?: boolean | undefined},
  {place, searched}: {readonly place: SearchPlace; readonly searched: number},
  deadline: Deadline,
): Promise<NothingFound> {
  const {workspace} = session;
  const isAll = include_ignored === true || place.isFile;
  const walked = isAll
    ? undefined
    : await walkTree(workspace, place.root, {glob: place.glob, ignored: 'counted', maxFiles: 0, deadline});
  const ignored = walked?.ok ? walked.value.ignoredFiles : 0;
  const fits = walked?.ok ? walked.value.total + ignored : searched;
  const hint = glob !== undefined && fits === 0 ? directoryPattern(workspace, glob) : undefined;
  return {
    searched_files: searched,
    ignored_files: ignored,
    ...(hint !== undefined && {hint}),
  };
}

/** `src/click` names a directory, in which files are fitted by `src/click/**`. */
function directoryPattern(workspace: WorkspaceSession['workspace'], glob: string): string | undefined {
  const path = workspace.resolve(glob.replace(/\/+$/, ''));
  if (!path.ok) return undefined;
  const directory = workspace.openDirectory(path.value);
  if (!directory.ok) return undefined;
  directory.value.close();
  return `${path.value}/**`;
}

interface SearchPlace {
  /** The directory in which files are looked for. */
  readonly root: WorkspacePath;
  readonly glob: Pick<Glob, 'matchesDirectory' | 'matchesFile'> | undefined;
  /** One file was named; whether it is ignored does not count then. */
  readonly isFile: boolean;
}

/** Where a search looks: below a directory, in one file, or everywhere. */
export async function searchPlace(
  {workspace}: Pick<WorkspaceSession, 'workspace'>,
  path: string | undefined,
  glob: Glob | undefined,
): Promise<Result<SearchPlace>> {
  const place = workspace.resolve(path ?? '.');
  if (!place.ok) return place;
  if (path === undefined) return ok({root: place.value, glob, isFile: false});
  const directory = workspace.openDirectory(place.value);
  if (directory.ok) {
    directory.value.close();
    return ok({root: place.value, glob, isFile: false});
  }
  const file = await workspace.openFile(place.value);
  if (!file.ok) return file;
  await file.value.close();
  const names = pathNames(place.value);
  const name = names.at(-1);
  const above = workspace.resolve(names.slice(0, -1).join('/') || '.');
  if (!above.ok) return above;
  const only = {
    matchesDirectory: () => false,
    matchesFile: (names: readonly string[]) => names.length === 1 && names[0] === name,
  };
  return ok({root: above.value, glob: only, isFile: true});
}
