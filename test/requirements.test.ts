import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {mentionsId} from '../scripts/mentions-id.js';
import {readProject} from '../scripts/read-project.js';
import {readTestTitles} from '../scripts/read-test-titles.js';
import {renderRequirements} from '../scripts/render-requirements.js';
import {type RequirementGroup, traceRequirements} from '../scripts/trace-requirements.js';

const ROOT = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const GROUPS: readonly RequirementGroup[] = JSON.parse(read('scripts/requirements.json'));

/** What is being built: the tests that `expected` names in requirements.json need not be there yet. */
const PENDING: readonly string[] = [];

describe('docs/requirements.md', () => {
  const trace = traceRequirements(GROUPS, readProject(ROOT));
  const ids = GROUPS.flatMap(({entries}) => entries.map(({id}) => id));

  test('policy: every id has a module that holds it and a test that proves it, and every id that is cited is there', () => {
    expect(trace.problems).toEqual([]);
  });

  test('policy: the tests that are expected and missing are those of PENDING', () => {
    const told =
      'take an id whose test has come out of PENDING, and its `expected` and `lacks` out of the table';
    expect(trace.awaited, told).toEqual(PENDING);
  });

  test('policy: the table has the 205 ids of the SRD, the 94 rulings, and ours for the other documents', () => {
    expect(ids.filter(id => /^N?FR-/.test(id))).toHaveLength(205);
    expect(ids.filter(id => /^[A-Z]\d+$/.test(id))).toHaveLength(94);
    expect(ids.filter(id => /^(?:TA|ADR)-[A-Z]+-\d+$/.test(id))).toHaveLength(ids.length - 299);
  });

  test('policy: each id is told in one sentence', () => {
    const sentences = GROUPS.flatMap(({entries}) => entries.map(({says}) => says));
    expect(sentences.filter(says => !/^\S[^\n]*[^.\n]\.$/.test(says))).toEqual([]);
    expect(new Set(sentences).size).toBe(sentences.length);
    const unexplained = GROUPS.flatMap(({entries}) => entries).filter(
      ({expected, lacks}) => (expected === undefined) !== (lacks === undefined),
    );
    expect(unexplained).toEqual([]);
  });

  test('policy: the page is what the table and the tests say', () => {
    const stale = 'docs/requirements.md is out of date: run `npm run docs` and commit the result';
    expect(read('docs/requirements.md'), stale).toBe(renderRequirements(trace.groups));
  });
});

describe('traceRequirements', () => {
  const group = (...entries: RequirementGroup['entries']) => [{document: 'SRD', title: 'A', entries}];
  const PROJECT = {
    modules: [
      {path: 'src/web/a.ts', text: '// FR-WF-01: why'},
      {path: 'src/web/b.ts', text: ''},
    ],
    titles: [
      {path: 'src/web/a.test.ts', title: 'FR-WF-01 it holds'},
      {path: 'src/web/b.test.ts', title: 'policy: it holds too'},
    ],
  };
  const ENTRY = {id: 'FR-WF-01', says: 'It holds.'};

  test('finds the modules that cite an id or are named by it, and the tests that prove it', () => {
    const entry = {...ENTRY, code: ['web/b.ts'], tests: ['policy: it holds']};
    const {groups, problems} = traceRequirements(group(entry), PROJECT);
    expect(problems).toEqual([]);
    expect(groups[0]?.entries[0]).toMatchObject({
      code: ['src/web/a.ts', 'src/web/b.ts'],
      proofs: [
        {ref: 'FR-WF-01', paths: ['src/web/a.test.ts']},
        {ref: 'policy: it holds', paths: ['src/web/b.test.ts']},
      ],
    });
  });

  test.each<readonly [string, RequirementGroup['entries'], typeof PROJECT, RegExp]>(
    // biome-ignore format: a case is a line
    [
      ['a test that was removed', [ENTRY], {...PROJECT, titles: []}, /^FR-WF-01 is proved by no test/],
      ['a title that no test has', [{...ENTRY, tests: ['policy: no']}], PROJECT, /names the test "policy: no", and no title/],
      ['an id that only a longer one begins with', [ENTRY, {...ENTRY, id: 'FR-WF-01a', code: ['web/b.ts']}], {...PROJECT, titles: [{path: 'src/web/a.test.ts', title: 'FR-WF-01a it holds'}]}, /^FR-WF-01 is proved by no test/],
      ['a module that is gone', [{...ENTRY, code: ['web/c.ts']}], PROJECT, /web\/c\.ts, which is the end of 0/],
      ['a citation that was removed', [ENTRY], {...PROJECT, modules: []}, /^FR-WF-01 is cited in no module and names none/],
      ['an id that is there twice', [ENTRY, ENTRY], PROJECT, /^FR-WF-01 is in requirements\.json twice/],
      ['an id that is cited and not there', [ENTRY], {...PROJECT, modules: [...PROJECT.modules, {path: 'src/c.ts', text: '// rulings A1 and Z9'}]}, /^src\/c\.ts cites Z9, which is not/],
      ['a ruling that begins a comment and is not there', [ENTRY], {...PROJECT, modules: [...PROJECT.modules, {path: 'src/c.ts', text: '  // W99: why'}]}, /^src\/c\.ts cites W99, which is not/],
      ['a planned id that has a test', [{...ENTRY, planned: true}], PROJECT, /^FR-WF-01 is marked as planned and has a test/],
    ],
  )('reports %s', (_, entries, project, problem) => {
    const {problems} = traceRequirements(group(...entries), project);
    expect(problems).toContainEqual(expect.stringMatching(problem));
  });

  test('a test that is expected and not there is awaited, and no other problem', () => {
    const entry = {...ENTRY, id: 'W19', code: ['web/b.ts'], expected: ['W19:']};
    const {awaited, problems} = traceRequirements(group(ENTRY, entry), PROJECT);
    expect({awaited, problems}).toEqual({awaited: ['W19'], problems: []});
  });
});

test.each([
  ['ruling W1', 'W1', true],
  ['rulings W3, W4: both', 'W4', true],
  ['W19: one commit', 'W19', true],
  ['ruling W11', 'W1', false],
  ['R1: a finding', 'R1', false],
  ['ruling R1', 'R1', true],
  ['the C1 controls', 'C1', false],
  ['ruling C1 a status', 'C1', true],
  ['review B1: a finding', 'B1', false],
  ['reviews B1 and B2', 'B2', false],
  ['review B1, ruling B2', 'B2', true],
  ['FR-WF-19-BROWSER', 'FR-WF-19', false],
  ['FR-WF-12c.2 %s', 'FR-WF-12c', true],
  ['FR-WF-05f', 'FR-WF-05', false],
])('policy: that %j names %s is %s', (text, id, expected) => {
  expect(mentionsId(text, id)).toBe(expected);
});

test('policy: titles are found whatever the form of the test', () => {
  const text = [
    "test('one', () => {});",
    "describe.skipIf(x === '')('two', () => {",
    "  test.each(['a', 'b'])('three %s', () => {});",
    '  test.each([',
    "    ['a', f('b')],",
    "  ])('four', () => {});",
    '  test(',
    '    "five\'s",',
    '    () => {},',
    '  );',
    "  browserTest(`six`, () => run('no title'));",
    "  expect(tested('no title')).toBe(suite.test('no title'));",
  ].join('\n');
  expect(readTestTitles(text)).toEqual(['one', 'two', 'three %s', 'four', "five's", 'six']);
});
