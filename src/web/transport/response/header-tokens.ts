import type {HeaderMap} from '../../page.ts';
import {trimBlanks} from './trim-blanks.ts';

/** RFC 9110 §5.6.1: the members of a comma-separated field, lower case, empty ones left out. */
export function headerTokens(headers: HeaderMap, name: string): readonly string[] {
  const values = headers.get(name) ?? [];
  return values
    .flatMap(value => value.split(',').map(part => trimBlanks(part).toLowerCase()))
    .filter(Boolean);
}
