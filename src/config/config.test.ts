import {tmpdir} from 'node:os';
import {describe, expect, test} from 'vitest';
import type {Section} from '../core/setting.ts';
import {ConfigError} from './config-error.ts';
import {
  believedDirectories,
  defaultRunDirectory,
  defaultRunsRoot,
  defaultStateDirectory,
  programDirectories,
  readEnvironment,
} from './environment.ts';
import {describeNumber, describeValue, expandPath, isTable, nearestKey, toJson} from './raw-values.ts';
import {renderConfigFile, renderConfigReference} from './render-reference.ts';
import {resolveConfig} from './resolve-config.ts';

type Row = readonly [section: string, key: string, min: number, max: number, byDefault: number];

/** SRD 5.4 as it is printed there; the last row is ruling E7's. */
const ROWS: readonly Row[] = [
  ['', 'timeout_seconds', 1, 300, 20],
  ['', 'max_redirects', 0, 20, 5],
  ['', 'default_max_chunk_tokens', 128, 2048, 600],
  ['', 'cache_ttl_days', 1, 365, 7],
  ['', 'max_cache_entries', 0, 1_000_000, 10_000],
  ['', 'max_cache_bytes', 1_048_576, 1_099_511_627_776, 1_073_741_824],
  ['', 'max_download_bytes', 1024, 104_857_600, 5_242_880],
  ['', 'robots_cache_entries', 0, 100_000, 1024],
  ['', 'robots_cache_ttl_hours', 1, 720, 24],
  ['security', 'max_dns_attempts', 1, 10, 2],
  ['browser', 'network_idle_ms', 1000, 120_000, 20_000],
  ['browser', 'max_rendered_dom_bytes', 1024, 104_857_600, 5_242_880],
  ['browser', 'max_total_subresource_bytes', 1_048_576, 524_288_000, 20_971_520],
  ['rendering', 'min_extracted_chars', 0, 10_000, 400],
];

function resolved(section: string, key: string, value: number | undefined) {
  const table = value === undefined ? {} : {[key]: value};
  const webfetch = section === '' ? table : {[section]: table};
  const result = resolveConfig({tools: {webfetch}}, {env: {}, cwd: '/', tempDir: '/tmp'});
  if (!result.ok) throw new Error(result.error.join('\n'));
  const {config, warnings} = result.value;
  const settings: Readonly<Record<string, unknown>> = {...config.tools.webfetch};
  const holder: unknown = section === '' ? settings : settings[section];
  return {value: (holder as Readonly<Record<string, unknown>>)[key], warnings: warnings.length};
}

describe('SRD 5.4 the clamps of the configuration: one below, at, and one above either end', () => {
  test.each(ROWS)(
    'FR-WF-CFG-01 ruling A9 %s %s: %i to %i, by default %i',
    (section, key, min, max, byDefault) => {
      const read = (value?: number) => resolved(section, key, value);
      expect(read()).toEqual({value: byDefault, warnings: 0});
      expect([min - 1, min, min + 1].map(read)).toEqual([
        {value: min, warnings: 1},
        {value: min, warnings: 0},
        {value: min + 1, warnings: 0},
      ]);
      expect([max - 1, max, max + 1].map(read)).toEqual([
        {value: max - 1, warnings: 0},
        {value: max, warnings: 0},
        {value: max, warnings: 1},
      ]);
    },
  );
});

test('policy: the environment is a frozen snapshot', () => {
  process.env['FORGE_TEST_SNAPSHOT'] = 'before';
  const environment = readEnvironment();
  process.env['FORGE_TEST_SNAPSHOT'] = 'after';
  expect(environment.env['FORGE_TEST_SNAPSHOT']).toBe('before');
  delete process.env['FORGE_TEST_SNAPSHOT'];
  expect(environment).toMatchObject({cwd: process.cwd(), tempDir: tmpdir()});
  expect(Object.isFrozen(environment) && Object.isFrozen(environment.env)).toBe(true);
});

