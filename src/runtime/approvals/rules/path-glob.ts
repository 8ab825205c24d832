import {classEnd} from '../../../core/glob/class-end.ts';
import {compilePathPattern} from '../../../core/glob/path-pattern.ts';
import {ok, type Result} from '../../../core/result.ts';

/**
 * Ruling W2: a gitignore-style pattern, exact in case, for paths with `/`. A pattern that matches a
 * directory matches everything below it. The error is what is wrong with the pattern.
 */
export function compilePathGlob(pattern: string): Result<(path: string) => boolean, string> {
  if (pattern.startsWith('!')) return wrong('starts with "!"; write a rule that says the opposite');
  const body = pattern.replace(/\/+$/, '');
  if (body.replaceAll('/', '') === '') return wrong('matches nothing; write ** for everything');
  const odd = body
    .replace(/^\//, '')
    .split('/')
    .find(name => ['', '.', '..'].includes(name));
  if (odd !== undefined) return wrong(`has the segment "${odd}"`);
  if (hasBrace(body)) return wrong('has "{"; write one rule for each alternative, or \\{ for the character');
  const compiled = compilePathPattern(body);
  if (!compiled.ok) return compiled;
  return ok(path => compiled.value.covers(namesOf(path)));
}

function hasBrace(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === '{') return true;
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '[') at = classEnd(pattern, at);
  }
  return false;
}

/** `./a//b/` is `a/b`, and `.` is the root, of which only `**` holds. */
function namesOf(path: string): readonly string[] {
  return path.split('/').filter(name => name !== '' && name !== '.');
}

function wrong(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}
