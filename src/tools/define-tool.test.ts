import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {z} from 'zod';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {systemClock} from '../core/clock.ts';
import {fail, type Json, ok} from '../core/result.ts';
import {nodeProcessRunner, type ProcessRequest, type ProcessRunner} from '../workspace/process-runner.ts';
import {schemaOf} from './define-tool.ts';

const TYPE = z.strictObject({
  path: z.string().min(1).describe('File.'),
  start_line: z.int().min(1).optional(),
  limit: z.int().default(50),
  env: z.record(z.string(), z.string()).optional(),
});
const schema = schemaOf(TYPE);

test('ruling H2 600.0 is an integer', () => {
  expect(schema.parse(JSON.parse('{"path":"a","start_line":600.0}'))).toEqual({
    ok: true,
    value: {path: 'a', start_line: 600, limit: 50},
  });
  expect(schema.parse({path: 'a', start_line: 1.5})).toMatchObject({ok: false, error: {field: 'start_line'}});
});

test('ruling H2 null leaves out what may be left out, and nothing else', () => {
  expect(schema.parse({path: 'a', start_line: null, limit: null, env: null})).toEqual({
    ok: true,
    value: {path: 'a', limit: 50},
  });
  expect(schema.parse({path: null})).toMatchObject({ok: false, error: {field: 'path'}});
  expect(schema.parse({path: 'a', other: null})).toMatchObject({ok: false, error: {field: 'other'}});
  expect(schema.parse({path: 'a', env: {A: null}})).toMatchObject({ok: false, error: {field: 'env.A'}});
});

test('ruling H2 in web_fetch, null is no omission', () => {
  expect(schemaOf(TYPE, {isLenient: false}).parse({path: 'a', start_line: null})).toMatchObject({
    ok: false,
    error: {field: 'start_line'},
  });
});

test('ruling H2 missing parameters are {}', () => {
  expect(schemaOf(z.strictObject({a: z.string().default('x')})).parse(undefined)).toEqual({
    ok: true,
    value: {a: 'x'},
  });
  expect(schema.parse(undefined)).toMatchObject({ok: false, error: {field: 'path'}});
  for (const wrong of [null, [], 'x', 7]) {
    expect(schema.parse(wrong)).toMatchObject({ok: false, error: {field: 'params'}});
  }
});

test('policy: the first wrong parameter is named, and all are listed', () => {
  const parsed = schema.parse({path: '', env: {A: 1}, nope: 1});
  expect(parsed).toMatchObject({ok: false, error: {field: 'path'}});
  expect(parsed.ok ? '' : parsed.error.all).toMatch(/^path: .*; env\.A: .*; nope: .*$/);
});

test('policy: JSON Schema 2020-12, as short as it can be', () => {
  expect(schema.jsonSchema).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      path: {type: 'string', minLength: 1, description: 'File.'},
      start_line: {type: 'integer', minimum: 1},
      limit: {type: 'integer', default: 50},
      env: {type: 'object', propertyNames: {type: 'string'}, additionalProperties: {type: 'string'}},
    },
    required: ['path'],
    additionalProperties: false,
  });
});

