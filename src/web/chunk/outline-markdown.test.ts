import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {oracleCount} from '../../../test/support/cl100k-oracle.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {type OutlineSection, outlineMarkdown} from './outline-markdown.ts';

const outline = (markdown: string) => outlineMarkdown(markdown, countTokens);

function flat(sections: readonly OutlineSection[], depth = 0): [number, number, string][] {
  return sections.flatMap(({heading, level, sections: below}) => [
    [depth, level, heading] as [number, number, string],
    ...flat(below, depth + 1),
  ]);
}

describe('the outline of a document', () => {
  test('policy: a heading belongs to the closest one above it of a lower level, skipped levels included', () => {
    const {sections} = outline('# A\n\n### B\n\n## C\n\ntext\n\n#### D\n\n# E\n\n## F');
    expect(flat(sections)).toEqual([
      [0, 1, 'A'],
      [1, 3, 'B'],
      [1, 2, 'C'],
      [2, 4, 'D'],
      [0, 1, 'E'],
      [1, 2, 'F'],
    ]);
  });

  test('policy: a document that starts deep keeps its headings', () => {
    expect(flat(outline('### A\n\n## B\n\n# C').sections)).toEqual([
      [0, 3, 'A'],
      [0, 2, 'B'],
      [0, 1, 'C'],
    ]);
  });

  test('policy: a # line of a code fence, a tag and an empty heading are none', () => {
    const markdown = '# A\n\n```sh\n# comment\n\n# more\n```\n\n#tag\n\n#\n\n~~~\n## B\n~~~';
    expect(flat(outline(markdown).sections)).toEqual([[0, 1, 'A']]);
  });

  test('policy: every number is the exact count of its piece of text', () => {
    const markdown = 'before it\n\n# A\n\none two\n\n## B\n\nthree\n\n# C\n';
    expect(outline(markdown)).toEqual({
      total_tokens: oracleCount(markdown.trim()),
      sections: [
        {
          heading: '',
          level: 0,
          tokens: oracleCount('before it'),
          tokens_with_subsections: oracleCount('before it'),
          sections: [],
        },
        {
          heading: 'A',
          level: 1,
          tokens: oracleCount('# A\n\none two'),
          tokens_with_subsections: oracleCount('# A\n\none two\n\n## B\n\nthree'),
          sections: [
            {
              heading: 'B',
              level: 2,
              tokens: oracleCount('## B\n\nthree'),
              tokens_with_subsections: oracleCount('## B\n\nthree'),
              sections: [],
            },
          ],
        },
        {heading: 'C', level: 1, tokens: 2, tokens_with_subsections: 2, sections: []},
      ],
    });
  });

  test('policy: a heading that the text before it repeats is found where it stands', () => {
    const {sections} = outline('a ## B\n\n  \n## B\n\ntext\n\n## B\n\nmore text');
    expect(sections.map(({heading, tokens}) => [heading, tokens])).toEqual([
      ['', oracleCount('a ## B')],
      ['B', oracleCount('## B\n\ntext')],
      ['B', oracleCount('## B\n\nmore text')],
    ]);
  });

  test('policy: an empty document has no sections', () => {
    expect(outline('')).toEqual({total_tokens: 0, sections: []});
    expect(outline(' \r\n\r\n')).toEqual({total_tokens: 0, sections: []});
  });

  test('policy: nothing of a document is outside its sections', () => {
    const line = fc.constantFrom(
      '# A',
      '## B',
      '###### C',
      '#',
      'text',
      '',
      '- item',
      '  ## D',
      '```',
      '\t',
      '# A ',
    );
    fc.assert(
      fc.property(fc.array(line, {maxLength: 30}), lines => {
        const markdown = lines.join('\n');
        // Counted by characters that are no white space, parts do add up.
        const {total_tokens, sections} = outlineMarkdown(markdown, text => text.replaceAll(/\s/g, '').length);
        const sum = sections.reduce((total, section) => total + section.tokens_with_subsections, 0);
        expect(sum).toBe(total_tokens);
      }),
    );
  });
});
