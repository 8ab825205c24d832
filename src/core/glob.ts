// Matches paths with gitignore patterns. Matching is linear, so no pattern can blow up.
import {ok, type Result} from './result.ts';

/** Index of the `]` that ends the class at `start`; `start` itself where nothing ends it. */
export function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at += 1;
  // A "]" in first place is a member.
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']') return at;
  }
  return start;
}

/** Whether one name of a path fits. */
type NamePattern = (name: string) => boolean;

interface CharacterClass {
  readonly negated: boolean;
  /** First and last code point. */
  readonly ranges: readonly (readonly [number, number])[];
}

type Token = 'star' | 'any' | CharacterClass | {readonly literal: string};

/**
 * One name of a gitignore pattern: `*`, `?`, `[a-z]`, `[!a-z]` and `\` before a character that means
 * itself. Matching is linear in name × pattern. The error is what is wrong with the pattern.
 */
function compileNamePattern(text: string): Result<NamePattern, string> {
  const tokens = tokenize(text);
  if (!tokens.ok) return tokens;
  const {value} = tokens;
  if (value.every(isLiteralOrStar)) return ok(fromParts(value));
  return ok(name => matches(value, [...name]));
}

function tokenize(text: string): Result<readonly Token[], string> {
  const tokens: Token[] = [];
  const literal = (character: string): void => {
    const last = tokens.at(-1);
    if (typeof last === 'object' && 'literal' in last)
      tokens.splice(-1, 1, {literal: last.literal + character});
    else tokens.push({literal: character});
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1) !== 'star') tokens.push('star');
    } else if (character === '?') tokens.push('any');
    else if (character === '\\') {
      at += 1;
      if (at === text.length) return {ok: false, error: 'ends in a backslash'};
      literal(text[at] ?? '');
    } else if (character === '[') {
      const end = classEnd(text, at);
      if (end === at) return {ok: false, error: 'has a "[" without "]"; write \\[ for the character'};
      tokens.push(parseClass(text.slice(at + 1, end)));
      at = end;
    } else literal(character);
  }
  return ok(tokens);
}

function parseClass(text: string): CharacterClass {
  const negated = text.startsWith('!') || text.startsWith('^');
  const members: {readonly point: number; readonly isEscaped: boolean}[] = [];
  const characters = [...text.slice(negated ? 1 : 0)];
  for (let at = 0; at < characters.length; at += 1) {
    const isEscaped = characters[at] === '\\' && at + 1 < characters.length;
    if (isEscaped) at += 1;
    members.push({point: characters[at]?.codePointAt(0) ?? 0, isEscaped});
  }
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at]?.point ?? 0;
    const dash = members[at + 1];
    const last = members[at + 2];
    const isRange = dash?.point === 0x2d && !dash.isEscaped && last !== undefined;
    // As in git, the first member of a range is a member even where the range runs backwards.
    ranges.push([first, isRange ? Math.max(first, last.point) : first]);
    if (isRange) at += 2;
  }
  return {negated, ranges};
}

function isLiteralOrStar(token: Token): token is 'star' | {readonly literal: string} {
  return token === 'star' || (typeof token === 'object' && 'literal' in token);
}

/** Nearly all patterns: literal parts with stars between, which the engine finds faster than we do. */
function fromParts(tokens: readonly ('star' | {readonly literal: string})[]): NamePattern {
  const parts = [''];
  for (const token of tokens) {
    if (token === 'star') parts.push('');
    else parts[parts.length - 1] += token.literal;
  }
  const [head = '', ...others] = parts;
  const tail = others.pop();
  if (tail === undefined) return name => name === head;
  const least = head.length + tail.length;
  return name => {
    if (name.length < least || !name.startsWith(head) || !name.endsWith(tail)) return false;
    const end = name.length - tail.length;
    let at = head.length;
    for (const part of others) {
      const found = name.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Backtrack only to the last star. This keeps matching linear. */
function matches(pattern: readonly Token[], name: readonly string[]): boolean {
  const tokens = pattern.flatMap<Token>(token =>
    typeof token === 'object' && 'literal' in token
      ? [...token.literal].map(literal => ({literal}))
      : [token],
  );
  let token = 0;
  let at = 0;
  let star = -1;
  let taken = 0;
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === 'star') {
      star = token;
      taken = at;
      token += 1;
    } else if (wanted !== undefined && fits(wanted, name[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star === -1) return false;
    else {
      taken += 1;
      at = taken;
      token = star + 1;
    }
  }
  while (tokens[token] === 'star') token += 1;
  return token === tokens.length;
}

function fits(token: Exclude<Token, 'star'>, character: string): boolean {
  if (token === 'any') return true;
  if ('literal' in token) return token.literal === character;
  const point = character.codePointAt(0) ?? 0;
  return token.ranges.some(([first, last]) => first <= point && point <= last) !== token.negated;
}

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
 * Backtracks only to the last `**`, which keeps matching linear. At the end it takes one name at least: `a/**` is
 * everything below `a`. `covering`: the names may go on where the pattern has ended, and a `**` at the end may take
 * none.
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
