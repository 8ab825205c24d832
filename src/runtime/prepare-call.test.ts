import {describe, expect, onTestFinished, test} from 'vitest';
import {echoTool, toolOf} from '../../test/support/open-test-runtime.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import type {Failure, Json} from '../core/result.ts';
import type {ParameterProblem, Tool} from '../core/tool.ts';
import {createToolbox} from '../create-toolbox.ts';
import {
  checkRequest,
  disabledFailure,
  knownFields,
  nestedDeeperThan,
  ourName,
  prepareCall,
} from './prepare-call.ts';
import {PARAMETER_NOTES, PARAMETER_SYNONYMS, TOOL_SYNONYMS} from './synonyms.data.ts';
import {unexpectedFailure} from './tool-call.ts';

function nested(levels: number): Json {
  let value: Json = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : {a: value};
  return value;
}

/** A tool whose parameters have these problems. */
function refusing(
  problems: readonly ParameterProblem[],
  paramsSchema: Tool['paramsSchema'],
  all = 'all',
): Tool {
  const [{field, reason} = {field: '', reason: ''}] = problems;
  return {
    ...toolOf('t', async () => 1),
    paramsSchema,
    prepare: () => ({ok: false, error: {field, reason, all, problems}}),
  };
}

const SCHEMA = {properties: {path: {}, timeout_sec: {}, depth: {}}};
const unknown = (field: string): ParameterProblem => ({field, kind: 'unknown', reason: 'is unknown'});
const missing = (field: string): ParameterProblem => ({field, kind: 'missing', reason: 'is missing'});

function messageOf(problems: readonly ParameterProblem[], schema: Tool['paramsSchema'] = SCHEMA): string {
  const prepared = prepareCall(refusing(problems, schema), {});
  return prepared.ok ? '' : prepared.error.message;
}

describe('FR-ERR-JSON-02: what is wrong with the parameters of a call', () => {
  test('the whole failure', () => {
    const tool = refusing([missing('path')], SCHEMA, 'path: is missing');
    expect(prepareCall({...tool, badParams: 'bad_args'}, {})).toEqual({
      ok: false,
      error: {
        code: 'bad_args',
        message: '"path" is missing. Known: path, timeout_sec, depth.',
        retryable: false,
        details: {field: 'path', reason: 'is missing', validation: 'path: is missing'},
      },
    });
  });

  test.each<[string, readonly ParameterProblem[], string]>(
    // biome-ignore format: a case is a line
    [
      ['a name that is not known', [unknown('zzz')], 'There is no parameter "zzz".'],
      ['one of other agents', [unknown('file_path')], 'There is no parameter "file_path"; it is called "path".'],
      ['one that takes something else', [unknown('timeout')], 'There is no parameter "timeout"; it is called "timeout_sec" (in seconds).'],
      ['one that is given under another name is not missing too', [missing('path'), missing('depth'), unknown('file_path')], '"depth" is missing. There is no parameter "file_path"; it is called "path".'],
      ['one that is wrong under its own name stays wrong', [{field: 'path', kind: 'invalid', reason: 'must be a text'}, unknown('file_path')], '"path" must be a text. There is no parameter "file_path"; it is called "path".'],
      ['all of them', [{field: 'params', kind: 'invalid', reason: 'must be an object'}], 'The parameters must be an object.'],
      ['what cannot be seen', [unknown('z\u202ez')], 'There is no parameter "z\\\\u{202e}z".'],
      ['a long name', [unknown('z'.repeat(100))], `There is no parameter "${'z'.repeat(64)}".`],
    ],
  )('%s', (_, problems, sentences) => {
    expect(messageOf(problems)).toBe(`${sentences} Known: path, timeout_sec, depth.`);
  });

  test.each([{}, {properties: {}}, {properties: null}, {properties: 'x'}])(
    'a tool without parameters: %j',
    schema => {
      expect(messageOf([unknown('zzz')], schema)).toBe('There is no parameter "zzz". It has no parameters.');
    },
  );

  test.each([
    [5, ''],
    [6, ' And 1 more.'],
    [50, ' And 45 more.'],
    [51, ' And 46 more.'],
    [1000, ' And 995 more.'],
  ])('of %d problems five are said', (count, more) => {
    const sentences = ['z0', 'z1', 'z2', 'z3', 'z4']
      .map(name => `There is no parameter "${name}".`)
      .join(' ');
    const problems = Array.from({length: count}, (_, at) => unknown(`z${at}`));
    expect(messageOf(problems)).toBe(`${sentences}${more} Known: path, timeout_sec, depth.`);
  });

  test('the list of all and the first name are cut', () => {
    const prepared = prepareCall(refusing([missing('p'.repeat(100))], SCHEMA, 'x'.repeat(5000)), {});
    expect(prepared.ok ? {} : prepared.error.details).toEqual({
      field: 'p'.repeat(64),
      reason: 'is missing',
      validation: 'x'.repeat(4000),
    });
  });

  test('parameters may be nested 64 levels deep', () => {
    const any = toolOf('any', async () => 1);
    expect(prepareCall(any, {a: nested(63)}).ok).toBe(true);
    expect(prepareCall(echoTool, {a: nested(64)})).toEqual({
      ok: false,
      error: {
        code: 'invalid_params',
        message: 'The parameters must not be nested deeper than 64 levels. Known: text, count.',
        retryable: false,
        details: {
          field: 'params',
          reason: 'must not be nested deeper than 64 levels',
          validation: 'params: must not be nested deeper than 64 levels',
        },
      },
    });
  });

  test.each([
    [0, 'x', false],
    [0, [], false],
    [0, [1], true],
    [1, [[]], false],
    [1, [{}], false],
    [1, [{a: 1}], true],
    [1, {a: [1], b: 2}, true],
    [2, {a: [1], b: 2}, false],
  ])('more than %d levels: %j: %s', (levels, value, expected) => {
    expect(nestedDeeperThan(levels, value as Json)).toBe(expected);
  });
});

