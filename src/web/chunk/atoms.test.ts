import {describe, expect, test} from 'vitest';
import {atomsOf} from './atoms.ts';
import type {BlockKind} from './blocks.ts';

type Row = readonly [title: string, most: number, text: string, expected: readonly string[]];

/**
 * The atoms of a block where so many characters fit. Each is shown with how good a cut behind it is, `!` where it
 * is never cut, and its text between ‹ and ›, with the white space that goes at a cut around it.
 */
function shown(kind: BlockKind, text: string, most: number): string[] {
  const atoms = atomsOf({kind, text, start: 0}, (start, end) => end - start <= most);
  // They tile the block.
  expect([0, ...atoms.map(({next}) => next)]).toEqual([...atoms.map(({from}) => from), text.length]);
  return atoms.map(({from, start, end, next, rank, whole}) => {
    const cut = `${text.slice(from, start)}‹${text.slice(start, end)}›${text.slice(end, next)}`;
    return `${rank}${whole ? '!' : ' '}${cut}`;
  });
}

describe('FR-WF-CHK-LIST-02 the atoms of a list', () => {
  test.each<Row>([
    ['items that fit stay whole', 100, '- a\n- b', ['0 ‹- a›\n', '0 ‹- b›']],
    [
      'an item of another level ranks by its own indentation: up to one blank, up to three, and more',
      12,
      '- one\n - two\n  - three\n   - four\n    - five\n     - six\n- seven',
      [
        '0 ‹- one›\n',
        '1 ‹ - two›\n',
        '1 ‹  - three›\n',
        '2 ‹   - four›\n',
        '2 ‹    - five›\n',
        '0 ‹     - six›\n',
        '0 ‹- seven›',
      ],
    ],
    [
      'an item that does not fit is parted between sentences, and a sentence that does not between words',
      12,
      '- one two. three four five\n- six',
      ['3 ‹- one two.›', '4  ‹three›', '4  ‹four›', '0  ‹five›\n', '0 ‹- six›'],
    ],
    [
      'a marker stays with its first word',
      8,
      '- one two three. four',
      ['4 ‹- one›', '4  ‹two›', '3  ‹three.›', '0  ‹four›'],
    ],
    [
      'an item ends a fence of the item before it',
      30,
      '- a\n  ```\n- b\n  ```\n- c',
      ['0 ‹- a\n  ```›\n', '0 ‹- b\n  ```›\n', '0 ‹- c›'],
    ],
    [
      'a marker inside a fence starts no item',
      20,
      '- a\n  ```\n  - b\n  ```\n- c c c c c c c\n- d',
      ['3 ‹- a›\n', '0!‹  ```\n  - b\n  ```›\n', '0 ‹- c c c c c c c›\n', '0 ‹- d›'],
    ],
    [
      'a fence that does not fit is parted between lines',
      12,
      '- some text.\n  ```\n  - code 1\n  - code 2\n  ```',
      ['3 ‹- some text.›\n', '3!‹  ```›\n', '3!‹  - code 1›\n', '3!‹  - code 2›\n', '0!‹  ```›'],
    ],
    [
      'text before and behind a fence is parted by itself, and a fence that fits stays whole',
      40,
      '- some text that is long, so long. And more.\n  ```\n  code\n  ```\n  after it comes text.\n- z',
      [
        '3 ‹- some text that is long, so long.›',
        '3  ‹And more.›\n',
        '3!‹  ```\n  code\n  ```›\n',
        '0 ‹  after it comes text.›\n',
        '0 ‹- z›',
      ],
    ],
    [
      'a fence at the marker that does not fit',
      10,
      '- ```\n  one line\n  two\n  ```\n- z',
      ['3!‹- ```›\n', '3!‹  one line›\n', '3!‹  two›\n', '0!‹  ```›\n', '0 ‹- z›'],
    ],
    [
      'a fence at the marker that fits, and text behind it',
      18,
      '- ```\n  one\n  ```\n  then some words\n- z',
      ['3!‹- ```\n  one\n  ```›\n', '0 ‹  then some words›\n', '0 ‹- z›'],
    ],
    [
      'a fence that nobody closes, at the end',
      12,
      '- a b\n  ```\n  one line\n  two',
      ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  one line›\n', '0!‹  two›'],
    ],
    [
      'a fence that nobody closes, before an item',
      14,
      '- a b\n  ```\n  one line\n  two\n- next',
      ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  one line›\n', '0!‹  two›\n', '0 ‹- next›'],
    ],
    [
      'blank lines behind a fence go with it',
      14,
      '- a b\n  ```\n  code\n  ```\n\n\n- next one',
      ['3 ‹- a b›\n', '3!‹  ```›\n', '3!‹  code›\n', '0!‹  ```›\n\n\n', '0 ‹- next one›'],
    ],
    [
      'blank lines belong to the item before them',
      6,
      '- a b c\n\n- next',
      ['4 ‹- a›', '4  ‹b›', '0  ‹c›\n\n', '0 ‹- next›'],
    ],
    [
      'four blanks are deeper than two',
      8,
      '- one two\n    - three four\n- five',
      ['4 ‹- one›', '2  ‹two›\n', '4 ‹    - three›', '0  ‹four›\n', '0 ‹- five›'],
    ],
    [
      'two blanks are a nested item',
      8,
      '- one two\n  - three four\n- five',
      ['4 ‹- one›', '1  ‹two›\n', '4 ‹  - three›', '0  ‹four›\n', '0 ‹- five›'],
    ],
    [
      'text between two fences',
      12,
      '- a\n  ```\n  one\n  ```\n  some text. More\n  ```\n  two\n  ```\n- z',
      [
        '3 ‹- a›\n',
        '3!‹  ```›\n',
        '3!‹  one›\n',
        '3!‹  ```›\n',
        '3 ‹  some text.›',
        '3  ‹More›\n',
        '3!‹  ```›\n',
        '3!‹  two›\n',
        '0!‹  ```›\n',
        '0 ‹- z›',
      ],
    ],
    [
      'a fence is closed by as many marks',
      12,
      '- a\n  ````\n  ```\n  one\n  ````\n  two\n- z',
      ['3 ‹- a›\n', '3!‹  ````›\n', '3!‹  ```›\n', '3!‹  one›\n', '3!‹  ````›\n', '0 ‹  two›\n', '0 ‹- z›'],
    ],
    [
      'a number stays with its first word',
      9,
      '12) one two three\n13) x',
      ['4 ‹12) one›', '4  ‹two›', '0  ‹three›\n', '0 ‹13) x›'],
    ],
    ['a marker without text is an item', 9, '- \n- x', ['0 ‹-› \n', '0 ‹- x›']],
    [
      'an item that does not fit ends where the next one begins with code',
      8,
      '- a b c d\n- ```\n  x\n  ```',
      ['4 ‹- a›', '4  ‹b›', '4  ‹c›', '0  ‹d›\n', '3!‹- ```›\n', '3!‹  x›\n', '0!‹  ```›'],
    ],
    [
      'a blank line does not end a fence',
      25,
      '- a\n  ```\n\n  - b\n  ```\n- c',
      ['0 ‹- a\n  ```\n\n  - b\n  ```›\n', '0 ‹- c›'],
    ],
    ['a marker without text is not lost where nothing fits', 0, '- \n- x', ['0 ‹-› \n', '0 ‹- x›']],
    [
      'a closed fence is over: a nested item behind it is one',
      20,
      '- a\n  ```\n  x\n  ```\n  - b\n- c',
      ['1 ‹- a\n  ```\n  x\n  ```›\n', '0 ‹  - b›\n', '0 ‹- c›'],
    ],
    [
      'the first word behind a fence is no marker',
      8,
      '- ```\n  x\n  ```\n  then some words\n  ~~~\n  y\n  ~~~\n  and more of it',
      [
        '3!‹- ```›\n',
        '3!‹  x›\n',
        '3!‹  ```›\n',
        '4 ‹  then›',
        '4  ‹some›',
        '3  ‹words›\n',
        '3!‹  ~~~›\n',
        '3!‹  y›\n',
        '3!‹  ~~~›\n',
        '4 ‹  and›',
        '4  ‹more›',
        '4  ‹of›',
        '0  ‹it›',
      ],
    ],
    [
      'a fence right behind another',
      12,
      '- a\n  ```\n  one\n  ```\n  ~~~\n  two\n  ~~~\n- z',
      [
        '3 ‹- a›\n',
        '3!‹  ```›\n',
        '3!‹  one›\n',
        '3!‹  ```›\n',
        '3!‹  ~~~›\n',
        '3!‹  two›\n',
        '0!‹  ~~~›\n',
        '0 ‹- z›',
      ],
    ],
  ])('FR-WF-CHK-LIST-02 the atoms of a list: %s', (_, most, text, expected) => {
    expect(shown('list', text, most)).toEqual(expected);
  });
});

