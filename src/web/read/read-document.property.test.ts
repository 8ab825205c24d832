import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {markupSoup} from '../../../test/support/markup-soup.ts';
import {withLineFeeds} from '../chunk/blocks.ts';
import {extractHtml} from '../extract/extract-html.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {checkQuotes} from './check-quotes.ts';
import {readDocument} from './read-document.ts';
import {CHUNK_TOKENS, type Links} from './readable-page.ts';
import type {Ask, Passage, Reading} from './reading.ts';

const word = fc.constantFrom(
  'water',
  'bees',
  'don’t',
  '1.5',
  '-7',
  'naïve',
  'e\u0301t\u00e9',
  '漢字',
  '\u{1f600}',
  'snake_case',
  '2*3',
  '\\*',
  '`code`',
  '**bold**',
  '[1]',
  '[bees](https://e.com/a)',
  '![bee](https://e.com/b.png)',
  '[](https://e.com/empty)',
  '“said”',
  'x'.repeat(900),
);
const sentence = fc.array(word, {minLength: 1, maxLength: 30}).map(words => `${words.join(' ')}.`);
const block = fc.oneof(
  {weight: 4, arbitrary: fc.array(sentence, {minLength: 1, maxLength: 12}).map(all => all.join(' '))},
  fc.tuple(fc.integer({min: 1, max: 6}), sentence).map(([level, text]) => `${'#'.repeat(level)} ${text}`),
  fc.array(sentence, {minLength: 1, maxLength: 8}).map(items => items.map(item => `- ${item}`).join('\n')),
  fc
    .array(sentence, {minLength: 1, maxLength: 5})
    .map(rows => `| a | b |\n|---|---|\n${rows.map(row => `| ${row} | x |`).join('\n')}`),
  fc
    .array(fc.string({maxLength: 60}), {maxLength: 30})
    .map(lines => `\`\`\`\n${lines.join('\n').replaceAll('`', "'")}\n\`\`\``),
  fc.string({unit: 'binary', maxLength: 200}),
  fc.constantFrom(
    '](((((',
    '[[[[[[',
    '`'.repeat(40),
    '> quoted\n> more',
    '---',
    '| |',
    ' '.repeat(400),
    'a\n'.repeat(90),
  ),
);
const written = fc
  .array(fc.tuple(block, fc.constantFrom('\n', '\n\n', '\n\n\n')), {maxLength: 25})
  .map(blocks => withLineFeeds(blocks.flat().join('')));
const converted = markupSoup.map(html =>
  withLineFeeds(extractHtml(html, {baseUrl: 'https://e.com/', honorBaseHref: false}).markdown),
);
const document = fc.oneof(written, converted);
/** A failure is reported as it is found: making a document of this size smaller takes minutes. */
const RUNS = {numRuns: 50, endOnFailure: true};
const links = fc.constantFrom<Links>('drop', 'keep');
const maxTokens = fc.integer({min: CHUNK_TOKENS, max: 2000});

function read(markdown: string, ask: Ask, settings: {links: Links; maxTokens: number}): Reading {
  const reading = readDocument(markdown, ask, {...settings, countTokens});
  if (!reading.ok) throw new Error(reading.error.message);
  return reading.value;
}

/** Everything from chunk 1 on, as a model would ask for it. */
function readOn(markdown: string, settings: {links: Links; maxTokens: number}): readonly Passage[] {
  const passages: Passage[] = [];
  for (let chunk: number | undefined = markdown === '' ? undefined : 1; chunk !== undefined; ) {
    const {passages: found, next_chunk} = read(markdown, {kind: 'chunk', chunk}, settings);
    passages.push(...found);
    chunk = next_chunk;
  }
  return passages;
}

describe('R1 reading a document', () => {
  test('R1: all chunks in order are the document, whatever is asked for at a time, and never more tokens than asked', () => {
    fc.assert(
      fc.property(document, maxTokens, (markdown, most) => {
        const passages = readOn(markdown, {links: 'keep', maxTokens: most});
        expect(passages.map(({text}) => text).join('')).toBe(markdown);
        let end = 0;
        for (const passage of passages) {
          expect(passage.tokens).toBe(countTokens(passage.text));
          expect(passage.tokens).toBeLessThanOrEqual(most);
          expect(passage.start).toBe(end);
          end = passage.end;
        }
        expect(end).toBe([...markdown].length);
      }),
      RUNS,
    );
  });

  test('R1: a number of a chunk means the same whatever else is asked', () => {
    fc.assert(
      fc.property(document, maxTokens, maxTokens, links, (markdown, one, other, kind) => {
        const starts = new Map(
          readOn(markdown, {links: 'keep', maxTokens: one}).map(p => [p.chunk, p.start]),
        );
        for (const {chunk, start} of readOn(markdown, {links: kind, maxTokens: other})) {
          expect(starts.get(chunk) ?? start).toBe(start);
        }
      }),
      RUNS,
    );
  });

  test('R1: the tokens of the outline and of the page are those of what is shown', () => {
    fc.assert(
      fc.property(document, links, (markdown, kind) => {
        const settings = {links: kind, maxTokens: 10_000_000};
        const whole = read(markdown, {kind: 'overview'}, settings);
        expect(whole.total_tokens).toBe(countTokens((whole.passages[0]?.text ?? '').trimEnd()));
        const {outline = []} = read(markdown, {kind: 'overview'}, {links: kind, maxTokens: CHUNK_TOKENS});
        for (const {number, tokens} of outline) {
          const {passages} = read(markdown, {kind: 'section', section: number, fragment: false}, settings);
          expect(tokens).toBe(countTokens(trimEnd(passages[0]?.text ?? '')));
        }
      }),
      RUNS,
    );
  });

  test('R1: every text that was shown with its links verifies as exact', () => {
    fc.assert(
      fc.property(document, maxTokens, (markdown, most) => {
        const shown = readOn(markdown, {links: 'keep', maxTokens: most}).map(({text}) => text);
        const quotes = shown.filter(text => text.trim() !== '').slice(0, 8);
        for (const [index, {verdict}] of checkQuotes(markdown, quotes, countTokens).entries()) {
          expect(verdict, quotes[index]).toBe('exact');
        }
      }),
      RUNS,
    );
  });

  test('R1: a quote with one changed word never verifies', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.nat(), (markdown, at, size) => {
        const words = markdown.split(/(\s+)/);
        const first = words.length === 0 ? 0 : at % words.length;
        const quote = words.slice(first, first + 1 + (size % 20));
        const changed = quote.findIndex(one => /^\p{L}+$/u.test(one));
        if (changed < 0) return;
        quote[changed] = 'zyzzyva';
        const [check] = checkQuotes(markdown, [quote.join('')], countTokens);
        expect(['near', 'absent']).toContain(check?.verdict);
      }),
      RUNS,
    );
  });
});

function trimEnd(text: string): string {
  return text.replace(/\p{White_Space}+$/u, '');
}
