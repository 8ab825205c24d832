interface Match {
  readonly file: string;
  readonly line: number;
  readonly content: string;
  readonly context_before: readonly string[];
  readonly context_after: readonly string[];
}

interface Answer {
  readonly matches: readonly Match[];
  readonly truncated: boolean;
  readonly total_matches: number;
}

/** As grep prints it: `path:line:` for a match, `path-line-` for a line around it, `--` between groups. Each line once. */
export function renderMatches({matches, truncated, total_matches}: Answer): string {
  if (matches.length === 0 && !truncated) return 'No matches.';
  const lines: string[] = [];
  const isMatch = new Set(matches.map(({file, line}) => `${line}:${file}`));
  let file: string | undefined;
  let shown = 0;
  for (const match of matches) {
    const first = match.line - match.context_before.length;
    if (match.file !== file) shown = 0;
    if (file !== undefined && (match.file !== file || first > shown + 1)) lines.push('--');
    file = match.file;
    for (const [index, text] of [...match.context_before, match.content, ...match.context_after].entries()) {
      const line = first + index;
      if (line <= shown) continue;
      // A line around one match may be the next match itself, which says it then.
      if (line > match.line && isMatch.has(`${line}:${file}`)) break;
      const mark = line === match.line || isMatch.has(`${line}:${file}`) ? ':' : '-';
      lines.push(`${file}${mark}${line}${mark}${text}`);
      shown = line;
    }
  }
  if (truncated)
    lines.push(`[${matches.length} of ${total_matches} matches; narrow query or glob to see the others]`);
  return lines.join('\n');
}