describe('describe problem', () => {
  const TYPE = z.strictObject({
    number: z.number().max(9).optional(),
    text: z.string().min(2).max(3).optional(),
    list: z.array(z.string()).min(1).max(2).optional(),
    flag: z.boolean().optional(),
    kind: z.enum(['a', 'b']).optional(),
    date: z.iso.date().optional(),
    own: z
      .string()
      .refine(value => value === 'x', 'must be x')
      .optional(),
    inner: z.strictObject({deep: z.int()}).optional(),
    union: z.union([z.string(), z.int()]).optional(),
  });

  const problemsOf = (input: unknown) => {
    const parsed = schemaOf(TYPE).parse(input);
    return parsed.ok ? 'ok' : parsed.error.problems;
  };

  test.each<readonly [unknown, string, string, string]>([
    [{number: 'x'}, 'number', 'invalid', 'must be a whole number, got "x"'],
    [{number: 10}, 'number', 'invalid', 'must be at most 9, got 10'],
    [{number: 'x'.repeat(38)}, 'number', 'invalid', `must be a whole number, got "${'x'.repeat(38)}"`],
    [{number: 'x'.repeat(39)}, 'number', 'invalid', 'must be a whole number, got a string of 39 characters'],
    [{number: Array(20).fill(1)}, 'number', 'invalid', 'must be a whole number, got a list'],
    [{number: {a: 'x'.repeat(40)}}, 'number', 'invalid', 'must be a whole number, got an object'],
    [{number: Number.NaN}, 'number', 'invalid', 'must be a whole number, got null'],
    [{number: () => {}}, 'number', 'invalid', 'must be a whole number, got () => {}'],
    [{text: 1}, 'text', 'invalid', 'must be a string, got 1'],
    [{text: ''}, 'text', 'invalid', 'must not be empty'],
    [{text: 'a'}, 'text', 'invalid', 'must have at least 2 characters, got 1'],
    [{text: 'abcd'}, 'text', 'invalid', 'must have at most 3 characters, got 4'],
    [{list: {}}, 'list', 'invalid', 'must be a list, got {}'],
    [{list: []}, 'list', 'invalid', 'must have at least 1 entry, got 0'],
    [{list: ['a', 'b', 'c']}, 'list', 'invalid', 'must have at most 2 entries, got 3'],
    [{list: ['a', 1]}, 'list.1', 'invalid', 'must be a string, got 1'],
    [{flag: 'x'}, 'flag', 'invalid', 'must be true or false, got "x"'],
    [{kind: 'c'}, 'kind', 'invalid', 'must be one of "a", "b", got "c"'],
    [{own: 'y'}, 'own', 'invalid', 'must be x'],
    [{inner: 1}, 'inner', 'invalid', 'must be an object, got 1'],
    [{inner: {}}, 'inner.deep', 'missing', 'is required'],
    [{inner: {deep: 1, more: 2}}, 'inner.more', 'unknown', 'is no parameter'],
    [{inner: {deep: null}}, 'inner.deep', 'invalid', 'must be a whole number, got null'],
    [{toString: 1}, 'toString', 'unknown', 'is no parameter'],
    [{date: 'x'}, 'date', 'invalid', 'Invalid ISO date'],
    [{union: true}, 'union', 'invalid', 'Invalid input'],
    ['x', 'params', 'invalid', 'must be an object, got "x"'],
  ])('ruling H2: what is wrong with %j', (input, field, kind, reason) => {
    expect(problemsOf(input)).toEqual([{field, kind, reason}]);
  });

  test('ruling H2: each unknown name is a problem of its own', () => {
    expect(problemsOf({one: 1, two: 2})).toEqual([
      {field: 'one', kind: 'unknown', reason: 'is no parameter'},
      {field: 'two', kind: 'unknown', reason: 'is no parameter'},
    ]);
  });

  test('ruling H2: digits are a whole number, also with a sign, and not too many', () => {
    const schema = schemaOf(z.strictObject({count: z.int().optional(), name: z.string().optional()}));
    const value = (input: unknown) => {
      const parsed = schema.parse(input);
      return parsed.ok ? parsed.value : parsed.error.all;
    };
    expect(value({count: '-12', name: '12'})).toEqual({count: -12, name: '12'});
    expect(value({count: '123456789012345'})).toEqual({count: 123_456_789_012_345});
    for (const wrong of ['1234567890123456', '1.5', '', '-', 'x1', '1x', ' 1']) {
      expect(value({count: wrong})).toBe(`count: must be a whole number, got ${JSON.stringify(wrong)}`);
    }
  });
});

const FILES = {
  'src/main.py': 'def main():\n    pass\n',
  'src/utils.py': 'x = 1\n',
  'src/deep/nested/module.py': 'y = 2\n',
  'README.md': '# Title\n\ntext\n',
  '.gitignore': '*.log\n',
  '.env': 'SECRET=1\n',
  'a.log': 'text\n',
  '.git/config': '[core]\n',
};

