import {replaceInvisible} from './replace-invisible.ts';

/**
 * For what the user decides on: a character that cannot be seen is shown by its number, as `\u{202e}`. It is
 * never left out, so that what was shown is what will be done.
 */
export function showInvisible(text: string): string {
  return replaceInvisible(text, character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
