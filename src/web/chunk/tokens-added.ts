import {isWhiteSpace} from './white-space.ts';

/** How many tokens white space adds to the text before it, of which only the last word decides. */
export function tokensAdded(text: string, space: string, countTokens: (text: string) => number): number {
  const line = text.lastIndexOf('\n') + 1;
  const blank = text.lastIndexOf(' ');
  const word = blank > line && !isWhiteSpace(text.charCodeAt(blank - 1)) ? blank : line;
  const tail = text.slice(word);
  return countTokens(tail + space) - countTokens(tail);
}