describe('ruling W8: what is known of a command that did not end by itself', () => {
  const fieldsOf = (details: Failure['details']) =>
    knownFields({code: 'timeout', message: '', retryable: true, details});

  test.each<[Failure['details'], object]>([
    [{}, {}],
    [{exit_code: 137}, {exit_code: 137}],
    [{exit_code: '137'}, {}],
    [
      {exit_code: 0, partial: {stdout_path: 'a', stderr_path: 'b', more: 1}},
      {exit_code: 0, stdout_path: 'a', stderr_path: 'b'},
    ],
    [{partial: {stdout_path: 1, stderr_path: null}}, {}],
    [{partial: {stderr_path: 'b'}}, {stderr_path: 'b'}],
    [{partial: null}, {}],
    [{partial: 'x'}, {}],
    [{partial: ['x']}, {}],
  ])('%j', (details, fields) => {
    expect(fieldsOf(details)).toEqual(fields);
  });
});

describe('failures of calls that are not run to their end', () => {
  test('FR-WF-CFG-PREC-01 a disabled tool names the setting', () => {
    const turnOn = 'Write enabled = true below [tools.run] in /c.toml.';
    const off = {setting: 'tools.run.enabled', why: 'is false', turnOn};
    expect(disabledFailure('run', off)).toEqual({
      ok: false,
      error: {
        code: 'tool_disabled',
        message: `run is off: tools.run.enabled is false. ${turnOn}`,
        retryable: false,
        details: {tool: 'run', setting: 'tools.run.enabled'},
      },
    });
  });

  test('NFR-WF-REL-02 a bug is in the log with its stack, and in the result with its message', () => {
    const logged: unknown[] = [];
    const log = (event: unknown) => void logged.push(event);
    const error = new Error('broken');
    const withoutStack = Object.assign(new Error('bare'), {stack: undefined});
    const results = [error, withoutStack, 'text'].map(thrown =>
      unexpectedFailure(thrown, 't'.repeat(100), log),
    );
    expect(results.map(({error: {code, message}}) => [code, message])).toEqual([
      ['internal', 'Unexpected error: broken. Please report it.'],
      ['internal', 'Unexpected error: bare. Please report it.'],
      ['internal', 'Unexpected error: text. Please report it.'],
    ]);
    const line = {level: 'error', event: 'tool_call_crashed', error_code: 'internal', tool: 't'.repeat(64)};
    expect(logged).toEqual([
      {...line, message: error.stack},
      {...line, message: 'bare'},
      {...line, message: 'Unexpected error: text. Please report it.'},
    ]);
  });
});

const FORM = 'Call it with {tool: "read_file", params: {path: "a.txt"}, request_id: "1"}. Nothing was run.';

describe('NFR-WF-REL-02: a request of another form', () => {
  test.each([
    ['read_file', 'request', 'must be an object, got a value of type string'],
    [undefined, 'request', 'must be an object, got undefined'],
    [null, 'request', 'must be an object, got null'],
    [[], 'request', 'must be an object, got an array'],
    [{}, 'tool', 'must be the name of a tool, got undefined'],
    [{tool: 7}, 'tool', 'must be the name of a tool, got a value of type number'],
    [{tool: 'echo', request_id: null}, 'request_id', 'must be a string, got null'],
  ])('%j', (given, field, reason) => {
    expect(checkRequest(given).problem).toMatchObject({
      error: {
        code: 'invalid_params',
        message: `The call's ${field} ${reason}. ${FORM}`,
        details: {field, reason},
      },
    });
  });

  test('what can be read of it is in the answer', () => {
    const {request} = checkRequest({tool: 7, params: 'x', request_id: 'r'});
    expect(request).toEqual({tool: '', params: {}, request_id: 'r'});
    expect(checkRequest({tool: 'echo', params: {a: 1}, request_id: 7}).request).toEqual({
      tool: 'echo',
      params: {a: 1},
      request_id: '',
    });
  });

  test('params and the id may be left out', () => {
    expect(checkRequest({tool: 'echo'})).toEqual({
      request: {tool: 'echo', params: {}, request_id: ''},
      problem: undefined,
    });
  });
});

test('NFR-WF-REL-02: a toolbox answers a request of another form, and runs nothing', async () => {
  const toolbox = createToolbox({config: {}, runDirectory: `${temporaryDirectory()}/run`});
  onTestFinished(() => toolbox.close());
  const result = await toolbox.call('read_file' as never);
  expect(result).toMatchObject({status: 'error', tool: '', error: {error_type: 'invalid_params'}});
});

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
