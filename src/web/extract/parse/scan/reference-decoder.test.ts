import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {describeTree} from '../../../../../test/support/describe-tree.ts';
import {parseDirectly} from '../parse-directly.ts';
import {parseFully} from '../parse-fully.ts';
import {CHARACTER_REFERENCES} from './character-references.data.ts';
import {ReferenceDecoder} from './reference-decoder.ts';

const NAMES = CHARACTER_REFERENCES.split(',').map(entry => entry.split(' ')[0]?.replace('!', '') ?? '');

function expectSameDecoding(text: string): void {
  const html = `${text.replaceAll('<', '')}<p class="${text.replaceAll('"', '')}">`;
  const tree = parseDirectly(html);
  expect(tree, html).toBeDefined();
  if (tree !== undefined) expect(describeTree(tree), html).toBe(describeTree(parseFully(html)));
}

describe('HTML 13.5 named character references', () => {
  test('all of them, with and without a semicolon, before what may and may not follow', {
    tags: 'slow',
    timeout: 60_000,
  }, () => {
    expect(NAMES.length).toBe(2125);
    for (const name of NAMES) expectSameDecoding(`&${name};-&${name}-&${name}x-&${name}=-&${name}`);
  });

  test('none is missing: every name that another decoder knows is decoded alike', {tags: 'slow'}, () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'abcdehilnopqrstuAEGLNRZ12'),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(letters, name => expectSameDecoding(`&${name};&${name}`)),
      {numRuns: 3000},
    );
  });
});

test('HTML 13.2.5.80 numbers: C1 controls, surrogates, what is beyond Unicode', () => {
  for (let code = 0; code < 0x200; code++) expectSameDecoding(`x&#${code};y&#x${code.toString(16)}z`);
  for (const code of [0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfffe, 0xffff, 0x10000, 0x10ffff, 0x110000, 2 ** 53]) {
    expectSameDecoding(`&#${code};&#x${code.toString(16)};`);
  }
});

test('a reference ends where the text does', () => {
  const decoder = new ReferenceDecoder('&amp;&lt;&#65;');
  expect(decoder.decode(0, 3, false)).toBe('&am');
  expect(decoder.decode(5, 8, false)).toBe('<');
  expect(decoder.decode(9, 13, false)).toBe('A');
});
