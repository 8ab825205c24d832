import {get_encoding} from 'tiktoken';
import {chunkMarkdown} from '../../../dist/web/chunk/plan-chunks.js';
import {countTokens} from '../../../dist/web/tokens/count-tokens.js';
import {expectThat} from '../expect-that.js';

const reference = get_encoding('cl100k_base');
const counted = text => reference.encode_ordinary(text).length;
const withoutWhiteSpace = text => text.replaceAll(/\p{White_Space}+/gu, '');

/** FR-WF-15, rulings E1 to E5: exact counts, a limit that holds, and all of the text in its order. */
function check(bytes) {
  const maxTokens = 8 + ((bytes[0] ?? 0) % 64);
  const markdown = Buffer.from(bytes.subarray(1)).toString('utf8');
  expectThat(countTokens(markdown) === counted(markdown), 'another count than that of the reference');
  const chunks = chunkMarkdown(markdown, maxTokens, countTokens);
  for (const {text, token_count, heading} of chunks) {
    expectThat(text !== '', 'an empty chunk');
    expectThat(token_count === counted(text), 'a wrong count', text, token_count, counted(text));
    expectThat(
      token_count <= maxTokens || !/\n/.test(text),
      'larger than the limit',
      text,
      token_count,
      maxTokens,
    );
    expectThat(!/\n/.test(heading), 'a heading of two lines', heading);
  }
  const joined = withoutWhiteSpace(chunks.map(({text}) => text).join(''));
  expectThat(joined === withoutWhiteSpace(markdown), 'not all of the text comes out', joined, markdown);
}

export const target = {
  check,
  modules: ['/dist/web/chunk/', '/dist/web/tokens/'],
  maxLength: 768,
  seeds: [
    '\x10# Title\n\nSome text. More of it! And?\n\n- a\n- b\n\n```js\ncode();\n```\n',
    '\x00aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '\x05中文字符。русский 😀👩‍👧\n~~~\nx\n~~~\n## B ##\n\n| a | b |\n|---|---|\n| c | d |',
    "\x08it's WE'LL 12345 \t\n\r\n  indented\n\n\n\n> quote\n1. one\n2. two",
  ],
  // biome-ignore format: a list
  tokens: [
    '# ', '## ', '\n\n', '\n', '\r\n', '\r', '```', '~~~', '````', '- ', '1. ', '> ', '|', '---', '. ', '! ',
    '? ', "'s", "'LL", 'ſ', '123', '1234', ' ', '  ', '\t', '\u00a0', '\u2028', '\u3000', '<|endoftext|>',
    'é', '的', '😀', 'a', 'Z', '。', '\u200d', '\ufeff', '\0', '\\', '`', '    ', 'Ｋ', 'İ', '½', '٣', '-----',
    '....',
  ],
};
