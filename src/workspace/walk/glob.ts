// Compiles globs as users write them.
import {classEnd, compilePathPattern, type PathPattern} from '../../core/glob.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';

/** Ruling W2: a pattern for files, as `rg -g` takes it. */
export interface Glob {
  /** It starts with `!`: what it matches is left out. */
  readonly negated: boolean;
  /** Whether there is anything to be looked for below a directory. */
  readonly matchesDirectory: (names: readonly string[]) => boolean;
  /** Whether a file is wanted, if the directories above it are. */
  readonly matchesFile: (names: readonly string[]) => boolean;
  /** Whether a file is wanted. The path is relative, with `/` between names. */
  readonly matchesPath: (path: string) => boolean;
}

const MAX_CHARACTERS = 1024;

/**
 * `*`, `?`, `[a-z]`, `{a,b}` and `**`; without a slash it holds at every level. A plain glob is about
 * files, so that a directory needs `/**`; one with `!` leaves out directories too. `invalid_params` for what
 * is none, `path_escape` for one that climbs; `field` is the parameter that it came in.
 */
export function compileGlob(text: string, field: string): Result<Glob> {
  const refuse = (reason: string): Result<never> =>
    fail('invalid_params', `${field} ${JSON.stringify(takeStart(text, 200))} ${reason}.`, {
      field,
      reason,
    });
  if (text.length > MAX_CHARACTERS) return refuse(`has more than ${MAX_CHARACTERS} characters`);
  if (text.trim() === '') return refuse('is empty');
  if (/[\0\n\r]|\p{Surrogate}/u.test(text)) return refuse('contains a character that no pattern has');
  // gitignore: a comment. For us, a caller who means the character.
  if (text.startsWith('#')) return refuse('starts with "#"; write \\# for the character');
  const negated = text.startsWith('!');
  const body = (negated ? text.slice(1) : text).replace(/^(?:\.\/)+/, '/');
  const anchored = body.replace(/\/$/, '').includes('/');
  const expanded = expandBraces(body);
  if (!expanded.ok) return refuse(expanded.error);
  const compiled: PathPattern[] = [];
  for (const plain of expanded.value) {
    // Whether it is anchored is a matter of the whole: `{a,b/c}` is.
    const pattern = anchored ? `/${plain.replace(/^\/+/, '')}` : plain;
    if (pattern.split('/').includes('..')) {
      return fail(
        'path_escape',
        `${field} ${JSON.stringify(text)} climbs with "..". Patterns hold below the root.`,
        {
          path: text,
          reason: 'outside_workspace',
        },
      );
    }
    // With "!" in front of the rest, it would be negated twice.
    const parsed = compilePathPattern(pattern.startsWith('!') ? `\\${pattern}` : pattern);
    if (!parsed.ok) return refuse(parsed.error);
    compiled.push(parsed.value);
  }
  return ok(globOf(negated, compiled));
}

function globOf(negated: boolean, compiled: readonly PathPattern[]): Glob {
  const forFiles = compiled.filter(({directoryOnly}) => !directoryOnly);
  const fits = (list: readonly PathPattern[], names: readonly string[]): boolean =>
    list.some(({matches}) => matches(names));
  const matchesDirectory = (names: readonly string[]): boolean => !negated || !fits(compiled, names);
  const matchesFile = (names: readonly string[]): boolean => fits(forFiles, names) !== negated;
  return {
    negated,
    matchesDirectory,
    matchesFile,
    matchesPath: path => {
      const names = path.split('/');
      const above = negated ? names.slice(1).map((_, index) => names.slice(0, index + 1)) : [];
      return above.every(matchesDirectory) && matchesFile(names);
    },
  };
}

const MAX_EXPANSIONS = 256;

/**
 * `{src,test}/**` → `src/**`, `test/**`; groups may be nested. Escaped braces, and those in a class,
 * stay. The error is what is wrong with the pattern.
 */
function expandBraces(pattern: string): Result<readonly string[], string> {
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
