import type {OutlineLine} from './reading.ts';

/** `  3. Installation (412)`: as deep as its level, its number for `section`, its tokens. */
export function renderOutlineLine({number, heading, level, tokens}: OutlineLine): string {
  const name = level === 0 ? '(before the first heading)' : heading;
  return `${'  '.repeat(Math.max(0, level - 1))}${number}. ${name} (${tokens})`;
}
