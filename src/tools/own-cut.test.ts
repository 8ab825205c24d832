import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import type {Json} from '../core/json.ts';

const FILES = Object.fromEntries(
  Array.from({length: 60}, (_, at) => [
    `"quoted"/${'deep \u{1f600}/'.repeat(at % 7)}file-${at}.txt`,
    `${'"\u0001\t'.repeat(at * 5)} match\n`.repeat(20),
  ]),
);

// Review 15.10: the runtime's cut knows no line and no entry; `truncated` of the event says that it was needed.
test.each<[string, {readonly [name: string]: Json}]>([
  ['list_files', {}],
  ['glob', {pattern: '**/*.txt'}],
  ['search', {query: 'match', max_results: 1000, context_lines: 10}],
  ['read_file', {path: '"quoted"/deep \u{1f600}/deep \u{1f600}/deep \u{1f600}/file-59.txt'}],
])(
  'review 15.10: %s cuts by itself, between entries, whatever room there is',
  {tags: 'slow'},
  async (tool, params) => {
    const {call, runtime} = await callWorkspaceTools(FILES);
    for (const maxOutputBytes of [1024, 1500, 3000, 10_000, 30_000]) {
      const {data, error} = await call(tool, params, {maxOutputBytes});
      expect(error).toBeNull();
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(maxOutputBytes);
      expect(JSON.stringify(data)).not.toContain('output truncated');
    }
    const ends = (await runtime.events()).filter(({event}) => event === 'tool_call_finished');
    expect(ends.map(({payload}) => payload['truncated'])).toEqual(Array(5).fill(false));
  },
);

test.each<[string, {readonly [name: string]: Json}, RegExp]>([
  ['list_files', {}, /^\[(\d+) files more; narrow root or glob, or set depth, to see the others\]$/],
  ['glob', {pattern: '**/*.txt'}, /^\[the first (\d+) files; narrow pattern or root to see the others\]$/],
  [
    'search',
    {query: 'match', glob: 'file-1.txt', max_results: 1000},
    /^\[(\d+) of 20 matches; raise max_results, or narrow query, glob or path, to see the others;/,
  ],
])(
  'ruling W17: the text of %s ends with a line that says how to go on, where it was cut alone',
  async (tool, params, said) => {
    const {call, tool: named} = await callWorkspaceTools(FILES);
    const textOf = async (maxOutputBytes: number) => {
      const {data} = await call(tool, params, {maxOutputBytes});
      if (data === null) throw new Error('Expected an answer');
      const entries = Object.values(data).find(Array.isArray) ?? [];
      return {lines: named(tool).renderText(data).split('\n'), entries: entries.length};
    };
    // Not a single match of the first file fits: that is said too.
    const cut = await textOf(2000);
    const [, shown] = said.exec(cut.lines.at(-1) ?? '') ?? [];
    expect(Number(shown)).toBe(tool === 'list_files' ? 60 - cut.entries : cut.entries);
    const whole = await textOf(1_000_000);
    expect(whole.lines.filter(line => line.includes('to see the others'))).toEqual([]);
  },
);