test('policy: a ConfigError has one line per problem', () => {
  const error = new ConfigError(['first.', 'second.']);
  expect(error.message).toBe('Configuration error: first.\nConfiguration error: second.');
  expect(error).toMatchObject({name: 'ConfigError', problems: ['first.', 'second.']});
  expect(error).toBeInstanceOf(Error);
});

const own = process.getuid === undefined ? '' : `-${process.getuid()}`;
const environment = (env: Record<string, string> = {}, homeDir = '/home/u') => ({
  env,
  homeDir,
  cwd: '/',
  tempDir: '/tmp',
});
const RUNS = '/home/u/.local/state/forge-tools/runs';

test.each([
  [{XDG_STATE_HOME: '/state'}, '/home/u', '/state/forge-tools/runs'],
  [{XDG_STATE_HOME: 'state'}, '/home/u', RUNS],
  [{}, '/home/u', RUNS],
  [{}, '', `/tmp/forge-tools-runs${own}`],
])('ruling W10 with %j and the home %j, runs are kept in %s', (env, home, expected) => {
  expect(defaultRunsRoot(environment(env as Record<string, string>, home))).toBe(expected);
});

test.each([
  [undefined, `${RUNS}/n`],
  ['/work', `${RUNS}/n`],
  ['/home/u', `/tmp/forge-tools-run-n${own}`],
  ['/', `/tmp/forge-tools-run-n${own}`],
  ['/home/u/.local/state/forge-tools/run', `${RUNS}/n`],
])('ruling W10 a run on the workspace %s is kept in %s, never inside', (workspace, expected) => {
  expect(defaultRunDirectory(environment(), workspace, 'n')).toBe(expected);
});

test('policy: state is one place for a user, outside of the workspace', () => {
  const journal = '/home/u/.local/state/forge-tools/journal';
  expect(defaultStateDirectory(environment(), '/work')).toBe(journal);
  expect(defaultStateDirectory(environment(), '/home/u')).toBe(`/tmp/forge-tools-journal${own}`);
  expect(believedDirectories(environment(), '/work')).toEqual([journal, journal, RUNS]);
  expect(believedDirectories(environment(), '/home/u')).toEqual([
    `/tmp/forge-tools-journal${own}`,
    journal,
    RUNS,
  ]);
});

test('policy: of PATH the absolute directories count', () => {
  expect(programDirectories(environment({PATH: '/bin:.::bin:/usr/bin'}))).toEqual(['/bin', '/usr/bin']);
  expect(programDirectories(environment())).toEqual([]);
});

test.each<[unknown, string]>([
  ['20', 'the string "20"'],
  [true, 'the boolean true'],
  [900n, 'the integer 900'],
  [20, 'the integer 20'],
  [0.5, 'the number 0.5'],
  [Number.NaN, 'the number NaN'],
  [null, 'null'],
  [[1], 'an array'],
  [new Date(0), 'a date'],
  [{a: 1}, 'a table'],
  [undefined, 'a value of type undefined'],
  ['x'.repeat(60), `the string "${'x'.repeat(60)}"`],
  ['x'.repeat(61), `the string "${'x'.repeat(60)}…"`],
])('policy: an error message names %o as %s', (value, expected) => {
  expect(describeValue(value)).toBe(expected);
});

test('policy: a number of a file is shown in part where it is long', () => {
  expect(describeNumber(10n ** 60n)).toBe(`1${'0'.repeat(59)}…`);
  expect(describeNumber(10n ** 59n)).toBe(`1${'0'.repeat(59)}`);
});

test.each<[unknown, boolean]>([
  [{}, true],
  [[], false],
  [null, false],
  [new Date(0), false],
  ['a', false],
  [undefined, false],
])('policy: %j is a table: %s', (value, expected) => {
  expect(isTable(value)).toBe(expected);
});

const env = {HOME: '/home/u', SET: 'x', BLANK: ' ', TEMP: ''};
const expand = (written: string, more: object = {}) =>
  expandPath(written, {env: {...env, ...more}, cwd: '/work', tempDir: '/tmp'});
