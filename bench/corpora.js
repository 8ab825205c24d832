import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

const root = join(import.meta.dirname, '..');
const SIZE = 256 * 1024;

/** Text to count, a quarter of a megabyte of each kind: this project's own, and for CJK made up. */
export function corpora() {
  return {
    prose: filled(textsBelow('docs', '.md')),
    code: filled(textsBelow('src', '.ts')),
    CJK: cjkText(SIZE / 3),
  };
}

function textsBelow(directory, extension) {
  return readdirSync(join(root, directory), {recursive: true})
    .filter(name => name.endsWith(extension))
    .sort()
    .map(name => readFileSync(join(root, directory, name), 'utf8'))
    .join('\n');
}

function filled(text) {
  return text.repeat(Math.ceil(SIZE / text.length)).slice(0, SIZE);
}

/** Sentences of words of one to three characters, of which few are common and many rare, as in a language. */
function cjkText(length) {
  const random = randomFrom(7);
  const words = Array.from({length: 4000}, (_, at) => word(random, at % 5 === 0 ? 0x3042 : 0x4e00));
  let text = '';
  while (text.length < length) {
    for (let count = 4 + Math.floor(random() * 12); count > 0; count -= 1) {
      // A cubed number from 0 to 1 falls mostly near 0: the first words are the common ones.
      text += words[Math.floor(random() ** 3 * words.length)];
    }
    text += random() < 0.3 ? '。\n' : '，';
  }
  return text.slice(0, length);
}

function word(random, first) {
  const size = 1 + Math.floor(random() * 3);
  const span = first === 0x3042 ? 80 : 3000;
  return Array.from({length: size}, () => String.fromCodePoint(first + Math.floor(random() * span))).join('');
}

/** The same numbers in [0, 1) at every run (mulberry32). */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Shapes that make counters slow, `bytes` bytes of UTF-8 of each. */
export function hostileTexts(bytes) {
  const random = randomFrom(11);
  const drawn = (alphabet, length) => {
    const parts = [];
    for (let at = 0; at < length; at += 1) parts.push(alphabet[Math.floor(random() * alphabet.length)]);
    return parts.join('');
  };
  const han = Array.from({length: 3000}, (_, at) => String.fromCharCode(0x4e00 + at));
  return {
    'one letter': 'a'.repeat(bytes),
    'random letters': drawn('abcdefghijklmnopqrstuvwxyz', bytes),
    spaces: ' '.repeat(bytes),
    Han: drawn(han, bytes / 3),
    base64: drawn('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', bytes),
    emoji: '😀'.repeat(bytes / 4),
    newlines: '\n'.repeat(bytes),
  };
}
