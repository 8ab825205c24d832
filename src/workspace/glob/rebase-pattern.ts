import {classEnd} from './class-end.ts';

/**
 * A pattern of the .gitignore of `directory` as it is written in the one of the root, for ripgrep: there,
 * braces mean something, which they do not in git.
 */
export function rebasePattern(directory: string, text: string): string {
  const negated = text.startsWith('!');
  const body = withoutBraces(negated ? text.slice(1) : text);
  const sign = negated ? '!' : '';
  if (directory === '.') return `${sign}${body}`;
  const anchored = body.replace(/\/$/, '').includes('/');
  const below = anchored ? body.replace(/^\//, '') : `**/${body}`;
  return `${sign}/${directory.replace(/[\\*?[\]{}]/g, '\\$&')}/${below}`;
}

function withoutBraces(pattern: string): string {
  let plain = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    const end = character === '[' ? classEnd(pattern, at) : character === '\\' ? at + 1 : at;
    if (end > at) plain += pattern.slice(at, end + 1);
    else plain += character === '{' || character === '}' ? `\\${character}` : character;
    at = end;
  }
  return plain;
}
