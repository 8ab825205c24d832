import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {oracleCount} from '../../../test/support/cl100k-oracle.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {checkQuotes} from './check-quotes.ts';
import {compareSections} from './compare-sections.ts';
import {type OutlineSection, outlineMarkdown} from './outline.ts';

function answerOf(markdown: string, quote: string): string | undefined {
  return checkQuotes(markdown, [quote], countTokens)[0]?.verdict;
}

describe('R1 what is a quote', () => {
  test.each([
    ['He is unable to come.', 'able to come'],
    ['It has 1.5 million words.', '5 million words'],
    ['It has 5.3 words.', 'It has 5'],
    ['At -7 degrees.', '7 degrees'],
    ['2*3 is six.', '23 is six.'],
    ['A snake_case name.', 'A snakecase name.'],
  ])('R1: a page that says %j does not say %j', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toMatch(/^(?:near|absent)$/);
  });

  test.each([
    ['He “said” so — once…', 'He "said" so - once...'],
    ['Some **bold** and [linked](https://e.com/a) words.', 'Some bold and linked words.'],
    ['Some bold words.', 'Some **bold** words.'],
    ['# Head\n\nText with\nbreaks.', 'Head\n\nText with breaks.'],
    ['| a | b |\n|---|---|\n| one | two |', '|one|two|'],
    ['- one\n- two', '* one\n* two'],
    ['> one\n> two', 'one two'],
    ['> # one\n> two', '# one\n\ntwo'],
    ['Cafe\u0301 and soft\u00adhyphen.', 'Caf\u00e9 and softhyphen.'],
    ['A literal \\*star\\*.', 'A literal *star*.'],
    ['A ![bee](https://e.com/b.png) here.', 'A ![bee] here.'],
  ])('R1: %j is the same as %j', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toBe('same');
  });

  test.each([
    ['漢字の文。', '字の'],
    ['From 3-5 years.', '5 years'],
    ['It costs $5.', '5'],
    ['The end of 2016.', 'The end of 2016'],
  ])('R1: %j has %j word for word', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toBe('exact');
  });

  test.each([
    ['It has 1 500 000 members.', '500 000 members'],
    ['It has 1\u00a0500\u00a0000 members.', '500 000 members'],
    ['It has 1\u202f500\u202f000 members.', '500\u202f000 members'],
    ["It has 1'500'000 members.", "500'000 members"],
    ['It has 1’500’000 members.', '500’000 members'],
    ['The price is 1 500 000 euros.', 'The price is 1 500'],
    ['The price is 1 500 euros.', 'The price is 1'],
    ['It was –7 degrees.', '7 degrees'],
    ['It was −7 degrees.', '7 degrees'],
    ['Some 10^15 ants.', 'Some 10'],
    ['Some 10^15 ants.', '15 ants'],
    ['Some 10^-15 grams.', '15 grams'],
    ['Add 1 ½ cups.', '½ cups'],
    ['Add 1 ½ cups.', 'Add 1'],
    ['We found that a =\u0338 b.', 'We found that a ='],
    ['A resume\u0301 of it.', 'A resume'],
  ])('red team F11: a page that says %j does not say %j', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toMatch(/^(?:near|absent)$/);
  });

  test.each([
    ['In 2016 500 people came.', '500 people came'],
    ['In 2016 500 people came.', 'In 2016'],
    ['It took 5 of 100 days.', 'It took 5'],
    ['From 3–5 years.', '5 years'],
    ['About 1 000 days.', 'About 1 000'],
    ['I \u2764\ufe0f bees.', 'I \u2764'],
  ])('red team F11: %j has %j word for word', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toBe('exact');
  });

  test.each(
    // biome-ignore format: a case is a line
    [
      ['The bank lost\n\nfive million dollars.', 'The bank lost five million dollars.', 'The bank lost\nfive million dollars'],
      ['> The bank lost\n>\n> five million.', 'The bank lost five million.', 'The bank lost\nfive million'],
      ['She said: the bank lost\n\n## Five million', 'the bank lost Five million', 'the bank lost\nFive million'],
      ['# The bank lost\nfive million.', 'The bank lost five million.', 'The bank lost\nfive million'],
      ['| a | b |\n|---|---|\n| guilty of nothing | fraud |', 'guilty of nothing fraud', 'guilty of nothing\nfraud'],
      ['- guilty of nothing\n- fraud', 'guilty of nothing fraud', 'guilty of nothing\nfraud'],
      ['The bank ![lost](https://e.com/a) five.', 'The bank lost five.', 'The bank\nlost\nfive'],
    ],
  )('red team F12: a border in %j is not crossed by %j', (markdown, quote, text) => {
    expect(checkQuotes(markdown, [quote], countTokens)).toMatchObject([{verdict: 'near', share: 1, text}]);
  });

  test.each([
    ['~~The bank lost.~~ It won.', 'The bank lost.', 'exact', ['struck']],
    ['The bank ~~never~~ lost.', 'The bank never lost.', 'same', ['struck']],
    ['A ~~bank~~ and ![bank](https://e.com/a)', '~~bank~~ and ![bank]', 'exact', ['struck', 'picture']],
    ['A ![The bank lost.](https://e.com/a) x', 'The bank lost.', 'exact', ['picture']],
    ['~~a~~ The bank lost. ~~b~~', 'The bank lost.', 'exact', undefined],
    ['a ~~ The bank lost. ~~ b', 'The bank lost.', 'exact', undefined],
    ['Well![sic] The bank lost.', 'Well![sic] The', 'exact', undefined],
  ])('red team F12: of %j, %j is %s within %j', (markdown, quote, verdict, within) => {
    const [check] = checkQuotes(markdown, [quote], countTokens);
    expect(check).toMatchObject({verdict, ...(within && {within})});
    expect(Object.hasOwn(check ?? {}, 'within')).toBe(within !== undefined);
  });

  test.each([
    ['See [this](https://e.com/the-bank-lost) now.', 'the-bank-lost'],
    ['See ![this](https://e.com/the-bank-lost) now.', 'the-bank-lost'],
    ['See [this](https://e.com/a "the bank lost") now.', 'the bank lost'],
    ['See [this](https://e.com/the-bank-lost) now.', 'the-bank-lost) now.'],
  ])('red team F23: the address in %j does not say %j', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toMatch(/^(?:near|absent)$/);
  });

  test.each([
    ['See [this](https://e.com/a) now.', '[this](https://e.com/a)'],
    ['[a](https://e.com/a)[b](https://e.com/b)', '[b](https://e.com/b)'],
    ['See <https://e.com/a> now.', 'https://e.com/a'],
  ])('red team F23: %j has %j, which a reader sees', (markdown, quote) => {
    expect(answerOf(markdown, quote)).toBe('exact');
  });

  test('R1: a near quote has the longest run of its words, an absent one the nearest passage', () => {
    const filler = 'Nothing of interest stands here at all, and nobody reads it. '.repeat(60);
    const markdown = `# One\n\n${filler}\n\n# Two\n\nBees drink up to a litre of water a day.\n`;
    expect(checkQuotes(markdown, ['bees DRINK up to a gallon'], countTokens)).toMatchObject([
      {verdict: 'near', share: 5 / 6, text: 'Bees drink up to a', section: {number: 2, heading: 'Two'}},
    ]);
    const [absent] = checkQuotes(markdown, ['How much litre would wasps have'], countTokens);
    expect(absent).toMatchObject({verdict: 'absent', section: {number: 2}});
    expect(checkQuotes(markdown, ['xylophone'], countTokens)).toEqual([{verdict: 'absent'}]);
    expect(checkQuotes(markdown, ['***'], countTokens)).toEqual([{verdict: 'absent'}]);
  });

  test('R1: positions are code points, and the link has the characters of the page', () => {
    const [check] = checkQuotes('\u{1f600}\u{1f600} He “said” so.', ['He “said” so.'], countTokens);
    expect(check).toMatchObject({start: 3, end: 16, fragment: ':~:text=He%20%E2%80%9Csaid%E2%80%9D%20so.'});
  });
});

