import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {createToolbox} from '../create-toolbox.ts';
import {ourName} from './our-name.ts';
import {PARAMETER_NOTES, PARAMETER_SYNONYMS, TOOL_SYNONYMS} from './synonyms.data.ts';

/** The tools of other agents as their definitions write them, with parameters, and what each is called here. */
const CALLS: readonly (readonly [theirs: string, ours: string, parameters: Record<string, string>])[] = [
  // Claude Code
  ['Read', 'read_file', {file_path: 'path', offset: 'start_line', limit: 'end_line'}],
  ['Write', 'write_file', {file_path: 'path'}],
  ['Edit', 'str_replace', {file_path: 'path'}],
  ['MultiEdit', 'str_replace', {changes: 'edits'}],
  ['Bash', 'run', {timeout: 'timeout_sec', run_in_background: 'background'}],
  ['BashOutput', 'read_output', {}],
  ['KillShell', 'stop_run', {}],
  ['LS', 'list_files', {path: 'root'}],
  ['Grep', 'search', {pattern: 'query', output_mode: 'output', head_limit: 'max_results', type: 'glob'}],
  [
    'grep',
    'search',
    {'-i': 'case_sensitive', '-A': 'context_lines', '-B': 'context_lines', '-C': 'context_lines'},
  ],
  ['Fetch', 'web_fetch', {uri: 'url'}],
  // The text editor of the Messages API
  ['str_replace_based_edit_tool', 'str_replace', {old_str: 'old_string', new_str: 'new_string'}],
  ['view', 'read_file', {view_range: 'start_line'}],
  ['create', 'write_file', {file_text: 'content'}],
  // Gemini CLI
  ['read-file', 'read_file', {absolute_path: 'path'}],
  ['replace', 'str_replace', {expected_replacements: 'replace_all'}],
  ['run_shell_command', 'run', {directory: 'cwd', is_background: 'background'}],
  ['search_file_content', 'search', {include: 'glob'}],
  ['list_directory', 'list_files', {dir_path: 'root', respect_git_ignore: 'respect_gitignore'}],
  ['glob_search', 'glob', {respect_git_ignore: 'include_ignored', dir_path: 'root'}],
  // Codex CLI
  ['shell', 'run', {workdir: 'cwd', timeout_ms: 'timeout_sec'}],
  ['exec_command', 'run', {cmd: 'command', yield_time_ms: 'timeout_sec'}],
  ['applyPatch', 'apply_patch', {input: 'unified_diff', patch: 'unified_diff'}],
  // Cursor
  ['codebase_search', 'search', {}],
  ['grep_search', 'search', {include_pattern: 'glob'}],
  ['file_search', 'glob', {query: 'pattern'}],
  ['list_dir', 'list_files', {}],
  ['edit_file', 'str_replace', {target_file: 'path'}],
  ['run_terminal_cmd', 'run', {}],
  // Cline
  ['write_to_file', 'write_file', {}],
  ['replace_in_file', 'str_replace', {search_text: 'old_string', replacement_text: 'new_string'}],
  ['search_files', 'search', {regex: 'query', file_pattern: 'glob'}],
  ['execute_command', 'run', {script: 'command'}],
  // Servers of the Model Context Protocol
  ['mcp__filesystem__read_text_file', 'read_file', {}],
  ['mcp__filesystem__directory_tree', 'list_files', {}],
  ['mcp__my_files__rename_file', 'move_file', {source: 'from', destination: 'to'}],
  ['mcp__x__fetch_url', 'web_fetch', {}],
];

