import {describe, expect, test} from 'vitest';
import {chunkMarkdown} from '../../src/web/chunk/chunk-markdown.ts';
import {extractHtml} from '../../src/web/extract/extract-html.ts';
import {countTokens} from '../../src/web/tokens/count-tokens.ts';
import {growth} from './support/documents-growth.ts';
import {HTML_STRUCTURES, TEXT_STRUCTURES} from './support/documents-structures.ts';

/** Per doubling: linear is 2, quadratic 4. */
const LIMIT = 3;
const BYTES = 65_536;
/** Below this a document is converted on the event loop itself (`Offload`). */
const IN_PLACE_BYTES = 32_767;
const IN_PLACE_MS = 250;

const convert = (html: string) => extractHtml(html, {baseUrl: 'http://example.com/', honorBaseHref: false});
const wholeWay = (html: string): number => {
  const {markdown} = convert(html);
  return chunkMarkdown(markdown, 600, countTokens).length;
};

describe('security: t(2n)/t(n), from HTML to counted chunks', () => {
  test.each(Object.entries(HTML_STRUCTURES))('ruling C3 %s', (_, structure) => {
    const {perDoubling, ms} = growth(structure, wholeWay, BYTES, LIMIT);
    expect(perDoubling, `${ms.map(Math.round).join(' → ')} ms`).toBeLessThan(LIMIT);
  });
});

describe('ruling E1 t(2n)/t(n), from text to counted chunks', () => {
  test.each(Object.entries(TEXT_STRUCTURES))('ruling E1 %s', (_, structure) => {
    const chunk = (text: string): unknown => chunkMarkdown(text, 128, countTokens);
    const {perDoubling, ms} = growth(structure, chunk, BYTES, LIMIT);
    expect(perDoubling, `${ms.map(Math.round).join(' → ')} ms`).toBeLessThan(LIMIT);
    const counted = growth(structure, countTokens, BYTES, LIMIT);
    expect(counted.perDoubling, `${counted.ms.map(Math.round).join(' → ')} ms`).toBeLessThan(LIMIT);
  });
});

test('positive control: work that is quadratic is found out, and linear work is not', () => {
  const letters = (size: number): string => 'x'.repeat(size / 256);
  const steps = (count: number): number => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum = (sum * 31 + at) | 0;
    return sum;
  };
  expect(
    growth(letters, ({length}) => steps(length * length * 90), BYTES, LIMIT).perDoubling,
  ).toBeGreaterThan(3.4);
  const quadratic = growth(letters, ({length}) => steps(length * length * 90), BYTES, LIMIT, [[1, 3]]);
  expect(quadratic.perDoubling).toBeGreaterThan(LIMIT);
  expect(growth(letters, ({length}) => steps(length * 25_000), BYTES, LIMIT).perDoubling).toBeLessThan(LIMIT);
});

describe('ruling C3 what is small enough for the event loop does not stall it', () => {
  test('ruling C3 every structure of 32 KB', () => {
    const slow: string[] = [];
    for (const [name, structure] of Object.entries(HTML_STRUCTURES)) {
      const html = structure(IN_PLACE_BYTES).slice(0, IN_PLACE_BYTES);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 5 && best > IN_PLACE_MS; round += 1) {
        const start = process.cpuUsage();
        convert(html);
        best = Math.min(best, process.cpuUsage(start).user / 1000);
      }
      if (best > IN_PLACE_MS) slow.push(`${name}: ${best} ms`);
    }
    expect(slow).toEqual([]);
  });
});

describe('security: nothing grows out of proportion, and no text is lost', () => {
  test('ruling D1 the Markdown of every structure is at most some times as long as its page', () => {
    const long: string[] = [];
    for (const [name, structure] of Object.entries(HTML_STRUCTURES)) {
      const html = structure(BYTES);
      const {length} = convert(html).markdown;
      // Targets become absolute, and are repeated for links that nobody closed: bounded by `LinkTargets`.
      if (length > 10 * html.length + 2 * 1_048_576) long.push(`${name}: ${length} of ${html.length}`);
    }
    expect(long).toEqual([]);
  });

  test.each([
    'div',
    'span',
    'b',
    'blockquote',
    'ul><li',
    'table><tr><td',
    'a href=x',
    'font color=x',
    'section',
    'dl><dd',
  ])('ruling D1 the text inside <%s> 20,000 deep is there', open => {
    const {markdown} = convert(`before${`<${open}>`.repeat(20_000)}needle`);
    expect(markdown).toContain('before');
    expect(markdown).toContain('needle');
  });

  test('ruling D6 a list 10,000 deep, closed properly, keeps every item once', () => {
    const depth = 10_000;
    const html =
      Array.from({length: depth}, (_, level) => `<ul><li>item${level}.`).join('') +
      '</li></ul>'.repeat(depth);
    const {markdown} = convert(html);
    const found = new Set(markdown.match(/item\d+/g));
    expect(found.size).toBe(depth);
    // Indented by level, but not without end: not quadratic.
    expect(markdown.length).toBeLessThan(depth * 1200);
  });
});
