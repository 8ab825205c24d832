import {describe, expect, test} from 'vitest';
import {countTokens} from '../../tokens/count-tokens.ts';
import {checkQuotes} from './check-quotes.ts';

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
    ['# Head\n\nText with\nbreaks.', 'Head Text with breaks.'],
    ['| a | b |\n|---|---|\n| one | two |', 'one two'],
    ['- one\n- two', 'one two'],
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
