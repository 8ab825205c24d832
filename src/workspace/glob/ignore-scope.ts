import type {PathPattern} from '../../core/glob/path-pattern.ts';

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
