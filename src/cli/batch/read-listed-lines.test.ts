import {expect, test} from 'vitest';
import {type ListedLine, readListedLines} from './read-listed-lines.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function read(...parts: (string | Uint8Array)[]) {
  const lines: ListedLine[] = [];
  for await (const line of readListedLines(pieces(...parts))) lines.push(line);
  return lines;
}

test('policy: comments and empty lines are passed over, and numbers are those of the file', async () => {
  expect(await read('\ufeff# list\nhttps://a/\r\n\n  https://b/x#y \n', '\t# more\nhttps://', 'c/')).toEqual([
    {line: 2, text: 'https://a/'},
    {line: 4, text: 'https://b/x#y'},
    {line: 6, text: 'https://c/'},
  ]);
});

test('policy: a line that is longer than any address is told, and takes no memory', async () => {
  expect(await read('x'.repeat(20_000), 'x'.repeat(20_000), '\nhttps://a/')).toEqual([
    {line: 1, text: undefined},
    {line: 2, text: 'https://a/'},
  ]);
});

test('policy: bytes that are no UTF-8 end no batch', async () => {
  expect(await read(Uint8Array.of(0xff, 0x0a), 'https://a/')).toEqual([
    {line: 1, text: '\ufffd'},
    {line: 2, text: 'https://a/'},
  ]);
});