/** Every tool with the names of its parameters. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const toolbox = createToolbox({
    workspace: temporaryDirectory(),
    config: {tools: {mode: 'enabled', webfetch: {enabled: true, cache_dir: ''}}},
  });
  onTestFinished(() => toolbox.close());
  return new Map(
    toolbox.listTools().map(({name, paramsSchema}) => [name, Object.keys(paramsSchema['properties'] ?? {})]),
  );
}

test('ruling H9: the names that other agents use lead to the tools and parameters of ours', () => {
  const tools = listed();
  const found = CALLS.map(([theirs, , parameters]) => {
    const ours = ourName(theirs, [...tools.keys()], TOOL_SYNONYMS) ?? '';
    const names = Object.keys(parameters).map(name => [
      name,
      ourName(name, tools.get(ours) ?? [], PARAMETER_SYNONYMS),
    ]);
    return [theirs, ours, Object.fromEntries(names)];
  });
  expect(found).toEqual(CALLS);
});

describe('ruling H9: the tables of names', () => {
  test('every tool and every parameter in them is one of ours', () => {
    const tools = listed();
    const parameters = new Set([...tools.values()].flat());
    expect(Object.keys(TOOL_SYNONYMS).filter(name => !tools.has(name))).toEqual([]);
    for (const table of [PARAMETER_SYNONYMS, PARAMETER_NOTES])
      expect(Object.keys(table).filter(name => !parameters.has(name))).toEqual([]);
  });

  test.each([
    ['tools', TOOL_SYNONYMS],
    ['parameters', PARAMETER_SYNONYMS],
  ])('every name for %s is written as it is looked for, and leads to ours', (_, table) => {
    for (const [ours, theirs] of Object.entries(table)) {
      expect([ours, theirs.length > 0]).toEqual([ours, true]);
      expect(new Set([ours, ...theirs]).size).toBe(theirs.length + 1);
      for (const name of theirs) {
        expect(name).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
        expect([name, ourName(name, [ours], table)]).toEqual([name, ours]);
      }
    }
  });

  test('a name stands for one tool', () => {
    const theirs = Object.values(TOOL_SYNONYMS).flat();
    expect(theirs.filter((name, at) => theirs.indexOf(name) !== at)).toEqual([]);
  });

  test('every note ends a sentence about a parameter that has other names', () => {
    expect(PARAMETER_NOTES).toMatchObject({timeout_sec: 'in seconds', start_line: 'from 1'});
    for (const [name, note] of Object.entries(PARAMETER_NOTES)) {
      expect(Object.keys(PARAMETER_SYNONYMS)).toContain(name);
      expect([name, note]).toEqual([name, expect.stringMatching(/^[a-z].*[a-z0-9]$/)]);
    }
  });
});

describe('ourName', () => {
  const synonyms = {read_file: ['cat', 'read_text_file'], write_file: ['save'], find: ['search']};
  const names = ['write_file', 'read_file', 'find', 'search'];

  test.each([
    ['read_file', 'read_file'],
    ['READ_FILE', 'read_file'],
    ['ReadFile', 'read_file'],
    ['readFile', 'read_file'],
    ['read-file', 'read_file'],
    ['read.file', 'read_file'],
    ['read file', 'read_file'],
    ['--read-file', 'read_file'],
    ['__read_file__', 'read_file'],
    ['mcp__fs__read_file', 'read_file'],
    ['mcp__my_own_server__readTextFile', 'read_file'],
    ['x_mcp__fs__cat', undefined],
    ['cat', 'read_file'],
    ['Cat', 'read_file'],
    ['save', 'write_file'],
    // A name of ours is meant before a name that somebody else has for another of ours.
    ['search', 'search'],
    // Neither in the table: the nearest.
    ['raed_file', 'read_file'],
    ['zebra', undefined],
    ['', undefined],
    // What is looked at of a long name is its beginning.
    [`${'_'.repeat(61)}cat`, 'read_file'],
    [`${'_'.repeat(62)}cat`, undefined],
  ])('%j is %j', (written, expected) => {
    expect(ourName(written, names, synonyms)).toBe(expected);
  });

  test('a name of the table that is not offered is not named, and nothing is found by what objects inherit', () => {
    expect(ourName('save', ['read_file'], synonyms)).toBeUndefined();
    expect(ourName('save', ['constructor', 'toString'], synonyms)).toBeUndefined();
  });
});
