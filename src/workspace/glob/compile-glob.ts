import {fail} from '../../core/failure/fail.ts';
import {compilePathPattern, type PathPattern} from '../../core/glob/path-pattern.ts';
import {ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/take-start.ts';
import {expandBraces} from './expand-braces.ts';

/** Ruling W2: a pattern for files, as `rg -g` takes it. */
export interface Glob {
  /** It starts with `!`: what it matches is left out. */
  readonly negated: boolean;
  /** Whether there is anything to be looked for below a directory. */
  readonly keepsDirectory: (names: readonly string[]) => boolean;
  /** Whether a file is wanted, if the directories above it are. */
  readonly keepsFile: (names: readonly string[]) => boolean;
  /** Whether a file is wanted. The path is relative, with `/` between names. */
  readonly keepsPath: (path: string) => boolean;
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
  const keepsDirectory = (names: readonly string[]): boolean => !negated || !fits(compiled, names);
  const keepsFile = (names: readonly string[]): boolean => fits(forFiles, names) !== negated;
  return {
    negated,
    keepsDirectory,
    keepsFile,
    keepsPath: path => {
      const names = path.split('/');
      const above = negated ? names.slice(1).map((_, index) => names.slice(0, index + 1)) : [];
      return above.every(keepsDirectory) && keepsFile(names);
    },
  };
}
