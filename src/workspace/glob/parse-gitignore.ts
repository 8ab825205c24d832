import {compilePathPattern, type PathPattern} from '../../core/glob/path-pattern.ts';

/** The patterns of a .gitignore, in its order. As in git, what is no pattern matches nothing. */
export function parseGitignore(text: string): readonly PathPattern[] {
  const patterns: PathPattern[] = [];
  for (const line of text.replace(/^\ufeff/, '').split('\n')) {
    const written = withoutTrailingBlanks(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (written === '' || written.startsWith('#')) continue;
    const pattern = compilePathPattern(written);
    if (pattern.ok) patterns.push(pattern.value);
  }
  return patterns;
}

/** gitignore(5): blanks at the end do not count, unless a backslash stands before them. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}