const unset = (names: string) => `uses ${names}, which the environment does not set; it counts as empty`;

test.each([
  ['/a/b', '/a/b'],
  ['a/../b', '/work/b'],
  ['${SET}/${SET}', '/work/x/x'],
  ['${HOME}/c', '/home/u/c'],
  ['${TEMP}/c', '/tmp/c'],
  ['$SET/{SET}/${}x', ''],
  ['', ''],
  ['   ', ''],
  [' a', '/work/ a'],
  ['a~/b', '/work/a~/b'],
  ['~a', '/work/~a'],
])('FR-WF-CFG-03 the path %j is %j', (written, path) => {
  expect(expand(written).path).toBe(path);
});

test('FR-WF-CFG-03a what is put in is not expanded again, and what is blank is not set', () => {
  expect(expand('${A}', {A: '/${SET}'})).toEqual({path: '/${SET}'});
  expect(expand('${BLANK}')).toEqual({path: '', warning: unset('${BLANK}')});
  expect(expand('${TEMP}', {TEMP: '/other'})).toEqual({path: '/other'});
  expect(expand('${toString}')).toEqual({path: '', warning: unset('${toString}')});
  expect(expand('${A}/${SET}/${B}')).toEqual({path: '', warning: unset('${A}, ${B}')});
  expect(expand(' ')).toEqual({path: ''});
});

test.each(['~', '~/a', '~\\a'])('policy: %s comes with what to write instead', written => {
  const {path, warning} = expand(written);
  expect(path).toBe(`/work/${written}`);
  expect(warning).toBe(`starts with "~", which is not expanded; ${path} is used. Write \${HOME} instead`);
});

test('policy: a tilde elsewhere is a name', () => {
  for (const written of ['a~/b', '~a', '/~/b']) expect(expand(written).warning).toBeUndefined();
});

