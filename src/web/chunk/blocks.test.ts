import {describe, expect, test} from 'vitest';
import {type Block, blocksOf} from './blocks.ts';

type Found = Omit<Block, 'start'>;

/** Blocks without their places, once these were seen to be right. */
function foundIn(markdown: string): Found[] {
  return blocksOf(markdown).map(({start, ...block}) => {
    expect(markdown.slice(start, start + block.text.length)).toBe(block.text);
    return block;
  });
}

const text = (value: string, heading?: string): Found =>
  heading === undefined ? {kind: 'text', text: value} : {kind: 'text', text: value, heading};
const list = (value: string): Found => ({kind: 'list', text: value});
const code = (value: string): Found => ({kind: 'code', text: value});

describe('FR-WF-15 block detection', () => {
  test.each<[string, string, Found[]]>([
    ['blank lines separate paragraphs', 'a\nb\n \t\n\n\nc\n', [text('a\nb'), text('c')]],
    ['a heading starts a block', 'a\n# B\nc', [text('a'), text('# B\nc', 'B')]],
    ['blanks behind a heading are no part of it', '# A \t\nb', [text('# A \t\nb', 'A')]],
    ['seven marks are no heading', '####### a', [text('####### a')]],
    ['a mark needs white space behind it', '#a', [text('#a')]],
    ['ruling E5: a heading without text names nothing', 'a\n#\n\nb', [text('a'), text('#'), text('b')]],
    ['ruling E5: inline markup stays in a heading', '## *a* `b`  ', [text('## *a* `b`', '*a* `b`')]],
    ['U+FEFF is no white space', '\ufeff\n\na', [text('\ufeff'), text('a')]],
  ])('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});

describe('FR-WF-CHK-CODE-01 fences', () => {
  test.each<[string, string, Found[]]>([
    [
      'hold blank lines, headings and items',
      '```js\na\n\n# b\n- c\n```\nd',
      [code('```js\na\n\n# b\n- c\n```'), text('d')],
    ],
    ['close with as many marks at least', '````\n```\na\n`````\nb', [code('````\n```\na\n`````'), text('b')]],
    ['close with the same mark only', '~~~\n```\na\n~~~', [code('~~~\n```\na\n~~~')]],
    ['do not close on a line with an info string', '```\n```js\n```', [code('```\n```js\n```')]],
    ['run to the end where they are not closed', 'a\n\n```\nb\n\nc\n\n', [text('a'), code('```\nb\n\nc')]],
    ['interrupt a paragraph', 'a\n```\nb\n```', [text('a'), code('```\nb\n```')]],
    ['have no backtick in their info string', '```a```\nb', [text('```a```\nb')]],
    ['may be indented by three blanks', '   ```\na\n\nb\n```', [code('   ```\na\n\nb\n```')]],
    ['have three tildes at least', '~~a\n\n~b', [text('~~a'), text('~b')]],
    ['end their block', '```\na\n```\n```\nb\n```', [code('```\na\n```'), code('```\nb\n```')]],
    ['are indented by three blanks at most', '    ```\na\n\nb', [text('    ```\na'), text('b')]],
  ])('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});

describe('FR-WF-CHK-LIST-01 lists', () => {
  test.each<[string, string, Found[]]>([
    [
      'nested items are part of the block',
      '- a\n  - b\n      - c\n1) d',
      [list('- a\n  - b\n      - c\n1) d')],
    ],
    ['indented lines continue an item', '- a\n  b\n\tc\nd', [list('- a\n  b\n\tc'), text('d')]],
    ['blank lines between items do not end it', '- a\n\n- b\n\nc', [list('- a\n\n- b'), text('c')]],
    ['an indented line behind a blank one ends it', '- a\n\n  b', [list('- a'), text('  b')]],
    ['an item interrupts a paragraph', 'a\n- b\n  c\nd', [text('a'), list('- b\n  c'), text('d')]],
    ['a paragraph is no item', 'a\n  b\n\n  c', [text('a\n  b'), text('  c')]],
    ['an item behind code is a list', '```\na\n```\n- b', [code('```\na\n```'), list('- b')]],
    ['a deep item behind a blank line continues it', '- a\n\n      - b', [list('- a\n\n      - b')]],
    ['a paragraph ends it for good', '- a\n\nb\n\n    - c', [list('- a'), text('b'), text('    - c')]],
    ['a paragraph begins none', 'a\n\n    - b', [text('a'), text('    - b')]],
    ['an unclosed fence at a marker ends with its item', '- ```\n  b\nc', [list('- ```\n  b'), text('c')]],
    ['blanks within a line do not indent it', '- a\nb  c', [list('- a'), text('b  c')]],
    ['a marker within a line is none', '- a\n\n\u3000b - c', [list('- a'), text('\u3000b - c')]],
    [
      'a fence behind a dash within a line is none',
      '- a\n  b - ```\n\nc',
      [list('- a\n  b - ```'), text('c')],
    ],
    [
      'a fence may follow the marker of a nested item',
      '- a\n  - ```\n\n    # b\n    ```\n- c',
      [list('- a\n  - ```\n\n    # b\n    ```\n- c')],
    ],
    [
      'a fence may follow a marker of nine digits',
      '123456789. ```\n\n  # a\n  ```',
      [list('123456789. ```\n\n  # a\n  ```')],
    ],
    ['a heading ends it', '- a\n# b', [list('- a'), text('# b', 'b')]],
    ['a marker needs white space behind it', '-a\n1.b', [text('-a\n1.b')]],
    ['four blanks are too many outside a list', '    - a', [text('    - a')]],
    [
      'a fence in an item belongs to it',
      '- a\n  ```\n\n- b\n  ```\n- c',
      [list('- a\n  ```\n\n- b\n  ```\n- c')],
    ],
    ['a fence may follow the marker', '- ```\n\n  # a\n  ```\n- b', [list('- ```\n\n  # a\n  ```\n- b')]],
    ['an unclosed fence ends with its item', '- a\n  ```\n  b\n\nc', [list('- a\n  ```\n  b'), text('c')]],
    [
      'a fence behind a blank line is as deep as its item',
      '- a\n  - b\n\n    ```\n    c\n\n    ```',
      [list('- a\n  - b'), code('    ```\n    c\n\n    ```')],
    ],
  ])('%s', (_, markdown, expected) => {
    expect(foundIn(markdown)).toEqual(expected);
  });
});
