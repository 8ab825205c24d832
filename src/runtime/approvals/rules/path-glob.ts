import {ok, type Result} from '../../../core/result.ts';
import {wildcardMatch} from './wildcard-match.ts';

interface CharacterClass {
  readonly negated: boolean;
  /** Pairs of first and last character. */
  readonly ranges: readonly (readonly [string, string])[];
}

type Piece = 'any' | 'star' | CharacterClass | {readonly literal: string};
type Segment = 'double-star' | readonly Piece[];

/**
 * Ruling W2: a gitignore-style pattern, exact in case, for paths with `/`. A pattern that matches a
 * directory matches everything below it. The error is what is wrong with the pattern.
 */
export function compilePathGlob(pattern: string): Result<(path: string) => boolean, string> {
  if (pattern.startsWith('!')) return wrong('starts with "!"; write a rule that says the opposite');
  const body = pattern.replace(/\/+$/, '');
  if (body.replaceAll('/', '') === '') return wrong('matches nothing; write ** for everything');
  const segments: Segment[] = [];
  for (const text of body.replace(/^\//, '').split('/')) {
    if (text === '' || text === '.' || text === '..') return wrong(`has the segment "${text}"`);
    const segment = parseSegment([...text]);
    if (!segment.ok) return segment;
    segments.push(segment.value);
  }
  // gitignore: without a slash before the end, a pattern holds at every level.
  const anchored = body.includes('/');
  const whole: readonly Segment[] = [
    ...(anchored ? [] : ['double-star' as const]),
    ...segments,
    'double-star',
  ];
  return ok(path => wildcardMatch(whole, segmentsOf(path), isDoubleStar, segmentMatches));
}

function parseSegment(characters: readonly string[]): Result<Segment, string> {
  if (characters.length === 2 && characters.every(character => character === '*')) return ok('double-star');
  const pieces: Piece[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') pieces.push('star');
    else if (character === '?') pieces.push('any');
    else if (character === '\\') {
      const escaped = characters[++at];
      if (escaped === undefined) return wrong('ends in a backslash');
      pieces.push({literal: escaped});
    } else if (character === '[') {
      // A "]" right after the opening, or after its "!", is a member.
      const first = at + (/[!^]/.test(characters[at + 1] ?? '') ? 2 : 1);
      const end = characters.indexOf(']', first + 1);
      if (end < 0) return wrong('has a "[" without "]"; write \\[ for the character');
      pieces.push({negated: first === at + 2, ranges: parseRanges(characters.slice(first, end))});
      at = end;
    } else if (character === '{') {
      return wrong('has "{"; write one rule for each alternative, or \\{ for the character');
    } else pieces.push({literal: character});
  }
  return ok(pieces);
}

function parseRanges(members: readonly string[]): CharacterClass['ranges'] {
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at] ?? '';
    const last = members[at + 2];
    const isRange = members[at + 1] === '-' && last !== undefined;
    ranges.push([first, isRange ? last : first]);
    if (isRange) at += 2;
  }
  return ranges;
}

/** `./a//b/` is `a/b`, and `.` is the root, of which only `**` holds. */
function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter(segment => segment !== '' && segment !== '.');
}

function isDoubleStar(segment: Segment): boolean {
  return segment === 'double-star';
}

function segmentMatches(segment: Segment, name: string): boolean {
  if (segment === 'double-star') return true;
  return wildcardMatch(segment, [...name], piece => piece === 'star', pieceMatches);
}

function pieceMatches(piece: Piece, character: string): boolean {
  if (piece === 'any' || piece === 'star') return true;
  if ('literal' in piece) return piece.literal === character;
  return piece.ranges.some(([first, last]) => character >= first && character <= last) !== piece.negated;
}

function wrong(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}
