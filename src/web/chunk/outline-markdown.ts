import {blocksOf} from './blocks.ts';

export interface OutlineSection {
  /** As in `heading` of a chunk, inline markup included; '' for what stands before the first heading. */
  readonly heading: string;
  /** 1 to 6; 0 for what stands before the first heading. */
  readonly level: number;
  /** cl100k tokens of the heading and the text up to the next heading of any level. */
  readonly tokens: number;
  /** The same, with the sections below this one. */
  readonly tokens_with_subsections: number;
  readonly sections: readonly OutlineSection[];
}

export interface Outline {
  /** cl100k tokens of the whole document. */
  readonly total_tokens: number;
  readonly sections: readonly OutlineSection[];
}

interface Mark {
  readonly heading: string;
  readonly level: number;
  readonly start: number;
}

/**
 * The headings of a document as a tree, as the chunker sees them: a `#` line in a code fence or a list is
 * none, and one without text names nothing. A heading belongs to the closest one above it of a lower level.
 *
 * Every number is an exact count of its own piece of text. Tokens can reach over the place where two pieces
 * meet, so the parts need not add up to the whole.
 */
export function outlineMarkdown(text: string, countTokens: (text: string) => number): Outline {
  const markdown = text.replaceAll(/\r\n?/g, '\n');
  const marks = findHeadings(markdown);
  const startOf = (index: number): number => marks[index]?.start ?? markdown.length;
  const count = (from: number, to: number): number => countTokens(markdown.slice(from, to).trim());

  /** The sections from `first` on that are deeper than `above`, and the index behind the last of them. */
  const sectionsBelow = (above: number, first: number): [sections: OutlineSection[], next: number] => {
    const sections: OutlineSection[] = [];
    let index = first;
    for (let mark = marks[index]; mark !== undefined && mark.level > above; mark = marks[index]) {
      const {heading, level, start} = mark;
      const [below, next] = sectionsBelow(level, index + 1);
      const tokens = count(start, startOf(index + 1));
      const all = below.length === 0 ? tokens : count(start, startOf(next));
      sections.push({heading, level, tokens, tokens_with_subsections: all, sections: below});
      index = next;
    }
    return [sections, index];
  };

  const [sections] = sectionsBelow(0, 0);
  const preamble = count(0, startOf(0));
  const before = {heading: '', level: 0, tokens: preamble, tokens_with_subsections: preamble, sections: []};
  return {
    total_tokens: count(0, markdown.length),
    sections: preamble > 0 ? [before, ...sections] : sections,
  };
}

function findHeadings(markdown: string): readonly Mark[] {
  const marks: Mark[] = [];
  let from = 0;
  for (const {text, heading} of blocksOf(markdown)) {
    // Only white space lies between two blocks, so what is found is the block itself.
    const start = markdown.indexOf(text, from);
    from = start + text.length;
    if (heading !== undefined) marks.push({heading, level: text.search(/[^#]/), start});
  }
  return marks;
}
