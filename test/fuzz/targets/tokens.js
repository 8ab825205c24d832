import {get_encoding} from 'tiktoken';
import {countTokens} from '../../../dist/web/tokens/count-tokens.js';
import {expectThat} from '../expect-that.js';

const reference = get_encoding('cl100k_base');

/** FR-WF-14, ruling E1: the count of every text is that of the reference, half characters included. */
function check(bytes) {
  const texts = [Buffer.from(bytes).toString('utf8'), Buffer.from(bytes).toString('utf16le')];
  // Short ones too, from every script, which differ in more ways than one long one.
  for (let from = 0; from + 8 <= bytes.length; from += 8)
    texts.push(mixedText(bytes.subarray(from, from + 8)));
  for (const text of texts) {
    const expected = reference.encode_ordinary(text).length;
    const counted = countTokens(text);
    expectThat(counted === expected, 'another count than that of the reference', text, counted, expected);
  }
}

/** A byte below 0x80 is its ASCII character; another one with the byte after it is a code point of any plane. */
function mixedText(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte < 0x80) text += String.fromCharCode(byte);
    else {
      at += 1;
      text += String.fromCodePoint(((((byte & 0x7f) << 8) | (bytes[at] ?? 0)) * 0x9e37) % 0x11_0000);
    }
  }
  return text;
}

export const target = {
  check,
  modules: ['/dist/web/tokens/'],
  maxLength: 512,
  seeds: [
    "It's 12345 words,\r\n\r\n  and WE'LL count them.\t\u3000The end",
    'function name(value) {\n    return value[0]?.x ?? "";\n}\n',
    'Всё это — русский текст. 中文字符，かな、한국어 텍스트。 नमस्ते ไทย',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '😀👩‍👧🏽‍♂️\u0301\u200d\ufe0f\u00a0\u0085\u2028\ufeff<|endoftext|>',
  ],
  // biome-ignore format: a list
  tokens: [
    "'s", "'LL", "'ſ", '123', '1234', ' ', '  ', '\t', '\n', '\r\n', '\u00a0', '\u0085', '\u3000', '\ufeff',
    'the', ' the', 'ing', 'é', '的', '½', '٣', 'Ⅷ', '😀', 'ﬁ', 'İ', '-----', '....', '});\n', '    ', '\0',
  ],
};
