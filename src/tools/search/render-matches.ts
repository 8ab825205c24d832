import type {NothingFound} from './explain-nothing.ts';

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
