import fc from 'fast-check';
import {expect, test} from 'vitest';
import {extractJson} from './extract-json.ts';

const filler = (count: number): string => 'words '.repeat(count).trim();

/** What stands in the fences of a document. */
function fenced(markdown: string): string[] {
  return [...markdown.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, text = '']) => text);
}

function headings(markdown: string): string[] {
  return markdown.split('\n').filter(line => line.startsWith('#'));
}

test('R3: large values are sections under their path, small ones stay together', () => {
  const {markdown} = extractJson(
    JSON.stringify({
      info: {title: 'A', version: '1'},
      paths: {'/bees': {text: filler(400)}, other: {text: filler(400)}},
      list: Array.from({length: 100}, (_, id) => ({id, text: filler(10)})),
      last: true,
    }),
  );
  expect(headings(markdown)).toEqual([
    '# `$`',
    '## `$.paths`',
    '### `$.paths["/bees"]`',
    '#### `$.paths["/bees"].text`',
    '### `$.paths.other`',
    '#### `$.paths.other.text`',
    '## `$.list`',
    expect.stringMatching(/^### `\$\.list\[0-\d+\]`$/),
    ...Array.from({length: headings(markdown).length - 9}, () =>
      expect.stringMatching(/^### `\$\.list\[\d+-\d+\]`$/),
    ),
    '## `$.last`',
  ]);
  expect(fenced(markdown)[0]).toBe('"info": {\n  "title": "A",\n  "version": "1"\n}');
});

test('R3: nothing of a document is lost, and the same document gives the same text', () => {
  fc.assert(
    fc.property(fc.json({maxDepth: 6}), source => {
      const {markdown} = extractJson(source);
      expect(extractJson(source).markdown).toBe(markdown);
      const written = fenced(markdown).join(',').replace(/\s/g, '');
      for (const [literal] of source.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g)) {
        if (/^"[ -~]*"$/.test(literal)) expect(written).toContain(literal.replace(/\s/g, ''));
      }
    }),
  );
});

test('D8: invisible characters are written as escapes, and no text ends its fence', () => {
  const {markdown} = extractJson(JSON.stringify({a: 'x\u202ey\u{e0041}', '```': '\n```\n# no heading'}));
  expect(markdown).toContain('x\\u202ey\\udb40\\udc41');
  expect(headings(markdown)).toEqual(['# `$`']);
  expect(extractJson(`{"\`a\`": "${filler(500)}"}`).markdown).toContain('## `$["\\u0060a\\u0060"]`');
});

test.each([
  ['damaged', '{"a": }'],
  ['damaged', ''],
  ['too_complex', `${'['.repeat(300)}${']'.repeat(300)}`],
  ['too_complex', `[${'1,'.repeat(1_000_000)}1]`],
])('R3: %s is a problem of its own', (reason, source) => {
  expect(() => extractJson(source)).toThrow(expect.objectContaining({name: 'ConversionProblem', reason}));
});
