import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {oracleCount} from '../../../test/support/cl100k-oracle.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {blocksOf} from './blocks.ts';
import {chunkMarkdown, planChunks} from './plan-chunks.ts';
import {splitBlock} from './split-block.ts';

test('ruling E2 a chunk is one part of the document where a blank line is all that stands between its blocks', () => {
  const {chunks} = planChunks('a\n\nb\n\n\nc  \n\nd\n# e', {maxTokens: 128, countTokens});
  expect(chunks.map(({parts}) => parts)).toEqual([[0, 4, 7, 8, 12, 13, 14, 17]]);
});

test('ruling E2 a document may begin with what would separate two blocks', () => {
  const {chunks} = planChunks('\n\na\n\nb', {maxTokens: 128, countTokens});
  expect(chunks.map(({parts}) => parts)).toEqual([[2, 6]]);
});

describe('chunk markdown', () => {
  const chunk = (markdown: string, maxTokens: number) => chunkMarkdown(markdown, maxTokens, countTokens);
  const textsOf = (markdown: string, maxTokens: number) => chunk(markdown, maxTokens).map(({text}) => text);
  const words = (count: number) => Array.from({length: count}, () => 'word').join(' ');

  const fragment = fc.constantFrom(
    ...[
      'word',
      'the',
      'Hello',
      '123456',
      'foo.',
      'bar!',
      'q?',
      '...',
      '?!)',
      '`',
      "'s",
      "'ſ",
      '=>{};',
      '| a | b |',
    ],
    ...[
      ' ',
      ' ',
      ' ',
      '  ',
      '\t',
      '\u00a0',
      '\u3000',
      '\u2028',
      '\u0085',
      '\ufeff',
      '\r',
      '\r\n',
      '\n',
      '\n',
      '\n',
    ],
    ...[
      '\n\n',
      '\n\n',
      '\n \n',
      '\n\n\n',
      '\n- ',
      '\n  - ',
      '\n    * ',
      '\n1. ',
      '- ',
      '\n# ',
      '\n## T',
      '#',
    ],
    ...[
      '\n```\n',
      '\n```js\n',
      '\n````\n',
      '\n~~~\n',
      '\n  ```\n',
      '\n- ```\n',
      '\n    code',
      '\n  more',
      '});\n',
    ],
    ...[
      '中文字符。',
      'русский',
      '😀',
      '👩‍👧',
      '\ud800',
      '\udc00',
      'a'.repeat(40),
      'x7Gh2kQp9ZzR4tY',
      '-'.repeat(30),
    ],
  );
  const documents = fc
    .array(
      fc.tuple(fragment, fc.oneof({weight: 20, arbitrary: fc.constant(1)}, fc.integer({min: 2, max: 40}))),
      {
        maxLength: 80,
      },
    )
    .map(parts => parts.map(([text, times]) => text.repeat(times)).join(''));
  const limits = fc.constantFrom(6, 10, 20, 50, 128);

  const withoutWhiteSpace = (text: string) => text.replaceAll(/\p{White_Space}+/gu, '');

  describe('T-WF-CHK-01 chunk sizes do not exceed max_chunk_tokens', () => {
    test('T-WF-CHK-01 the joined text of a chunk is what counts (ruling E2)', {tags: 'slow'}, () => {
      fc.assert(
        fc.property(documents, limits, (markdown, maxTokens) => {
          for (const {text} of chunk(markdown, maxTokens)) {
            const tokens = oracleCount(text);
            // E4: a line of code. A single code point can be larger than the smallest of these limits, too.
            if (tokens > maxTokens) expect(text).not.toMatch(/\n/);
          }
        }),
        {numRuns: 300},
      );
    });

    test('T-WF-CHK-01 outside code nothing is larger', () => {
      const prose = documents.map(markdown => markdown.replaceAll(/[`~]/g, ''));
      fc.assert(
        fc.property(prose, fc.constantFrom(8, 20, 128), (markdown, maxTokens) => {
          for (const {text} of chunk(markdown, maxTokens))
            expect(oracleCount(text)).toBeLessThanOrEqual(maxTokens);
        }),
        {numRuns: 300},
      );
    });

    test('T-WF-CHK-01 the separator counts: two blocks that fit one by one, but not joined, are two chunks', () => {
      expect(textsOf('one two\n\nthree four', 5)).toEqual(['one two\n\nthree four']);
      expect(textsOf('one two\n\nthree four', 4)).toEqual(['one two', 'three four']);
    });

    test('T-WF-CHK-01 blocks are packed as a full recount of the joined text would pack them', () => {
      fc.assert(
        fc.property(documents, limits, (markdown, maxTokens) => {
          expect(textsOf(markdown, maxTokens)).toEqual(recounted(markdown, maxTokens));
        }),
        {numRuns: 300},
      );
    });

    function recounted(markdown: string, maxTokens: number): string[] {
      const texts: string[] = [];
      let open: string[] = [];
      const emit = () => {
        if (open.length > 0) texts.push(open.join('\n\n'));
        open = [];
      };
      for (const block of blocksOf(markdown.replaceAll(/\r\n?/g, '\n'))) {
        if (open.length > 0 && oracleCount([...open, block.text].join('\n\n')) > maxTokens) emit();
        if (oracleCount(block.text) <= maxTokens) {
          open.push(block.text);
        } else {
          emit();
          texts.push(...splitBlock(block, {maxTokens, countTokens}).map(piece => piece.text));
        }
      }
      emit();
      return texts;
    }
  });

  describe('T-WF-CHK-02 oversized blocks are split at sentence boundaries', () => {
    test('T-WF-CHK-02 sentences are packed greedily, the white space at the cut goes', () => {
      const sentence = `${words(9)}.`;
      const block = Array.from({length: 5}, () => sentence).join('  ');
      expect(textsOf(block, 25)).toEqual([`${sentence}  ${sentence}`, `${sentence}  ${sentence}`, sentence]);
    });

    test('T-WF-CHK-02 a stop ends a sentence before white space only', () => {
      const version = `${words(8)} v1.2.3 ${words(8)}`;
      expect(textsOf(`${version}! ${version}?\n${version}`, 30)).toEqual([
        `${version}!`,
        `${version}?`,
        version,
      ]);
    });

    test('T-WF-CHK-02 a sentence that is too large is cut at white space', () => {
      const pieces = textsOf(`${words(50)}.`, 20);
      expect(pieces.map(countTokens)).toEqual([20, 20, 11]);
      expect(pieces.join(' ')).toBe(`${words(50)}.`);
    });

    test('T-WF-CHK-02 a word that is too large is cut between code points, as late as fits', () => {
      fc.assert(
        fc.property(
          fc.string({
            unit: fc.constantFrom('😀', '的', 'é', 'a', 'Q', '7', '-', '𝔸', '👩‍👧'),
            minLength: 30,
            maxLength: 200,
          }),
          fc.constantFrom(8, 13, 30),
          (word, maxTokens) => {
            const pieces = textsOf(word, maxTokens);
            expect(pieces.join('')).toBe(word);
            pieces.forEach((piece, index) => {
              expect(piece).not.toMatch(/\p{Surrogate}/u);
              const next = String.fromCodePoint(pieces[index + 1]?.codePointAt(0) ?? 0);
              if (index + 1 < pieces.length) expect(oracleCount(piece + next)).toBeGreaterThan(maxTokens);
            });
          },
        ),
        {numRuns: 200},
      );
    });

    test('T-WF-CHK-02 the pieces of a block, joined, give it back but for white space at the cuts', () => {
      fc.assert(
        fc.property(documents, limits, (markdown, maxTokens) => {
          for (const block of blocksOf(markdown.replaceAll(/\r\n?/g, '\n'))) {
            let at = 0;
            for (const {text} of splitBlock(block, {maxTokens, countTokens})) {
              const found = block.text.indexOf(text, at);
              expect(withoutWhiteSpace(block.text.slice(at, found))).toBe('');
              at = found + text.length;
            }
            expect(at).toBe(block.text.length);
          }
        }),
        {numRuns: 200},
      );
    });
  });

  describe('T-WF-CHK-03 the heading is tracked across chunks', () => {
    test('T-WF-CHK-03 a chunk has the heading of its first block, else the one in force before it', () => {
      const [full, most, part] = [words(26), words(24), words(20)];
      const markdown = `${full}\n\n# One\n\n${part}\n\n${most}\n\n## *Two*\n\n${part} a\n\n#\n\n${most}`;
      expect(chunk(markdown, 26).map(({heading, text}) => [heading, text])).toEqual([
        ['', full],
        ['One', `# One\n\n${part}`],
        ['One', most],
        ['*Two*', `## *Two*\n\n${part} a`],
        ['*Two*', `#\n\n${most}`],
      ]);
    });

    test('ruling E5: a heading does not force a new chunk, nor does a later one rename it', () => {
      expect(chunk('a\n\n# B\n\nc\n\n# D', 100)).toEqual([
        {heading: '', text: 'a\n\n# B\n\nc\n\n# D', token_count: countTokens('a\n\n# B\n\nc\n\n# D')},
      ]);
    });

    test('FR-WF-CHK-HEAD-02 the pieces of an oversized heading block all have its heading', () => {
      const chunks = chunk(`# Title\n${words(40)}`, 16);
      expect(chunks.map(({heading}) => heading)).toEqual(['Title', 'Title', 'Title']);
      expect(chunks[0]?.text).toMatch(/^# Title\nword/);
    });
  });

  test('T-WF-CHK-04 token_count is the exact count of text, and of nothing else', () => {
    fc.assert(
      fc.property(documents, limits, (markdown, maxTokens) => {
        for (const {text, token_count} of chunk(markdown, maxTokens))
          expect(token_count).toBe(oracleCount(text));
      }),
      {numRuns: 400},
    );
  });

  describe('T-WF-DET-03 chunking is deterministic', () => {
    test('T-WF-DET-03 the same document gives the same chunks', () => {
      fc.assert(
        fc.property(documents, limits, (markdown, maxTokens) => {
          expect(chunk(markdown, maxTokens)).toEqual(chunk(markdown, maxTokens));
        }),
        {numRuns: 100},
      );
    });

    test('T-WF-DET-03 line endings do not matter', () => {
      const markdown = '# A\n\nb\nc\n\n- d\n- e\n\n```\nf\n\ng\n```';
      expect(chunk(markdown.replaceAll('\n', '\r\n'), 10)).toEqual(chunk(markdown, 10));
    });
  });

  describe('E5: a list marker belongs to its item', () => {
    test.each([
      ['1. ', `1. ${words(60)}`],
      ['- ', `- ${words(60)}`],
      ['12) ', `12) ${'x'.repeat(400)}`],
      ['nested', `1. ${words(60)}\n   1. ${words(60)}\n2. ${words(60)}`],
      ['before a fence', `1. ${words(60)}\n   \`\`\`\n   ${words(60)}\n   \`\`\`\n2. ${words(60)}`],
    ])('E5: no piece is a bare marker: %s', (_, markdown) => {
      for (const limit of [16, 17, 20, 40]) {
        const texts = textsOf(markdown, limit);
        expect(texts.filter(text => /^\s*(?:[-+*]|\d+[.)])\s*$/.test(text))).toEqual([]);
        expect(withoutWhiteSpace(texts.join(''))).toBe(withoutWhiteSpace(markdown));
      }
    });
  });

  test('FR-WF-15f all text is returned, in document order', () => {
    fc.assert(
      fc.property(documents, limits, (markdown, maxTokens) => {
        const texts = textsOf(markdown, maxTokens);
        expect(withoutWhiteSpace(texts.join(''))).toBe(withoutWhiteSpace(markdown));
        for (const text of texts) expect(text).toMatch(/^[^\n]*\P{White_Space}.*(?<=\P{White_Space})$/su);
      }),
      {numRuns: 300},
    );
  });

  test('FR-WF-15f a cut between a marker and what it belongs to leaves no blanks at the end', () => {
    for (const text of textsOf('\n- \u0085\u3000\n    * \u0085', 6)) expect(text).toBe(text.trimEnd());
    const chunks = chunk('- \u0085\u3000\n    * a', 6);
    expect(chunks.map(({text}) => text)).toEqual(['-', '    * a']);
    expect(chunks.map(({token_count}) => token_count)).toEqual([countTokens('-'), countTokens('    * a')]);
  });

  test('FR-WF-15f no piece begins with a blank line, whatever ends that line', () => {
    expect(textsOf('\n1.  \u2028\n    code', 6)).toEqual(['1.', '    code']);
  });

  test('ruling E6: an empty document has no chunks', () => {
    expect(chunk('', 128)).toEqual([]);
    expect(chunk(' \n\t\n\u3000', 128)).toEqual([]);
  });

  test('a hostile megabyte in one line is cut in bounded time', {tags: 'stress'}, () => {
    const started = performance.now();
    expect(chunk('a'.repeat(1 << 20), 600).length).toBe(219);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
