import {isWhiteSpace} from '../../chunk/white-space.ts';

const SCHEME = /^\(<?[a-z][a-z0-9+.-]{0,31}:/i;
const SCHEME_UNITS = 36;

/**
 * The end of `(target)` or `(target "title")` at `at`. The target is absolute, as every link that was converted
 * is: in a plain-text page `list[i](x)` is no link. It holds no bare parenthesis, so what has no end is given up
 * at the next one, and a page of nothing but openings costs no more than its length.
 */
export function linkTargetEnd(markdown: string, at: number, to: number): number | undefined {
  if (!SCHEME.test(markdown.slice(at, at + SCHEME_UNITS))) return undefined;
  for (let end = at + 1; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x29) return end + 1;
    if (unit === 0x28) return undefined;
    if (isWhiteSpace(unit)) return titleEnd(markdown, end, to);
  }
  return undefined;
}

function titleEnd(markdown: string, from: number, to: number): number | undefined {
  if (markdown.charCodeAt(from + 1) !== 0x22) return undefined;
  for (let end = from + 2; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x0a) return undefined;
    if (unit === 0x22) return markdown.charCodeAt(end + 1) === 0x29 && end + 1 < to ? end + 2 : undefined;
  }
  return undefined;
}
