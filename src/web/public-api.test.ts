import {expect, test} from 'vitest';
import {globFiles} from '../workspace/glob/glob-files.ts';
import {InMemoryFileSystem} from '../workspace/in-memory-file-system.ts';
import {
  canonicalizeUrl,
  chunkMarkdown,
  countTokens,
  htmlToMarkdown,
  isAllowedByRobots,
  parseRobots,
} from './public-api.ts';

const any = (value: unknown) => value as never;

test.each<[string, () => unknown, string]>([
  ['countTokens', () => countTokens(any(7)), 'Expected text to be a string, got 7.'],
  ['countTokens', () => countTokens(any(undefined)), 'Expected text to be a string, got undefined.'],
  [
    'countTokens',
    () => countTokens(any(new Uint8Array(1))),
    'Expected text to be a string, got an instance of Uint8Array. Decode the bytes first, such as by new TextDecoder().',
  ],
  ['chunkMarkdown', () => chunkMarkdown(any(null), 10), 'Expected markdown to be a string, got null.'],
  ['chunkMarkdown', () => chunkMarkdown('a', 0), 'Expected maxTokens to be an integer of at least 1, got 0.'],
  [
    'chunkMarkdown',
    () => chunkMarkdown('a', 1.5),
    'Expected maxTokens to be an integer of at least 1, got 1.5.',
  ],
  [
    'chunkMarkdown',
    () => chunkMarkdown('a', any('9')),
    'Expected maxTokens to be an integer of at least 1, got "9".',
  ],
  [
    'htmlToMarkdown',
    () => htmlToMarkdown(any({}), 'https://a.example/'),
    'Expected html to be a string, got an instance of Object.',
  ],
  ['htmlToMarkdown', () => htmlToMarkdown('', any(true)), 'Expected baseUrl to be a string, got true.'],
  [
    'canonicalizeUrl',
    () => canonicalizeUrl(any(new URL('https://a.example/'))),
    'Expected input to be a string, got an instance of URL.',
  ],
  ['parseRobots', () => parseRobots(any(() => 1)), 'Expected text to be a string, got a function.'],
  [
    'isAllowedByRobots',
    () => isAllowedByRobots(any({}), 'bot', '/'),
    'Expected robots to come from parseRobots.',
  ],
  [
    'isAllowedByRobots',
    () => isAllowedByRobots(parseRobots(''), any(1), '/'),
    'Expected token to be a string, got 1.',
  ],
  [
    'isAllowedByRobots',
    () => isAllowedByRobots(parseRobots(''), 'bot', any(1)),
    'Expected pathAndQuery to be a string, got 1.',
  ],
])('policy: %s says which argument is wrong, what came, and what helps', (_, call, message) => {
  expect(call).toThrow(new TypeError(message));
});

test('policy: globFiles says the same', async () => {
  const files = new InMemoryFileSystem({'a.ts': ''});
  await expect(globFiles(files, any(7))).rejects.toThrow('Expected pattern to be a string, got 7.');
  await expect(globFiles(files, '*', any(7))).rejects.toThrow('Expected root to be a string, got 7.');
  expect(await globFiles(files, '*.ts')).toMatchObject({ok: true, value: ['a.ts']});
});

test('policy: arguments that are right do what they did', () => {
  expect(countTokens('one two')).toBe(2);
  expect(chunkMarkdown('one two', 10)).toHaveLength(1);
  expect(isAllowedByRobots(parseRobots('User-agent: *\nDisallow: /x'), 'bot', '/x')).toBe(false);
});
