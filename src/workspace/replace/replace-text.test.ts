import {expect, test} from 'vitest';
import {atOnce} from '../turns.ts';
import {replaceText} from './replace-text.ts';

const replaced = (content: string, at: number, length: number, replacement: string) => {
  const {content: after, count} = atOnce(
    replaceText(Buffer.from(content), [{at, length, replacement: Buffer.from(replacement)}]),
  );
  return [after.toString(), count];
};

test('policy: a match that reaches into a line end leaves it there', () => {
  expect(replaced('a;\r\nb\r\n', 1, 2, '!')).toEqual(['a!\r\nb\r\n', 1]);
  expect(replaced('a;\r\nb\r\n', 1, 2, '!\r')).toEqual(['a!\r\nb\r\n', 1]);
  expect(replaced('a;\rb', 1, 2, '!')).toEqual(['a!b', 1]);
});

test('policy: a place that says the same afterwards is not counted', () => {
  expect(replaced('abc', 1, 1, 'b')).toEqual(['abc', 0]);
});
