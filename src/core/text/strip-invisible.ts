import {replaceInvisible} from './replace-invisible.ts';

/** What scripts and emoji need to be read (joiners, selectors of a glyph), and what a font of the reader may have. */
const SHAPES_TEXT =
  /^(?:\u200c|\u200d|[\ufe00-\ufe0f]|(?!\p{Default_Ignorable_Code_Point})(?:\p{Co}|\p{Cn}))/u;

/** For what the user only reads: the text without the characters that would act, hide or turn something around. */
export function stripInvisible(text: string): string {
  return replaceInvisible(text, character => (SHAPES_TEXT.test(character) ? character : ''));
}
