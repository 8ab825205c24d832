import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Json} from '../../src/core/result.ts';
import {createToolbox} from '../../src/create-toolbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

type Params = {readonly [name: string]: Json};
type Call = readonly [tool: string, params: Params];

/** A call as a model writes it that knows other tools, what it is told, and what it sends then. */
// biome-ignore format: a case is a line
const WRONG_CALLS: readonly (readonly [Call, told: string, Call])[] = [
  [
    ['read_file', {file_path: 'a.txt', offset: 1, limit: 2}],
    'invalid_params: There is no parameter "file_path"; it is called "path". There is no parameter "offset"; it is called "start_line" (from 1). There is no parameter "limit"; it is called "end_line" (the last line to read, not a number of lines). Known: path, start_line, end_line, line_numbers.',
    ['read_file', {path: 'a.txt', start_line: 1, end_line: 2}],
  ],
  [['read_file', {}], 'invalid_params: "path" is required. Known: path, start_line, end_line, line_numbers.', ['read_file', {path: 'a.txt'}]],
  [['read_file', {path: ['a.txt']}], 'invalid_params: "path" must be a string, got ["a.txt"]. Known: path, start_line, end_line, line_numbers.', ['read_file', {path: 'a.txt'}]],
  [['read_file', {path: 'a.txt', start_line: 'two'}], 'invalid_params: "start_line" must be a whole number, got "two". Known: path, start_line, end_line, line_numbers.', ['read_file', {path: 'a.txt', start_line: '2'}]],
  [['read_file', {path: 'a.txt', start_line: 9}], 'invalid_params: Expected start_line to be a line of the file, got 9. "a.txt" has 3 lines.', ['read_file', {path: 'a.txt', start_line: 3}]],
  [['read_file', {path: 'lib/b.tx'}], 'file_not_found: There is no "lib/b.tx". Look it up with list_files or glob. Similar: "lib/b.txt".', ['read_file', {path: 'lib/b.txt'}]],
  [['read_file', {path: '/etc/passwd'}], 'path_escape: "/etc/passwd" lies outside the workspace. Use a path relative to the workspace root.', ['read_file', {path: 'a.txt'}]],
  [['Read', {path: 'a.txt'}], 'unknown_tool: There is no tool "Read". Did you mean "read_file"? The tools are $TOOLS.', ['read_file', {path: 'a.txt'}]],
  [['Grep', {query: 'one'}], 'unknown_tool: There is no tool "Grep". Did you mean "search"? The tools are $TOOLS.', ['search', {query: 'one'}]],
  [['mcp__forge-tools__list_files', {}], 'unknown_tool: There is no tool "mcp__forge-tools__list_files". Did you mean "list_files"? The tools are $TOOLS.', ['list_files', {}]],
  [['Bash', {command: 'true'}], 'unknown_tool: There is no tool "Bash". The tools are $TOOLS.', ['list_files', {}]],
  [['edit_file', {path: 'a.txt'}], 'unknown_tool: There is no tool "edit_file". Did you mean "str_replace"? The tools are $TOOLS.', ['str_replace', {path: 'a.txt', old_string: 'one', new_string: 'ONE'}]],
  [['create_file', {path: 'c.txt', content: ''}], 'unknown_tool: There is no tool "create_file". Did you mean "write_file"? The tools are $TOOLS.', ['write_file', {path: 'c.txt', content: ''}]],
  [
    ['str_replace', {path: 'a.txt', old_str: 'one', new_str: 'ONE'}],
    'invalid_params: There is no parameter "old_str"; it is called "old_string". There is no parameter "new_str"; it is called "new_string". Known: $PARAMETERS.',
    ['str_replace', {path: 'a.txt', old_string: 'one', new_string: 'ONE'}],
  ],
  [
    ['str_replace', {file_path: 'a.txt', oldText: 'one', newText: 'ONE'}],
    'invalid_params: There is no parameter "file_path"; it is called "path". There is no parameter "oldText"; it is called "old_string". There is no parameter "newText"; it is called "new_string". Known: $PARAMETERS.',
    ['str_replace', {path: 'a.txt', old_string: 'one', new_string: 'ONE'}],
  ],
  [['write_file', {path: 'c.txt', file_text: 'x'}], 'invalid_params: There is no parameter "file_text"; it is called "content". Known: $PARAMETERS.', ['write_file', {path: 'c.txt', content: 'x'}]],
  [['write_file', {path: 'c.txt', content: {a: 1}}], 'invalid_params: "content" must be a string, got {"a":1}. Known: $PARAMETERS.', ['write_file', {path: 'c.txt', content: '{"a":1}'}]],
  [['write_file', {path: 'new/../../c.txt', content: 'x'}], 'path_escape: "new/../../c.txt" lies outside the workspace. Use a path relative to the workspace root.', ['write_file', {path: 'new/c.txt', content: 'x'}]],
  [['apply_patch', {patch: ''}], 'invalid_params: There is no parameter "patch"; it is called "unified_diff". Known: $PARAMETERS.', ['apply_patch', {unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n'}]],
  [
    ['search', {pattern: 'one', output_mode: 'content', head_limit: 5}],
    'invalid_params: There is no parameter "pattern"; it is called "query". There is no parameter "output_mode"; it is called "output". There is no parameter "head_limit"; it is called "max_results". Known: $PARAMETERS.',
    ['search', {query: 'one', output: 'matches', max_results: 5}],
  ],
  [['search', {query: 'one', '-i': true}], 'invalid_params: There is no parameter "-i"; it is called "case_sensitive" (false, the default, ignores case). Known: $PARAMETERS.', ['search', {query: 'one', case_sensitive: false}]],
  [['search', {query: 'one', max_results: 5000}], 'invalid_params: "max_results" must be at most 1000, got 5000. Known: $PARAMETERS.', ['search', {query: 'one', max_results: 1000}]],
  [['search', {query: 'one', max_results: 2.5}], 'invalid_params: "max_results" must be a whole number, got 2.5. Known: $PARAMETERS.', ['search', {query: 'one', max_results: 2}]],
  [['search', {query: ''}], 'invalid_params: "query" must not be empty. Known: $PARAMETERS.', ['search', {query: 'one'}]],
  [['search', {query: 'one', output: 'content'}], 'invalid_params: "output" must be one of "matches", "files", "count", got "content". Known: $PARAMETERS.', ['search', {query: 'one', output: 'count'}]],
  [['glob', {path: 'lib', pattern: '*.txt'}], 'invalid_params: There is no parameter "path"; it is called "root". Known: $PARAMETERS.', ['glob', {root: 'lib', pattern: '*.txt'}]],
  [['glob', {glob_pattern: '*.txt'}], 'invalid_params: There is no parameter "glob_pattern"; it is called "pattern". Known: $PARAMETERS.', ['glob', {pattern: '*.txt'}]],
  [['glob', {pattern: '*.{txt'}], 'invalid_params: pattern "*.{txt" has a brace without its partner; write \\{ or \\} for the character.', ['glob', {pattern: '*.{txt}'}]],
  [['list_files', {path: 'lib'}], 'invalid_params: There is no parameter "path"; it is called "root". Known: $PARAMETERS.', ['list_files', {root: 'lib'}]],
  [['list_files', {root: 'a.txt'}], 'file_not_found: "a.txt" is not a directory. Name the directory it is in.', ['list_files', {root: '.'}]],
  [['list_files', {root: 'libs'}], 'file_not_found: There is no "libs". Look it up with list_files or glob. Similar: "lib".', ['list_files', {root: 'lib'}]],
  [['list_files', {max_depth: 1}], 'invalid_params: There is no parameter "max_depth"; it is called "depth". Known: $PARAMETERS.', ['list_files', {depth: 1}]],
];

describe('ruling H9: a wrong call is answered by one sentence with which the next one succeeds', () => {
  test.each(WRONG_CALLS)('%j', async (wrong, told, right) => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'lib'));
    writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\nthree\n');
    writeFileSync(join(workspace, 'lib/b.txt'), 'one\n');
    const toolbox = createToolbox({
      workspace,
      environment: {env: {}, cwd: '/', tempDir: temporaryDirectory(), homeDir: temporaryDirectory()},
      config: {tools: {mode: 'enabled', approval: {mode: 'auto'}, run: {enabled: false}}},
    });
    onTestFinished(() => toolbox.close());
    const call = ([tool, params]: Call) => toolbox.call({tool, params, request_id: ''});
    if (right[0] === 'str_replace') await call(['read_file', {path: 'a.txt'}]);
    const refused = await call(wrong);
    expect(refused.status).toBe('error');
    const tools = toolbox.listTools();
    const schema = tools.find(({name}) => name === right[0])?.paramsSchema['properties'] ?? {};
    expect(toolbox.renderText(refused)).toBe(
      told
        .replace('$TOOLS', tools.map(({name}) => name).join(', '))
        .replace('$PARAMETERS', Object.keys(schema).join(', ')),
    );
    const done = await call(right);
    expect(done.error).toBe(null);
  });
});
