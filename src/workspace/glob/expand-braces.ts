import {classEnd} from '../../core/glob/class-end.ts';
import {ok, type Result} from '../../core/result.ts';

const MAX_EXPANSIONS = 256;

/**
 * `{src,test}/**` → `src/**`, `test/**`; groups may be nested. Escaped braces, and those in a class,
 * stay. The error is what is wrong with the pattern.
 */
export function expandBraces(pattern: string): Result<readonly string[], string> {
  const expanded: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = innermostGroup(next);
    if (group === 'unbalanced') {
      return {ok: false, error: 'has a brace without its partner; write \\{ or \\} for the character'};
    }
    if (group === undefined) {
      expanded.push(next);
    } else {
      const head = next.slice(0, group.start);
      const tail = next.slice(group.end + 1);
      for (const option of group.options.toReversed()) pending.push(`${head}${option}${tail}`);
    }
    if (expanded.length + pending.length > MAX_EXPANSIONS) {
      return {ok: false, error: `stands for more than ${MAX_EXPANSIONS} patterns; write a simpler one`};
    }
  }
  return ok(expanded);
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly options: readonly string[];
}

/** The first group to be closed, which has none in it; undefined where there is no group. */
function innermostGroup(pattern: string): Group | 'unbalanced' | undefined {
  let start = -1;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '[') at = classEnd(pattern, at);
    else if (character === '{') {
      start = at;
      commas = [];
    } else if (character === ',' && start !== -1) commas.push(at);
    else if (character === '}') {
      if (start === -1) return 'unbalanced';
      const cuts = [start, ...commas, at];
      const options = cuts.slice(1).map((cut, index) => pattern.slice((cuts[index] ?? 0) + 1, cut));
      return {start, end: at, options};
    }
  }
  return start === -1 ? undefined : 'unbalanced';
}
