import {expect, test} from 'vitest';
import {everyTool} from '../../test/support/every-tool.ts';

const CASES: readonly (readonly [tool: string, params: unknown, problems: string])[] = [
  ['replace_in_files', {query: '', replacement: 'x'}, 'query: must have 1 to 10000 characters'],
  [
    'replace_in_files',
    {query: 'x'.repeat(10001), replacement: 'x'},
    'query: must have 1 to 10000 characters',
  ],
  ['replace_in_files', {query: 'x'.repeat(10000), replacement: 'x'.repeat(10000)}, 'ok'],
  [
    'replace_in_files',
    {query: 'a\nb', replacement: 'x'},
    'query: must be a single line, as lines are searched one by one',
  ],
  [
    'replace_in_files',
    {query: 'a\u0000b', replacement: 'x'},
    'query: must be a single line, as lines are searched one by one',
  ],
  [
    'replace_in_files',
    {query: 'a\rb', replacement: 'x'},
    'query: must be a single line, as lines are searched one by one',
  ],
  [
    'replace_in_files',
    {query: 'a', replacement: 'x'.repeat(10001)},
    'replacement: must have at most 10000 characters',
  ],
  [
    'replace_in_files',
    {query: 'a', replacement: '\u0000'},
    'replacement: must be well-formed text without NUL',
  ],
  [
    'replace_in_files',
    {query: 'a', replacement: '\ud800'},
    'replacement: must be well-formed text without NUL',
  ],
  ['replace_in_files', {}, 'query: is required; replacement: is required'],
  ['search', {query: ''}, 'query: must not be empty'],
  ['search', {query: 'x'.repeat(10001)}, 'query: must have at most 10000 characters, got 10001'],
  ['search', {query: 'a\u0000'}, 'query: must not contain NUL'],
  [
    'search',
    {query: 'a\nb'},
    'query: must be a single line, as lines are searched one by one, or multiline true',
  ],
  [
    'search',
    {query: 'a\rb'},
    'query: must be a single line, as lines are searched one by one, or multiline true',
  ],
  ['search', {query: 'a\nb', multiline: true}, 'ok'],
  ['search', {query: 'x', max_results: 0}, 'max_results: must be at least 1, got 0'],
  ['search', {query: 'x', max_results: 1001}, 'max_results: must be at most 1000, got 1001'],
  ['search', {query: 'x', context_lines: 11}, 'context_lines: must be at most 10, got 11'],
  ['search', {query: 'x', max_per_file: 0}, 'max_per_file: must be at least 1, got 0'],
  ['search', {query: 'x', max_per_file: 1001}, 'max_per_file: must be at most 1000, got 1001'],
  ['search', {query: 'x', output: 'all'}, 'output: must be one of "matches", "files", "count", got "all"'],
  [
    'str_replace',
    {path: 'a'},
    'old_string: is missing; give old_string and new_string, or edits; new_string: is missing; give old_string and new_string, or edits',
  ],
  [
    'str_replace',
    {path: 'a', old_string: 'x'},
    'new_string: is missing; give old_string and new_string, or edits',
  ],
  ['str_replace', {path: 'a', edits: []}, 'edits: must have at least 1 entry, got 0'],
  [
    'str_replace',
    {path: 'a', edits: [{old_string: 'a', new_string: 'b'}], old_string: 'x'},
    'edits: goes without old_string, new_string and replace_all; put them into the list',
  ],
  [
    'str_replace',
    {path: 'a', edits: [{old_string: 'a', new_string: 'b'}], new_string: 'x'},
    'edits: goes without old_string, new_string and replace_all; put them into the list',
  ],
  [
    'str_replace',
    {path: 'a', edits: [{old_string: 'a', new_string: 'b'}], replace_all: true},
    'edits: goes without old_string, new_string and replace_all; put them into the list',
  ],
  [
    'str_replace',
    {path: 'a', edits: Array(201).fill({old_string: 'a', new_string: 'b'})},
    'edits: must have at most 200 entries, got 201',
  ],
  ['str_replace', {path: 'a', edits: [{old_string: 'a'}]}, 'edits.0.new_string: is required'],
  ['str_replace', {path: '', old_string: 'a', new_string: 'b'}, 'path: must not be empty'],
  ['str_replace', {path: 'a', edits: [{old_string: 'a', new_string: 'b', replace_all: null}]}, 'ok'],
  ['read_file', {path: ''}, 'path: must not be empty'],
  ['read_file', {path: 1}, 'path: must be a string, got 1'],
  ['read_file', {path: 'a', start_line: 'ten'}, 'start_line: must be a whole number, got "ten"'],
  ['read_file', {path: 'a', start_line: '10'}, 'ok'],
  ['read_file', {path: 'a', lines: 1, more: 2}, 'lines: is no parameter; more: is no parameter'],
  ['read_file', null, 'params: must be an object, got null'],
  ['read_file', [], 'params: must be an object, got []'],
  ['read_file', 'x', 'params: must be an object, got "x"'],
  ['read_file', {path: 'a', line_numbers: 'yes'}, 'line_numbers: must be true or false, got "yes"'],
  [
    'read_file',
    {path: ['a very long list of words', 'a very long list of words']},
    'path: must be a string, got a list',
  ],
  [
    'read_file',
    {path: {a: 'a very long text of many words', b: 'and more of them'}},
    'path: must be a string, got an object',
  ],
  ['list_files', {depth: 0}, 'depth: must be at least 1, got 0'],
  ['list_files', {depth: 101}, 'depth: must be at most 100, got 101'],
  ['list_files', {depth: 1.5}, 'depth: must be a whole number, got 1.5'],
  [
    'list_files',
    {
      root: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
      depth: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    },
    'depth: must be a whole number, got a string of 50 characters',
  ],
  ['list_files', {depth: null, glob: null}, 'ok'],
  ['read_output', {query: ''}, 'query: must not be empty'],
  ['read_output', {query: 'a\nb'}, 'query: must be a single line, as lines are searched one by one'],
  ['read_output', {query: 'x'.repeat(10001)}, 'query: must have at most 10,000 characters'],
  ['read_output', {stream: 'both'}, 'stream: must be one of "stdout", "stderr", got "both"'],
  ['read_output', {context_lines: 11}, 'context_lines: must be at most 10, got 11'],
  ['wait_for', {text: 'a', port: 1}, 'port: cannot be waited for together with text; give one of them'],
  ['wait_for', {text: 'a\nb'}, 'text: must be within one line'],
  ['wait_for', {text: 'x'.repeat(1001)}, 'text: must have at most 1000 characters, got 1001'],
  ['wait_for', {port: 0}, 'port: must be at least 1, got 0'],
  ['wait_for', {port: 65536}, 'port: must be at most 65535, got 65536'],
  ['wait_for', {timeout_sec: 0}, 'timeout_sec: must be at least 1, got 0'],
  ['wait_for', {timeout_sec: 601}, 'timeout_sec: must be at most 600, got 601'],
  ['undo', {step: 0}, 'step: must be at least 1, got 0'],
  ['run', {command: ''}, 'command: must not be empty or blank'],
  ['run', {command: 'x', timeout_sec: 0}, 'timeout_sec: must be at least 1, got 0'],
  ['run', {}, 'command: is required'],
];

test.each([...new Set(CASES.map(([name]) => name))])(
  'ruling H2: what is wrong with the parameters of %s',
  async name => {
    const tool = (await everyTool()).find(one => one.name === name);
    for (const [, params, problems] of CASES.filter(one => one[0] === name)) {
      const prepared = tool?.prepare(params);
      expect([params, prepared?.ok ? 'ok' : prepared?.error.all]).toEqual([params, problems]);
    }
  },
);
