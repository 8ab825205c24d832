import {ok, type Result} from '../../core/result.ts';
import {compileNamePattern, type NamePattern} from './name-pattern.ts';

/** One line of a .gitignore, or one `rg -g`. */
export interface PathPattern {
  /** It starts with `!`. */
  readonly negated: boolean;
  /** It ends in `/`. */
  readonly directoryOnly: boolean;
  /** Whether the path fits. Its first `from` names lead to where the pattern holds. */
  readonly matches: (names: readonly string[], from?: number) => boolean;
}

type Segment = NamePattern | '**';

/** gitignore(5): without a slash, but at its end, it holds at every level; with one, from where it is. */
export function compilePathPattern(text: string): Result<PathPattern, string> {
  const negated = text.startsWith('!');
  const written = negated ? text.slice(1) : text;
  const directoryOnly = written.endsWith('/');
  const body = directoryOnly ? written.slice(0, -1) : written;
  const anchored = body.includes('/');
  const names = body.replace(/^\//, '').split('/');
  if (names.length === 1 && names[0] === '')
    return {ok: false, error: 'matches nothing; write ** for everything'};
  const segments: Segment[] = [];
  for (const name of names) {
    if (name === '**') {
      if (segments.at(-1) !== '**') segments.push('**');
      continue;
    }
    const compiled = compileNamePattern(name);
    if (!compiled.ok) return compiled;
    // No entry has an empty name, so that `a//b` matches nothing.
    segments.push(name === '' ? () => false : compiled.value);
  }
  const last = segments.at(-1);
  const matches =
    anchored || last === undefined || last === '**'
      ? (path: readonly string[], from = 0) => matchSegments(segments, path, from)
      : (path: readonly string[]) => last(path.at(-1) ?? '');
  return ok({negated, directoryOnly, matches});
}

/**
 * The last `**` takes up what does not fit; an earlier one need never be asked again. At the end, it takes one
 * name at least: `a/**` is what is below `a`.
 */
function matchSegments(segments: readonly Segment[], names: readonly string[], from: number): boolean {
  let segment = 0;
  let at = from;
  let doubleStar = -1;
  let taken = 0;
  while (at < names.length) {
    const wanted = segments[segment];
    if (wanted === '**') {
      doubleStar = segment;
      taken = at;
      segment += 1;
    } else if (wanted?.(names[at] ?? '')) {
      segment += 1;
      at += 1;
    } else if (doubleStar === -1) return false;
    else {
      taken += 1;
      at = taken;
      segment = doubleStar + 1;
    }
  }
  return segment === segments.length;
}
