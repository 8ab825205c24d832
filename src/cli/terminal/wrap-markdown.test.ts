import fc from 'fast-check';
import {expect, test} from 'vitest';
import {wrapMarkdown} from './wrap-markdown.ts';
import {wrapText} from './wrap-text.ts';

test('policy: prose is broken at blanks, and goes on below its text', () => {
  const markdown = [
    'one two three four',
    '- one two three four',
    '  1. one two three four',
    '> one two three four',
    '一二三四五六 七八',
  ].join('\n');
  expect(wrapMarkdown(markdown, 12).split('\n')).toEqual([
    'one two',
    'three four',
    '- one two',
    '  three four',
    '  1. one two',
    '     three',
    '     four',
    '> one two',
    '> three four',
    '一二三四五六',
    '七八',
  ]);
});

test('policy: code, tables and headings keep their lines, and a long word is whole', () => {
  const markdown = [
    '```js',
    'const one = two + three;',
    '~~~',
    '``` not the end',
    'still code, and long',
    '```',
    '| a table | with cells |',
    '# A heading that is long',
    '    indented code of many words',
    'https://example.com/a/long/address',
  ];
  expect(wrapMarkdown(markdown.join('\n'), 12).split('\n')).toEqual(markdown);
});

test('property: words and their order stay, and no line is wider than it has to be', () => {
  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  fc.assert(
    fc.property(
      fc.array(word, {minLength: 1, maxLength: 30}),
      fc.integer({min: 10, max: 40}),
      (words, width) => {
        const wrapped = wrapText(words.join(' '), width);
        expect(wrapped.split(/\s+/)).toEqual(words);
        expect(Math.max(...wrapped.split('\n').map(line => line.length))).toBeLessThanOrEqual(width);
      },
    ),
    {numRuns: 300},
  );
});