const compare = (before: string, now: string) => {
  const {sections, gone} = compareSections(before, now, 's');
  return {now: sections.map(({number, change}) => `${number} ${change}`), gone};
};

test('R1: a section is known by its headings; text below it is not its own', () => {
  const page = '# A\n\nx\n\n## B\n\ny\n\n# C\n\nz\n';
  expect(compare(page, page)).toEqual({now: [], gone: []});
  expect(compare(page, page.replace('y', 'yy'))).toEqual({now: ['2 changed'], gone: []});
  expect(compare(page, page.replace('# C', '# D'))).toEqual({now: ['3 new'], gone: ['C']});
  expect(compare(page, `${page}\n`)).toEqual({now: [], gone: []});
  expect(compare(page, `before\n\n${page}`)).toEqual({now: ['0 new'], gone: []});
});

test('R1: of sections with the same headings, those that stayed are put together first', () => {
  const entries = (texts: readonly string[]) => texts.map(text => `## Entry\n\n${text}`).join('\n\n');
  expect(compare(entries(['a', 'b']), entries(['new', 'a', 'b']))).toEqual({now: ['1 new'], gone: []});
  expect(compare(entries(['a', 'b', 'c']), entries(['a', 'x', 'c']))).toEqual({now: ['2 changed'], gone: []});
  expect(compare(entries(['a', 'a']), entries(['a']))).toEqual({now: [], gone: ['Entry']});
});

test('R1: at most thirty sections are named', () => {
  const page = (text: string) =>
    Array.from({length: 50}, (_, index) => `# H${index}\n\n${text}`).join('\n\n');
  const {sections, left_out} = compareSections(page('a'), page('b'), 's');
  expect([sections.length, left_out]).toEqual([30, 20]);
});

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
