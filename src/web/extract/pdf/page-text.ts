import {escapeLines} from '../inline/escape-lines.ts';
import {pairingDelimiters} from '../inline/escape-text.ts';
import {visibleText} from '../tree/visible-text.ts';

/** A run of text as it is drawn; lengths in points, y upwards. */
export interface TextRun {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
}

/** Lines further apart than this, in heights of a line, are of two paragraphs. */
const PARAGRAPH_GAP = 1.7;
const HYPHENATED = /\p{L}[-\u2010]$/u;
const GOES_ON = /^\p{Ll}/u;

/** The text of a page: lines, put together to paragraphs by the space between them. */
export class PageText {
  readonly #lines: Line[] = [];
  #text = '';
  #y = 0;
  #height = 0;

  add({str, transform, height, hasEOL}: TextRun): void {
    if (str.trim() !== '') {
      if (this.#text.trim() === '') this.#y = transform[5] ?? 0;
      this.#height = Math.max(this.#height, height);
    }
    this.#text += str;
    if (hasEOL) this.#endLine();
  }

  markdown(): string {
    this.#endLine();
    const paragraphs: string[] = [];
    let paragraph = '';
    let above: Line | undefined;
    for (const line of this.#lines) {
      if (above !== undefined && isApart(above, line)) {
        paragraphs.push(paragraph);
        paragraph = line.text;
      } else if (HYPHENATED.test(paragraph) && GOES_ON.test(line.text)) {
        paragraph = `${paragraph.slice(0, -1)}${line.text}`;
      } else {
        paragraph = paragraph === '' ? line.text : `${paragraph}\n${line.text}`;
      }
      above = line;
    }
    paragraphs.push(paragraph);
    return paragraphs
      .filter(text => text !== '')
      .map(escapeParagraph)
      .join('\n\n');
  }

  #endLine(): void {
    const written = this.#text.trimEnd().replace(/\u00ad$/, '-');
    const text = visibleText(written).replace(/\s+/g, ' ').trim();
    if (text !== '') this.#lines.push({text, y: this.#y, height: this.#height});
    this.#text = '';
    this.#height = 0;
  }
}

/** Upwards is the next column, where a paragraph may go on. */
function isApart(above: Line, line: Line): boolean {
  const distance = above.y - line.y;
  return distance > PARAGRAPH_GAP * Math.max(above.height, line.height, 1);
}

/** Ruling D7: what is drawn is text, whatever it would mean in Markdown. */
function escapeParagraph(text: string): string {
  const delimiters = pairingDelimiters([text], false);
  return escapeLines(text, {delimiters, inLink: false, startsBlock: true, kind: 'paragraph'});
}
