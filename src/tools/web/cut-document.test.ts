import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {cutDocument} from './cut-document.ts';

const wide = {maxBytes: 1_000_000};

describe('review B3: a document that is cut', () => {
  test('what fits is the document itself', () => {
    const document = '```\na\n\n\nb\n```';
    expect(cutDocument({document, maxLength: document.length, ...wide})).toEqual({
      text: document,
      truncated: false,
    });
  });

  test('is cut between blocks, and says how much is missing and how to get it', () => {
    const block = `${'word '.repeat(19)}word.`;
    const document = Array(20).fill(block).join('\n\n');
    const {text, truncated} = cutDocument({document, maxLength: 1000, ...wide});
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThanOrEqual(1000);
    const shown = 8 * block.length + 7 * 2;
    expect(text).toBe(
      `${document.slice(0, shown)}\n\n[Cut here: ${shown} of ${document.length} characters are above. Call again with a larger maxLength for more.]`,
    );
  });

  test('is cut between lines where a block is larger than the room, and between words where a line is', () => {
    const fence = `\`\`\`\n${'a line of code\n'.repeat(100)}\`\`\``;
    expect(cutDocument({document: fence, maxLength: 600, ...wide}).text).toMatch(
      /\na line of code\n\n\[Cut here: /,
    );
    const line = 'word '.repeat(300);
    expect(cutDocument({document: line, maxLength: 600, ...wide}).text).toMatch(/ word\n\n\[Cut here: /);
  });

  test('keeps the bytes of an answer too, and names their setting', () => {
    const document = '\u{1f600}\n'.repeat(500);
    const {text} = cutDocument({document, maxLength: 8000, maxBytes: 1000});
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(1000);
    expect(text).toContain('An answer has at most 1000 bytes here (tools.output.max_bytes,');
  });

  test('a room too small for a mark has none', () => {
    expect(cutDocument({document: 'a\u{1f600}b', maxLength: 2, ...wide})).toEqual({
      text: 'a',
      truncated: true,
    });
  });

  test.each(['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'e\u0301'])(
    'review B8: %s is not cut in two, with a mark and without',
    character => {
      const {length} = character;
      const document = character.repeat(1000);
      for (let maxLength = 1; maxLength < 4 * length; maxLength += 1) {
        const {text} = cutDocument({document, maxLength, ...wide});
        expect(text).toBe(character.repeat(Math.floor(maxLength / length)));
      }
      for (let maxLength = 700; maxLength < 700 + 2 * length; maxLength += 1) {
        const {text} = cutDocument({document, maxLength, ...wide});
        const [kept = ''] = text.split('\n\n[Cut here');
        expect(kept.length).toBeGreaterThan(200);
        expect(kept.length % length).toBe(0);
      }
    },
  );

  test('property: both limits hold, and what is shown is the beginning of the document', () => {
    const part = fc.constantFrom('\n', '\n\n', ' ', 'word', '"', '\u{1f600}', 'ä');
    fc.assert(
      fc.property(
        fc.array(part, {maxLength: 2000}).map(parts => parts.join('')),
        fc.integer({min: 1, max: 3000}),
        fc.integer({min: 2, max: 3000}),
        (document, maxLength, maxBytes) => {
          const {text, truncated} = cutDocument({document, maxLength, maxBytes});
          expect(text.length).toBeLessThanOrEqual(maxLength);
          expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(maxBytes);
          expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
          if (truncated)
            expect(document.startsWith(text.replace(/\n\n\[Cut here: [^\]]*\]$/, ''))).toBe(true);
          else expect(text).toBe(document);
        },
      ),
      {numRuns: 300},
    );
  });
});