test.each([
  ['a.mode', ['a.node', 'b.mode', 'a.modes'], 'a.node'],
  ['a.modes', ['b.modes', 'a.model'], 'b.modes'],
  ['a.mode', ['b.mode', 'a.mods'], 'b.mode'],
  ['a.mode', ['b.mods', 'a.mods'], 'a.mods'],
  ['mode', ['tools', 'node'], 'node'],
  ['mode', ['x.mode', 'mods'], 'x.mode'],
  ['x', [], undefined],
  [`a.${'k'.repeat(64)}z`, [`a.${'k'.repeat(64)}`, `b.${'k'.repeat(64)}z`], `a.${'k'.repeat(64)}`],
  ['abc', ['x.abc', 'a.abd', 'abd'], 'x.abc'],
])('policy: of the known keys, %s was meant as one of %j: %s', (unknown, known, expected) => {
  expect(nearestKey(unknown, known)).toBe(expected);
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

test.each<[unknown, unknown]>([
  [null, null],
  [true, true],
  ['a', 'a'],
  [1.5, 1.5],
  [2n ** 53n - 1n, 2 ** 53 - 1],
  [2n ** 53n, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [new Date(0), undefined],
  [undefined, undefined],
  [
    [1, 'a', [2n]],
    [1, 'a', [2]],
  ],
  [[1, new Date(0)], undefined],
  [
    {a: {b: [1n]}, c: null},
    {a: {b: [1]}, c: null},
  ],
  [{a: 1, b: new Date(0)}, undefined],
  [nested(64), nested(64)],
  [nested(65), undefined],
])('policy: %o of a file is %o', (value, expected) => {
  expect(toJson(value)).toEqual(expected);
});

test('policy: what comes of a file cannot be changed', () => {
  const json = toJson({a: [1, {b: 2}]}) as {a: unknown[]};
  for (const part of [json, json.a, json.a[1]]) expect(Object.isFrozen(part)).toBe(true);
});

test('policy: tables are as deep as lists', () => {
  const tables = (depth: number): unknown => (depth === 0 ? 1 : {a: tables(depth - 1)});
  expect(toJson(tables(64))).toEqual(tables(64));
  expect(toJson(tables(65))).toBeUndefined();
});

const SCHEMA: Section = {
  kind: 'section',
  doc: 'All.',
  entries: {
    tools: {
      kind: 'section',
      doc: 'The tools.',
      entries: {
        on: {kind: 'flag', default: true, doc: 'On | off.'},
        size: {kind: 'integer', default: 5, min: 1, max: 9, unit: 'bytes', doc: 'Its size.', extension: true},
        count: {kind: 'integer', default: 2, min: 0, max: 3, doc: 'How many.'},
        mode: {kind: 'choice', default: 'a', choices: ['a', 'b'], doc: 'Which.'},
        name: {kind: 'text', default: 'x', doc: 'Its name.'},
        below: {
          kind: 'section',
          doc: 'More.',
          extension: true,
          entries: {
            dir: {kind: 'text', path: true, default: '', doc: 'Where.', extension: true},
            words: {kind: 'text-list', default: ['a', 'b'], doc: 'Words.'},
            ports: {kind: 'integer-list', default: [80, 443], doc: 'Ports.'},
            any: {kind: 'open-table', default: {}, doc: 'Anything.'},
            rules: {
              kind: 'table-list',
              default: [],
              doc: 'Rules.',
              required: ['tool'],
              entries: {
                tool: {kind: 'text', default: '', doc: 'A tool.'},
                times: {kind: 'integer', default: 1, min: 1, max: 4, doc: 'Times.'},
              },
            },
          },
        },
        empty: {kind: 'section', doc: 'Nothing.', entries: {}},
      },
    },
  },
};

const REFERENCE = `## \`[tools]\`

The tools.

| key | type | default | range | what |
|---|---|---|---|---|
| \`on\` | boolean | \`true\` |  | On \\| off. |
| \`size\` | integer | \`5\` | 1-9 bytes | *Extension.* Its size. |
| \`count\` | integer | \`2\` | 0-3 | How many. |
| \`mode\` | string | \`"a"\` | \`"a"\`, \`"b"\` | Which. |
| \`name\` | string | \`"x"\` |  | Its name. |

## \`[tools.below]\`

*Extension.* More.

| key | type | default | range | what |
|---|---|---|---|---|
| \`dir\` | path | \`""\` |  | Where. |
| \`words\` | array of strings | \`["a", "b"]\` |  | Words. |
| \`ports\` | array of integers | \`[80, 443]\` |  | Ports. |
| \`any\` | table | \`{}\` |  | Anything. |
| \`rules\` | array of tables | \`[]\` |  | Rules. |

Keys of a \`[[tools.below.rules]]\`:

- \`tool\` (string, required): A tool.
- \`times\` (integer, 1-4): Times.

## A complete file

All defaults, spelled out.

\`\`\`toml
[tools]
on = true
size = 5
count = 2
mode = "a"
name = "x"

[tools.below]
dir = ""
words = ["a", "b"]
ports = [80, 443]
any = {}
rules = []
\`\`\`
`;

const FILE = `# The tools.
[tools]
# On | off.
on = true
# Its size. (1-9 bytes)
size = 5
# How many. (0-3)
count = 2
# Which. ("a", "b")
mode = "a"
# Its name.
name = "x"

# More.
[tools.below]
# Where.
dir = ""
# Words.
words = ["a", "b"]
# Ports.
ports = [80, 443]
# Anything.
any = {}
# Rules.
rules = []
`;

test('policy: the reference says of every setting its type, default, range and meaning, and spells out a file', () => {
  const written = renderConfigReference(SCHEMA, {});
  const start = written.indexOf('## `[tools]`');
  expect(written.slice(start)).toBe(REFERENCE);
  expect(renderConfigFile(SCHEMA, {})).toBe(FILE);
  expect(written.slice(0, start)).toMatch(
    /^# Configuration\n[\s\S]*The workspace is never\ssearched[\s\S]*\*extension\*\.\n\n$/,
  );
});
