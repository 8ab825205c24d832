import {ok, type Result} from '../result.ts';
import {compileNamePattern, type NamePattern} from './name-pattern.ts';

/** One line of a .gitignore, of a glob, or of a rule on paths. */
export interface PathPattern {
  /** It starts with `!`. */
  readonly negated: boolean;
  /** It ends in `/`. */
  readonly directoryOnly: boolean;
  /** Whether the path fits. Its first `from` names lead to where the pattern holds. */
  readonly matches: (names: readonly string[], from?: number) => boolean;
  /** Whether the path fits, or a directory above it: `a/**` covers `a` too, and `**` the root. */
  readonly covers: (names: readonly string[]) => boolean;
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
  const flags = {negated, directoryOnly};
  if (anchored || last === undefined || last === '**') {
    return ok({
      ...flags,
      matches: (path, from = 0) => matchSegments(segments, path, from, false),
      covers: path => matchSegments(segments, path, 0, true),
    });
  }
  return ok({...flags, matches: path => last(path.at(-1) ?? ''), covers: path => path.some(last)});
}

/**
 * The last `**` takes up what does not fit; an earlier one need never be asked again. At the end, it takes one
 * name at least: `a/**` is what is below `a`. `covering`: the names may go on where the pattern has ended, and a
 * `**` at the end may take none.
 */
function matchSegments(
  segments: readonly Segment[],
  names: readonly string[],
  from: number,
  covering: boolean,
): boolean {
  let segment = 0;
  let at = from;
  let doubleStar = -1;
  let taken = 0;
  while (at < names.length) {
    if (covering && segment === segments.length) return true;
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
  if (covering && segments[segment] === '**') segment += 1;
  return segment === segments.length;
}
