// Reads .gitignore files, and tells what they ignore.
import {compilePathPattern, type PathPattern} from '../../core/glob.ts';
import type {Result} from '../../core/result.ts';
import {type OpenFile, readWhole} from '../open-file.ts';

/** A longer .gitignore is taken for none. */
const MAX_BYTES = 256 * 1024;

/** What holds in a directory with this .gitignore; one that cannot be read, such as a link, says nothing. `depth`: how many names lead to it. */
export async function extendScope(
  above: IgnoreScope | undefined,
  depth: number,
  file: Result<OpenFile>,
): Promise<IgnoreScope | undefined> {
  const content = file.ok ? await readWhole(file.value, {maxBytes: MAX_BYTES}) : file;
  if (!content.ok) return above;
  return new IgnoreScope(above, depth, parseGitignore(new TextDecoder().decode(content.value)));
}

/** What the .gitignore files from the root down to one directory say. */
export class IgnoreScope {
  readonly #above: IgnoreScope | undefined;
  /** How many names lead to the directory. */
  readonly #depth: number;
  readonly #patterns: readonly PathPattern[];

  constructor(above: IgnoreScope | undefined, depth: number, patterns: readonly PathPattern[]) {
    this.#above = above;
    this.#depth = depth;
    this.#patterns = patterns;
  }

  /** gitignore(5): the nearest file decides, in it the last line that fits. The directories above must not be ignored. */
  ignores(names: readonly string[], isDirectory: boolean): boolean {
    for (let scope: IgnoreScope | undefined = this; scope !== undefined; scope = scope.#above) {
      for (let at = scope.#patterns.length - 1; at >= 0; at -= 1) {
        const pattern = scope.#patterns[at];
        if (pattern === undefined || (pattern.directoryOnly && !isDirectory)) continue;
        if (pattern.matches(names, scope.#depth)) return !pattern.negated;
      }
    }
    return false;
  }
}

/** The patterns of a .gitignore, in its order. As in git, what is no pattern matches nothing. */
function parseGitignore(text: string): readonly PathPattern[] {
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