describe('FR-WF-CHK-CODE-01 the atoms of code', () => {
  test.each<Row>([
    ['a single line', 3, '```js', ['3!‹```js›']],
    [
      'blank lines go with the line before them',
      5,
      '```\na\n\n\nb  \n  \n  c\n```',
      ['3!‹```›\n', '3!‹a›\n\n\n', '3!‹b›  \n  \n', '3!‹  c›\n', '3!‹```›'],
    ],
  ])('FR-WF-CHK-CODE-01 the atoms of code: %s', (_, most, text, expected) => {
    expect(shown('code', text, most)).toEqual(expected);
  });
});

describe('FR-WF-15b the atoms of text', () => {
  test.each<Row>([
    ['a word of one letter between two lines', 3, 'one\n a\nb', ['4 ‹one›\n', '4  ‹a›\n', '4 ‹b›']],
    [
      'sentences end with a stop, an exclamation or a question mark',
      12,
      'One two. Three! Four? five',
      ['3 ‹One two.›', '3  ‹Three!›', '3  ‹Four?›', '4  ‹five›'],
    ],
    [
      'a sentence that does not fit is parted between words',
      8,
      'One two three. Four.',
      ['4 ‹One›', '4  ‹two›', '3  ‹three.›', '4  ‹Four.›'],
    ],
    [
      'a line keeps its indentation where the cut is at its start',
      8,
      'one two\n  three\n four.\nfive six',
      ['4 ‹one›', '4  ‹two›\n', '4   ‹three›\n', '3  ‹four.›\n', '4 ‹five six›'],
    ],
    ['the first word keeps its indentation', 8, '  one two three', ['4 ‹  one›', '4  ‹two›', '4  ‹three›']],
    [
      'a sentence may end at the end of a line',
      8,
      'one two.\n  three four\n\tfive',
      ['3 ‹one two.›\n', '4   ‹three›', '4  ‹four›\n', '4 \t‹five›'],
    ],
    [
      'blanks before a line break stay with the word behind them',
      8,
      'one two \nthree',
      ['4 ‹one›', '4  ‹two›', '4  \n‹three›'],
    ],
    [
      'no other mark ends a sentence, and none inside a word',
      3,
      'a. b! c? d.e f; g',
      ['3 ‹a.›', '3  ‹b!›', '3  ‹c?›', '4  ‹d.e›', '4  ‹f;›', '4  ‹g›'],
    ],
    ['a word is never parted', 3, 'alphabet', ['4 ‹alphabet›']],
  ])('FR-WF-15b the atoms of text: %s', (_, most, text, expected) => {
    expect(shown('text', text, most)).toEqual(expected);
  });
});
