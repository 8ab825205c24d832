import {IgnoreScope} from './ignore-scope.ts';
import {type IgnorePattern, parseGitignore} from './parse-gitignore.ts';
import {rebasePattern} from './rebase-pattern.ts';

/** What all .gitignore files of a workspace say together. */
export class IgnoreRules {
  readonly #patterns = new Map<string, readonly IgnorePattern[]>();
  /** Directory → what holds in it; `null` where it is ignored itself. */
  readonly #scopes = new Map<string, IgnoreScope | null | undefined>();

  /** Directory (`.` for the root) → the text of its .gitignore. */
  constructor(files: ReadonlyMap<string, string>) {
    for (const [directory, text] of files) this.#patterns.set(directory, parseGitignore(text));
  }

  /** Whether git would leave a file out, for itself or for a directory above it. */
  ignoresFile(path: string): boolean {
    const end = path.lastIndexOf('/');
    const scope = this.#scopeOf(end === -1 ? '.' : path.slice(0, end));
    if (scope === undefined) return false;
    return scope === null || scope.ignores(path.split('/'), false);
  }

  /** The same as one .gitignore for the root: from the outside in, as the last pattern that fits decides. */
  asOneFile(): string {
    const depth = (directory: string): number => (directory === '.' ? 0 : directory.split('/').length);
    return [...this.#patterns]
      .sort(([one], [other]) => depth(one) - depth(other))
      .flatMap(([directory, patterns]) => patterns.map(({text}) => `${rebasePattern(directory, text)}\n`))
      .join('');
  }

  #scopeOf(directory: string): IgnoreScope | null | undefined {
    if (this.#scopes.has(directory)) return this.#scopes.get(directory);
    const names = directory === '.' ? [] : directory.split('/');
    let scope = this.#extend(undefined, '.', 0);
    // From the root down, as nothing comes back from an ignored directory.
    for (let depth = 1; depth <= names.length && scope !== null; depth += 1) {
      const above = names.slice(0, depth);
      scope = scope?.ignores(above, true) ? null : this.#extend(scope, above.join('/'), depth);
    }
    this.#scopes.set(directory, scope);
    return scope;
  }

  #extend(above: IgnoreScope | undefined, directory: string, depth: number): IgnoreScope | null | undefined {
    const patterns = this.#patterns.get(directory);
    return patterns === undefined ? above : new IgnoreScope(above, depth, patterns);
  }
}
