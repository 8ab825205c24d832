import {escapeLineStart} from './escape-line-start.ts';
import {type Delimiters, escapeText, hasSpecial, NOTHING_SPECIAL} from './escape-text.ts';

/** What a block of inline content is: cells and headings are one line, and only paragraphs can start other blocks. */
export type InlineKind = 'paragraph' | 'heading' | 'cell';

interface Place {
  readonly delimiters: Delimiters;
  /** Between the brackets of a link. */
  readonly inLink: boolean;
  /** Nothing stands before the text in its block. */
  readonly startsBlock: boolean;
  readonly kind: InlineKind;
}

/** D7: escapes a piece of text, and in paragraphs the start of each of its lines that starts a line of the block. */
export function escapeLines(text: string, {delimiters, inLink, startsBlock, kind}: Place): string {
  const isEscaped = delimiters !== NOTHING_SPECIAL && hasSpecial(text);
  const escaped = isEscaped ? escapeText(text, delimiters, inLink) : text;
  if (kind !== 'paragraph') return escaped;
  if (!text.includes('\n')) return startsBlock ? escapeLineStart(text.trimEnd(), escaped) : escaped;
  const lines = text.split('\n');
  return escaped
    .split('\n')
    .map((line, index) => {
      return index > 0 || startsBlock ? escapeLineStart((lines[index] ?? '').trimEnd(), line) : line;
    })
    .join('\n');
}
