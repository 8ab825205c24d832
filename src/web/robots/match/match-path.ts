import {SegmentFinder} from './segment-finder.ts';

/**
 * FR-WF-08d: whether a rule's pattern matches from the start of the path. `*` is any run of characters,
 * a final `$` the end of the path. Each literal between two `*` is taken where it first occurs, which
 * leaves the most room for the rest; so nothing is tried twice, and the time is linear in path and pattern.
 * Who matches many patterns with one path hands in one finder for all.
 */
export function matchPath(pattern: string, path: string, finder = new SegmentFinder(path)): boolean {
  const anchored = pattern.endsWith('$');
  const end = anchored ? pattern.length - 1 : pattern.length;
  let star = pattern.indexOf('*');
  if (star === -1) {
    return anchored ? path.length === end && pattern.startsWith(path) : path.startsWith(pattern);
  }
  if (!path.startsWith(pattern.slice(0, star))) return false;
  let at = star;
  for (;;) {
    const next = pattern.indexOf('*', star + 1);
    const segment = pattern.slice(star + 1, next === -1 ? end : next);
    if (next === -1 && anchored) return path.length - segment.length >= at && path.endsWith(segment);
    const found = finder.find(segment, at);
    if (found === -1) return false;
    if (next === -1) return true;
    at = found + segment.length;
    star = next;
  }
}