describe('list_files', () => {
  test('Tool API: the files below root, relative to it, sorted', async () => {
    const {data} = await callWorkspaceTools(FILES);
    expect(await data('list_files', {root: 'src', glob: '**/*.py'})).toEqual({
      files: ['deep/nested/module.py', 'main.py', 'utils.py'],
      truncated: false,
      total_files: 3,
    });
  });

  test('ruling W3: hidden and ignored files are in it, unless it is said otherwise', async () => {
    const {data} = await callWorkspaceTools(FILES);
    expect((await data('list_files'))['files']).toEqual([
      '.env',
      '.gitignore',
      'README.md',
      'a.log',
      'src/deep/nested/module.py',
      'src/main.py',
      'src/utils.py',
    ]);
    expect((await data('list_files', {respect_gitignore: true}))['files']).toEqual([
      'README.md',
      'src/deep/nested/module.py',
      'src/main.py',
      'src/utils.py',
    ]);
  });

  test('Tool API: at most 1000 files; ruling W3: and how many there are', async () => {
    const {data, call, tool} = await callWorkspaceTools(
      Object.fromEntries(Array.from({length: 1100}, (_, at) => [`f${String(at).padStart(4, '0')}`, ''])),
    );
    const listed = await data('list_files');
    expect(listed).toMatchObject({truncated: true, total_files: 1100});
    expect(listed['files']).toHaveLength(1000);
    const text = tool('list_files').renderText((await call('list_files')).data);
    expect(text).toMatch(/f0999\n\[100 files more; narrow root or glob/);
    const small = await call('list_files', {}, {maxOutputBytes: 1000});
    expect(small.data).toMatchObject({truncated: true, total_files: 1100});
    expect(JSON.stringify(small.data).length).toBeLessThanOrEqual(1000);
  });

  test('Tool API: error types', async () => {
    const {code, root, outside} = await callWorkspaceTools(FILES);
    symlinkSync(outside, join(root, 'link'));
    expect(await code('list_files', {root: '..'})).toBe('path_escape');
    expect(await code('list_files', {root: outside})).toBe('path_escape');
    expect(await code('list_files', {root: 'link'})).toBe('symlink_blocked');
    expect(await code('list_files', {root: 'none'})).toBe('file_not_found');
    expect(await code('list_files', {root: root, glob: '../*'})).toBe('path_escape');
    expect(await code('list_files', {glob: 'a['})).toBe('invalid_params');
    expect(await code('list_files', {rot: '.'})).toBe('invalid_params');
  });
});

describe('review 16.1: null is as if absent', () => {
  test.each([
    ['list_files', {root: null, glob: null, respect_gitignore: null}, {}],
    ['read_file', {path: 'README.md', start_line: null, end_line: null}, {path: 'README.md'}],
    [
      'search',
      {query: 'x', glob: null, max_results: null, context_lines: null, is_regex: null},
      {query: 'x'},
    ],
    ['glob', {pattern: '*', root: null}, {pattern: '*'}],
  ])('%s', async (tool, nulls, absent) => {
    const {data} = await callWorkspaceTools(FILES);
    expect(await data(tool, nulls)).toEqual(await data(tool, absent));
  });

  test('and of what is needed it is no value', async () => {
    const {code} = await callWorkspaceTools(FILES);
    expect(await code('read_file', {path: null})).toBe('invalid_params');
    expect(await code('search', {query: null})).toBe('invalid_params');
  });
});

describe('read_file', () => {
  test('Tool API: content with its lines', async () => {
    const {data, tool} = await callWorkspaceTools(FILES);
    const read = await data('read_file', {path: 'README.md'});
    expect(read).toEqual({
      content: '# Title\n\ntext\n',
      truncated: false,
      total_lines: 3,
      start_line: 1,
      end_line: 3,
    });
    expect(tool('read_file').renderText(read)).toBe('[lines 1-3 of 3]\n# Title\n\ntext\n');
    expect(await data('read_file', {path: './src/../README.md', start_line: 2, end_line: 99})).toMatchObject({
      content: '\ntext\n',
      start_line: 2,
      end_line: 3,
    });
  });

  test('ruling W5: values that are no lines', async () => {
    const {call} = await callWorkspaceTools(FILES);
    for (const range of [{start_line: 0}, {start_line: 9}, {start_line: 3, end_line: 2}, {end_line: 0}]) {
      const {error} = await call('read_file', {path: 'README.md', ...range});
      expect(error).toMatchObject({error_type: 'invalid_params', details: {total_lines: 3}});
    }
    expect((await call('read_file', {path: 'README.md', start_line: 1.5})).error?.error_type).toBe(
      'invalid_params',
    );
  });

  test('ruling E7: an answer fits, with the cut marked in it and what to ask for next', async () => {
    const text = Array.from({length: 5000}, (_, at) => `"line"\t${at}\n`).join('');
    const {call} = await callWorkspaceTools({f: text});
    for (const maxOutputBytes of [2000, 20_000]) {
      const {data} = await call('read_file', {path: 'f'}, {maxOutputBytes});
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(maxOutputBytes);
      expect(Buffer.byteLength(JSON.stringify(data))).toBeGreaterThan(maxOutputBytes / 2);
      expect(data).toMatchObject({
        truncated: true,
        total_lines: 5000,
        next: {start_line: expect.any(Number)},
      });
      expect(data).toMatchObject({
        content: expect.stringMatching(
          /^"line"\t0\n(?:.|\n)*\n\[… \d+ bytes of lines \d+-\d+ left out …\]\n(?:.|\n)*"line"\t4999\n$/,
        ),
      });
    }
  });

  test('W12: 10,001 lines of 59 characters are the first and the last 5,000; 10,000 are whole', {
    tags: 'slow',
  }, async () => {
    const line = (at: number) => `${String(at).padStart(59, '.')}\n`;
    const lines = (from: number, to: number) =>
      Array.from({length: to - from + 1}, (_, at) => line(from + at)).join('');
    const {call, data, tool} = await callWorkspaceTools({whole: lines(1, 10_000), f: lines(1, 10_001)});
    expect(await data('read_file', {path: 'whole'})).toMatchObject({
      content: lines(1, 10_000),
      truncated: false,
    });
    const cut = await data('read_file', {path: 'f'});
    expect(cut).toEqual({
      content: `${lines(1, 5000)}[… 60 bytes of line 5001 left out …]\n${lines(5002, 10_001)}`,
      truncated: true,
      total_lines: 10_001,
      start_line: 1,
      end_line: 10_001,
      left_out: {start_line: 5001, end_line: 5001},
      next: {start_line: 5001, end_line: 5001},
    });
    // W17: the text goes from the start as far as there is room.
    expect(tool('read_file').renderText(cut)).toBe(
      `[lines 1-650 of 10001; next: start_line=651]\n${lines(1, 650)}`,
    );
    // A request that has less room holds for it as for every tool.
    const small = await call('read_file', {path: 'f'}, {availableCapacityBytes: 100_000});
    expect(Buffer.byteLength(JSON.stringify(small.data))).toBeLessThanOrEqual(100_000);
  });

  test('conformance V2: the limit of MCP makes the halves shorter in the same form', async () => {
    const lines = Array.from({length: 12_000}, (_, index) => `l${index + 1}`);
    const {call} = await callWorkspaceTools({f: `${lines.join('\n')}\n`});
    const {data} = await call('read_file', {path: 'f'}, {maxOutputBytes: 65_536});
    const {content, left_out, ...rest} = data as {
      content: string;
      left_out: {start_line: number; end_line: number};
    };
    const shown = content.split('\n');
    const before = left_out.start_line - 1;
    expect(shown.slice(0, before)).toEqual(lines.slice(0, before));
    expect(shown.slice(before + 1, -1)).toEqual(lines.slice(left_out.end_line));
    expect(rest).toMatchObject({truncated: true, total_lines: 12_000, next: left_out});
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(65_536);
  });

  test('W12: its own limit is 1 MiB; one that the operator sets holds', {tags: 'slow'}, async () => {
    const files = {f: `${'x'.repeat(199)}\n`.repeat(9000)};
    const own = await callWorkspaceTools(files);
    const set = await callWorkspaceTools(files, {maxOutputBytes: 102_400});
    const bytesOf = async ({data}: typeof own) =>
      Buffer.byteLength(JSON.stringify(await data('read_file', {path: 'f'})));
    expect(await bytesOf(own)).toBeLessThanOrEqual(1_048_576);
    expect(await bytesOf(own)).toBeGreaterThan(1_000_000);
    expect(await bytesOf(set)).toBeLessThanOrEqual(102_400);
    expect(await bytesOf(set)).toBeGreaterThan(95_000);
  });

  test('review 15.10: whatever the text and the limit, the tool cuts, and the runtime does not', async () => {
    const {call, tool} = await callWorkspaceTools({
      controls: '\u0001\u0002\n'.repeat(20_000),
      quotes: `${'"'.repeat(3000)}\n`.repeat(50),
      line: '\u0001'.repeat(300_000),
      mixed: `${'x'.repeat(60_000)}\n${'\u0001'.repeat(60_000)}\n${'y'.repeat(60_000)}\n`,
    });
    for (const path of ['controls', 'quotes', 'line', 'mixed']) {
      for (const maxOutputBytes of [1024, 5000, 50_000]) {
        const {data} = await call('read_file', {path}, {maxOutputBytes});
        expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(maxOutputBytes);
        const text = tool('read_file').renderText(data);
        expect(text).not.toContain('[output truncated');
        expect((data as {content: string}).content).toMatch(
          /\n\[… \d+ bytes of lines? [\d-]+ left out …\]\n/,
        );
        expect(text).toMatch(
          /^\[(lines 1-\d+ of \d+; next: start_line=\d+|a part of line 1 of \d+, which is too long to be shown whole(; next: start_line=2)?)\]\n/,
        );
      }
    }
  });

  test('review 15.10: the header names what is shown', async () => {
    const {call, tool} = await callWorkspaceTools({
      f: `${'x'.repeat(99)}\n`.repeat(100),
      long: `a\n${'x'.repeat(5000)}\nb\n`,
      one: 'x'.repeat(5000),
    });
    const header = async (path: string) => {
      const {data} = await call('read_file', {path}, {maxOutputBytes: 2000});
      return tool('read_file').renderText(data).split('\n', 1)[0];
    };
    expect(await header('f')).toMatch(/^\[lines 1-(\d+) of 100; next: start_line=\d+\]$/);
    expect(await header('long')).toBe('[lines 1-1 of 3; next: start_line=2]');
    expect(await header('one')).toBe('[a part of line 1 of 1, which is too long to be shown whole]');
    const {data} = await call('read_file', {path: 'long', start_line: 2}, {maxOutputBytes: 2000});
    expect(tool('read_file').renderText(data).split('\n', 1)[0]).toBe(
      '[a part of line 2 of 3, which is too long to be shown whole; next: start_line=3]',
    );
  });

  test('W17: following next shows every line once, whatever their lengths', async () => {
    const lines = Array.from({length: 3000}, (_, at) => `${at} ${'é"\u0001'.repeat((at * 7919) % 60)}`);
    const {call, tool} = await callWorkspaceTools({f: lines.join('\n')});
    const read: string[] = [];
    for (let start: number | undefined = 1; start !== undefined; ) {
      const {data} = await call('read_file', {path: 'f', start_line: start}, {maxOutputBytes: 65_536});
      const [head = '', ...shown] = tool('read_file').renderText(data).split('\n');
      const [, from, to, , next] =
        /^\[lines (\d+)-(\d+) of 3000(; next: start_line=(\d+))?\]$/.exec(head) ?? [];
      expect(Number(from)).toBe(start);
      read.push(...shown.slice(0, Number(to) - start + 1));
      start = next === undefined ? undefined : Number(next);
    }
    expect(read).toEqual(lines);
  });

  test('W17: numbers of lines are shown on request, and very long lines in part', async () => {
    const {data, tool} = await callWorkspaceTools({f: `a\n${'x'.repeat(2500)}\n${'c\n'.repeat(9)}`});
    const numbered = await data('read_file', {path: 'f', line_numbers: true});
    expect(numbered).toMatchObject({line_numbers: true, content: expect.stringMatching(/^a\nx+\n/)});
    expect(tool('read_file').renderText(numbered)).toBe(
      `[lines 1-11 of 11]\n 1\ta\n 2\t${'x'.repeat(2000)} [… 500 more characters]\n${Array.from(
        {length: 9},
        (_, at) => `${String(at + 3).padStart(2)}\tc\n`,
      ).join('')}`,
    );
    expect(await data('read_file', {path: 'f', line_numbers: false})).not.toHaveProperty('line_numbers');
  });

  test('Tool API: error types', async () => {
    const {code, root} = await callWorkspaceTools({...FILES, bin: new Uint8Array([0x61, 0, 0xff])});
    symlinkSync('/etc/passwd', join(root, 'link'));
    expect(await code('read_file', {path: 'none'})).toBe('file_not_found');
    expect(await code('read_file', {path: 'bin'})).toBe('binary_file');
    expect(await code('read_file', {path: '../x'})).toBe('path_escape');
    expect(await code('read_file', {path: '/etc/passwd'})).toBe('path_escape');
    expect(await code('read_file', {path: 'link'})).toBe('symlink_blocked');
    expect(await code('read_file', {path: 'src'})).toBe('not_a_file');
    expect(await code('read_file', {})).toBe('invalid_params');
    expect(await code('read_file', {path: ''})).toBe('invalid_params');
  });

  test('a path that is not there: similar ones', async () => {
    const {call} = await callWorkspaceTools(FILES);
    const similar = async (path: string) => (await call('read_file', {path})).error?.details?.['similar'];
    expect(await similar('readme.md')).toEqual(['README.md']);
    expect(await similar('lib/module.py')).toEqual(['src/deep/nested/module.py']);
    expect(await similar('src/man.py')).toEqual(['src/main.py']);
    expect(await similar('quite/another/thing')).toBeUndefined();
  });
});

describe('search', () => {
  test('Tool API: matches with context, truncated, total_matches', async () => {
    const {data, tool} = await callWorkspaceTools(FILES);
    const found = await data('search', {query: 'DEF main', glob: '**/*.py', max_results: 10});
    expect(found).toEqual({
      matches: [
        {
          file: 'src/main.py',
          line: 1,
          content: 'def main():',
          context_before: [],
          context_after: ['    pass'],
        },
      ],
      truncated: false,
      total_matches: 1,
    });
    expect(tool('search').renderText(found)).toBe('src/main.py\n1:def main():\n2-    pass');
    expect(tool('search').renderText(await data('search', {query: 'nothing'}))).toBe(
      'No matches in 6 files. 1 file that fits is ignored; include_ignored searches it.',
    );
  });

  test('ruling H2: the text has each line once, in groups', async () => {
    const {data, tool} = await callWorkspaceTools({f: 'm1\na\nm2\nb\nc\nd\ne\nm3\n', g: 'm4\nm5\n'});
    expect(tool('search').renderText(await data('search', {query: 'm', context_lines: 1}))).toBe(
      ['f', '1:m1', '2-a', '3:m2', '4-b', '--', '7-e', '8:m3', '', 'g', '1:m4', '2:m5'].join('\n'),
    );
    expect(
      tool('search').renderText(await data('search', {query: 'm', max_results: 1, context_lines: 0})),
    ).toMatch(/^f\n1:m1\n\[1 of 5 matches; raise max_results/);
  });

  test('W18: one directory, one file, any case or this one, ignored files too', async () => {
    const {data, code, call} = await callWorkspaceTools({...FILES, 'src/README.md': 'Text\n'});
    const filesOf = async (params: {[name: string]: Json}) => {
      const {matches} = await data('search', {query: 'text', ...params});
      return (matches as {file: string}[]).map(({file}) => file);
    };
    expect(await filesOf({})).toEqual(['README.md', 'src/README.md']);
    expect(await filesOf({path: 'src'})).toEqual(['src/README.md']);
    expect(await filesOf({path: 'README.md'})).toEqual(['README.md']);
    expect(await filesOf({path: 'a.log'})).toEqual(['a.log']);
    expect(await filesOf({include_ignored: true})).toEqual(['README.md', 'a.log', 'src/README.md']);
    expect(await filesOf({case_sensitive: true})).toEqual(['README.md']);
    expect(await filesOf({path: 'src', glob: '*.py'})).toEqual([]);
    expect(await code('search', {query: 'x', path: '../x'})).toBe('path_escape');
    const {error} = await call('search', {query: 'x', path: 'srcs'});
    expect(error?.details).toMatchObject({similar: ['src']});
  });

  test('W18: the files with matches, how many each has, and so many of one file', async () => {
    const {data, tool} = await callWorkspaceTools({a: 'm\n'.repeat(3), b: 'x\n', c: 'm\n', d: 'M m\n'});
    const listed = await data('search', {query: 'm', output: 'files'});
    expect(listed).toEqual({
      matches: [],
      truncated: false,
      total_matches: 5,
      files: [
        {file: 'a', matches: 3},
        {file: 'c', matches: 1},
        {file: 'd', matches: 1},
      ],
      total_files: 3,
    });
    expect(tool('search').renderText(listed)).toBe('a\nc\nd');
    const counted = await data('search', {query: 'm', output: 'count', max_results: 2});
    expect(counted).toMatchObject({truncated: true, total_matches: 5, total_files: 3});
    expect(tool('search').renderText(counted)).toBe(
      'a: 3\nc: 1\n[the first 2 files; 5 matches in 3 files; raise max_results to see more]',
    );
    const few = await data('search', {query: 'm', max_per_file: 1, context_lines: 0});
    expect(few).toMatchObject({truncated: true, total_matches: 5});
    expect(
      (few['matches'] as {file: string; line: number}[]).map(({file, line}) => `${file}:${line}`),
    ).toEqual(['a:1', 'c:1', 'd:1']);
  });

  test('W17: an empty answer says where was looked', async () => {
    const {data, tool} = await callWorkspaceTools(FILES);
    const text = async (params: {[name: string]: Json}) =>
      tool('search').renderText(await data('search', {query: 'zzz', ...params}));
    expect(await text({glob: 'src'})).toBe('No file was searched. No file fits glob; did you mean "src/**"?');
    expect(await text({glob: 'src/**'})).toBe('No matches in 3 files.');
    expect(await text({glob: '*.log'})).toBe(
      'No file was searched. 1 file that fits is ignored; include_ignored searches it.',
    );
    expect(await text({path: 'README.md'})).toBe('No matches in 1 file.');
    expect(await text({output: 'count', include_ignored: true})).toBe('No matches in 7 files.');
  });

  test('Tool API: 50 results by default; ruling E7: as many as fit', async () => {
    const {data, call} = await callWorkspaceTools({f: 'match\n'.repeat(200)});
    const found = await data('search', {query: 'match'});
    expect(found['matches']).toHaveLength(50);
    expect(found).toMatchObject({truncated: true, total_matches: 200});
    const small = await call('search', {query: 'match'}, {maxOutputBytes: 1000});
    expect(small.data).toMatchObject({truncated: true, total_matches: 200, matches: {length: 8}});
  });

  test('Tool API: error types', async () => {
    const {code} = await callWorkspaceTools(FILES);
    expect(await code('search', {query: '('})).toBe('ok');
    expect(await code('search', {query: '(', is_regex: true})).toBe('ripgrep_error');
    for (const params of [
      {query: ''},
      {query: 'a\nb'},
      {query: 'a', context_lines: 11},
      {query: 'a', max_results: 0},
      {query: 'a', glob: '{'},
    ]) {
      expect([params, await code('search', params)]).toEqual([params, 'invalid_params']);
    }
  });

  test('Tool API: ripgrep_unavailable; ADR 08: glob needs none', async () => {
    const place = await openTestWorkspace(FILES);
    const none = fail('ripgrep_unavailable', 'There is none.');
    const workspace = {...place, session: {...place.session, ripgrep: async () => none}};
    const {code, data} = await callWorkspaceTools({}, {workspace});
    expect(await code('search', {query: 'a'})).toBe('ripgrep_unavailable');
    expect(await data('glob', {pattern: '*.md'})).toEqual({files: ['README.md'], truncated: false});
  });

  test('Tool API: a search that takes too long is a timeout, with what was found', async () => {
    const clock = createManualClock();
    const real = nodeProcessRunner(systemClock);
    let blocks = 0;
    async function* slowly(source: ProcessRequest['stdin']) {
      for await (const block of source ?? []) {
        yield block;
        blocks += 1;
        // The first file is through.
        if (blocks === 1) clock.advance(60_000);
      }
    }
    const processes: ProcessRunner = {
      run: request => real.run({...request, stdin: slowly(request.stdin)}),
    };
    const filler = 'x\n'.repeat(50_000);
    const place = await openTestWorkspace({a: `text\n${filler}`, b: `text\n${filler}`});
    const workspace = {
      ...place,
      session: {
        ...place.session,
        clock,
        ripgrep: async () => {
          const found = await place.session.ripgrep();
          return found.ok ? ok({...found.value, processes}) : found;
        },
      },
    };
    const {call} = await callWorkspaceTools({}, {workspace});
    const {error} = await call('search', {query: 'text', context_lines: 0});
    expect(error).toMatchObject({
      error_type: 'timeout',
      details: {
        timeout_ms: 60_000,
        partial: {
          matches: [{file: 'a', line: 1, content: 'text'}],
          truncated: true,
          total_matches: 1,
        },
      },
    });
  });

  test('policy: a cancelled search ends its process', async () => {
    const controller = new AbortController();
    const real = nodeProcessRunner(systemClock);
    const ends: string[] = [];
    const processes: ProcessRunner = {
      run: async request => {
        const running = real.run({...request, command: '/bin/sleep', args: ['60']});
        controller.abort();
        const end = await running;
        ends.push(end.end);
        return end;
      },
    };
    const place = await openTestWorkspace(FILES);
    const ripgrep = async () => {
      const found = await place.session.ripgrep();
      return found.ok ? ok({...found.value, processes}) : found;
    };
    const {call} = await callWorkspaceTools(
      {},
      {workspace: {...place, session: {...place.session, ripgrep}}},
    );
    const {error} = await call('search', {query: 'text'}, {signal: controller.signal});
    expect(error?.error_type).toBe('cancelled');
    expect(new Set(ends)).toEqual(new Set(['aborted']));
  });
});

describe('ruling W16: lists show the project', () => {
  const PROJECT = {
    '.gitignore': 'node_modules/\n*.log\n/build\n',
    'a.log': '',
    'build/out/x.ts': '',
    'lib/main.ts': '',
    'lib/deep/er/one.ts': '',
    'node_modules/a/index.ts': '',
    'node_modules/b/index.ts': '',
    'z.ts': '',
  };

  test('the text of list_files shows an ignored directory as one line; data is as it was', async () => {
    const {data, tool} = await callWorkspaceTools(PROJECT);
    const listed = await data('list_files');
    expect(listed).toEqual({
      files: Object.keys(PROJECT).sort(),
      truncated: false,
      total_files: 8,
      directories: [
        {path: 'build/', files: 1, ignored: true},
        {path: 'node_modules/', files: 2, ignored: true},
      ],
    });
    expect(tool('list_files').renderText(listed)).toBe(
      [
        '.gitignore',
        'a.log',
        'build/ (1 file, ignored)',
        'lib/deep/er/one.ts',
        'lib/main.ts',
        'node_modules/ (2 files, ignored)',
        'z.ts',
      ].join('\n'),
    );
    expect(await data('list_files', {root: 'node_modules'})).toEqual({
      files: ['a/index.ts', 'b/index.ts'],
      truncated: false,
      total_files: 2,
    });
  });

  test('what an ignored directory would push out of a list that is cut is there', {
    tags: 'slow',
  }, async () => {
    const modules = Array.from({length: 1200}, (_, at) => [`node_modules/${at}/index.ts`, ''] as const);
    const {data, tool} = await callWorkspaceTools({...PROJECT, ...Object.fromEntries(modules)});
    const listed = await data('list_files');
    expect(listed['files']).not.toContain('z.ts');
    expect(listed).toMatchObject({
      truncated: true,
      total_files: 1208,
      own_files: ['.gitignore', 'a.log', 'lib/deep/er/one.ts', 'lib/main.ts', 'z.ts'],
    });
    expect(tool('list_files').renderText(listed)).toBe(
      [
        '.gitignore',
        'a.log',
        'build/ (1 file, ignored)',
        'lib/deep/er/one.ts',
        'lib/main.ts',
        'node_modules/ (1,202 files, ignored)',
        'z.ts',
      ].join('\n'),
    );
  });

  test.each([
    [
      1,
      [
        '.gitignore',
        'a.log',
        'build/ (1 file, ignored)',
        'lib/ (2 files)',
        'node_modules/ (2 files, ignored)',
        'z.ts',
      ],
    ],
    [
      2,
      [
        '.gitignore',
        'a.log',
        'build/ (1 file, ignored)',
        'lib/deep/ (1 file)',
        'lib/main.ts',
        'node_modules/ (2 files, ignored)',
        'z.ts',
      ],
    ],
  ])('depth %i', async (depth, lines) => {
    const {data, tool} = await callWorkspaceTools(PROJECT);
    const listed = await data('list_files', {depth});
    expect(tool('list_files').renderText(listed)).toBe(lines.join('\n'));
    expect(listed).toMatchObject({truncated: false, total_files: 8});
  });

  test('review: directories that do not fit are said to be missing', {tags: 'slow'}, async () => {
    const files = Array.from({length: 1200}, (_, at) => [`d${at}/f`, ''] as const);
    const {data, tool} = await callWorkspaceTools(Object.fromEntries(files));
    const listed = await data('list_files', {depth: 1});
    expect(listed).toMatchObject({truncated: true, total_files: 1200});
    const shown = (listed['directories'] as readonly unknown[]).length;
    expect(tool('list_files').renderText(listed)).toContain(`\n[${1200 - shown} files more; `);
  });

  test('glob leaves out what is ignored, and says how much', async () => {
    const {data, tool} = await callWorkspaceTools(PROJECT);
    const found = await data('glob', {pattern: '*.ts'});
    expect(found).toEqual({
      files: ['lib/deep/er/one.ts', 'lib/main.ts', 'z.ts'],
      truncated: false,
      ignored_files: 3,
    });
    expect(tool('glob').renderText(found)).toMatch(
      /\nz\.ts\n\[3 ignored files fit too; include_ignored shows them\]$/,
    );
    const {files} = await data('glob', {pattern: '*.ts', include_ignored: true});
    expect(files).toHaveLength(6);
    expect(tool('glob').renderText(await data('glob', {pattern: 'a.log'}))).toBe(
      'No files.\n[1 ignored file fits too; include_ignored shows it]',
    );
  });

  test('similar names are looked for in the project, not in what is ignored', async () => {
    const {call} = await callWorkspaceTools(PROJECT);
    const {error} = await call('read_file', {path: 'src/index.ts'});
    expect(error?.message).toBe('There is no "src/index.ts". Look it up with list_files or glob.');
  });
});

describe('glob', () => {
  test('ruling W11: files relative to the workspace, in bytewise order', async () => {
    const {data, tool, call} = await callWorkspaceTools(FILES);
    expect(await data('glob', {pattern: '*.py'})).toEqual({
      files: ['src/deep/nested/module.py', 'src/main.py', 'src/utils.py'],
      truncated: false,
    });
    expect((await data('glob', {pattern: '/*.py', root: 'src'}))['files']).toEqual([
      'src/main.py',
      'src/utils.py',
    ]);
    expect((await data('glob', {pattern: '{*.md,.env}'}))['files']).toEqual(['.env', 'README.md']);
    expect(await data('glob', {pattern: '*.log'})).toEqual({files: [], truncated: false, ignored_files: 1});
    expect(await data('glob', {pattern: '*.log', include_ignored: true})).toEqual({
      files: ['a.log'],
      truncated: false,
    });
    expect((await data('glob', {pattern: '**/config'}))['files']).toEqual([]);
    expect(tool('glob').renderText((await call('glob', {pattern: '*.md'})).data)).toBe('README.md');
  });

  test('ruling W1: nothing outside the root, whatever the pattern or the links', async () => {
    const {code, data, root, outside} = await callWorkspaceTools(FILES);
    writeFileSync(join(outside, 'secret.py'), '');
    symlinkSync(outside, join(root, 'link'));
    mkdirSync(join(root, 'd'));
    symlinkSync(join(outside, 'secret.py'), join(root, 'd/secret.py'));
    expect((await data('glob', {pattern: '**/secret*'}))['files']).toEqual([]);
    expect((await data('glob', {pattern: 'link/**'}))['files']).toEqual([]);
    expect(await code('glob', {pattern: '../**'})).toBe('path_escape');
    expect(await code('glob', {pattern: '*', root: '..'})).toBe('path_escape');
    expect(await code('glob', {pattern: '*', root: 'link'})).toBe('symlink_blocked');
    expect(await code('glob', {pattern: '*', root: 'none'})).toBe('file_not_found');
    expect((await data('glob', {pattern: '/etc/*'}))['files']).toEqual([]);
  });

  test('ruling W11: says that there are more than 1000', {tags: 'slow'}, async () => {
    const {data} = await callWorkspaceTools(
      Object.fromEntries(Array.from({length: 1001}, (_, at) => [`f${String(at).padStart(4, '0')}`, ''])),
    );
    expect(await data('glob', {pattern: '*'})).toMatchObject({truncated: true, files: {length: 1000}});
    expect(await data('glob', {pattern: 'f0*'})).toMatchObject({truncated: false, files: {length: 1000}});
  });
});
