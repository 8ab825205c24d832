import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {afterAll, expect, test} from 'vitest';
import {publishedTokens} from '../../../test/support/cl100k-oracle.ts';
import {NO_RANK, readVocabulary, vocabulary} from './vocabulary.ts';

const folder = mkdtempSync(join(tmpdir(), 'forge-vocabulary-'));
afterAll(() => rmSync(folder, {recursive: true}));

test('every published token has its published rank', () => {
  const words = vocabulary();
  const tokens = publishedTokens();
  expect(tokens.length).toBe(100_256);
  const wrong = tokens.filter((token, rank) => words.rankOf(token, 0, token.length) !== rank);
  expect(wrong).toEqual([]);
});

test('what is no token has no rank', () => {
  const words = vocabulary();
  const text = Buffer.from('no token spells this');
  expect(words.rankOf(text, 0, text.length)).toBe(NO_RANK);
  expect(words.rankOf(new Uint8Array(500), 0, 500)).toBe(NO_RANK);
});

test('a missing file says that the build makes it', () => {
  const missing = pathToFileURL(join(folder, 'missing.bin'));
  expect(() => readVocabulary(missing)).toThrow(/missing\.bin.*npm run build/);
});

test.each([
  ['one flipped bit', (file: Uint8Array) => file.with(1_500_000, (file[1_500_000] ?? 0) ^ 1)],
  ['a cut end', (file: Uint8Array) => file.subarray(0, 1_000_000)],
  ['another version', (file: Uint8Array) => file.with(3, 0x32)],
  ['an empty file', () => new Uint8Array()],
])('a damaged file is refused: %s', (name, damage) => {
  const path = join(folder, `${name.replaceAll(' ', '-')}.bin`);
  const intact = readFileSync(new URL('../../../vocabulary/cl100k_base.bin', import.meta.url));
  writeFileSync(path, damage(new Uint8Array(intact)));
  expect(() => readVocabulary(pathToFileURL(path))).toThrow(/damaged or of another version.*npm run build/);
});
