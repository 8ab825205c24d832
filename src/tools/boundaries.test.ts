import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {callWorkspaceTools} from '../../test/support/call-workspace-tools.ts';
import {openSandbox, runOptions} from '../../test/support/open-sandbox.ts';
import {openTestRuntime} from '../../test/support/open-test-runtime.ts';
import type {Json} from '../core/json.ts';
import {runTool} from './run/run.ts';

type Params = {[name: string]: Json};

const linesOf = (count: number): string => 'match\n'.repeat(count);

describe('bounds of parameters: one below, at, and one above', () => {
  test.each<readonly [string, string, (value: number) => Params, readonly (readonly [number, string])[]]>([
    [
      'TA-SEARCH-2 context_lines is 0 to 10',
      'search',
      context_lines => ({query: 'match', context_lines}),
      [
        [-1, 'invalid_params'],
        [0, 'ok'],
        [1, 'ok'],
        [9, 'ok'],
        [10, 'ok'],
        [11, 'invalid_params'],
      ],
    ],
    [
      'TA-SEARCH-3 max_results is 1 to 1000',
      'search',
      max_results => ({query: 'match', max_results}),
      [
        [0, 'invalid_params'],
        [1, 'ok'],
        [2, 'ok'],
        [999, 'ok'],
        [1000, 'ok'],
        [1001, 'invalid_params'],
      ],
    ],
  ])('%s', async (_, tool, params, expected) => {
    const {code} = await callWorkspaceTools({'a.txt': linesOf(3)});
    for (const [value, said] of expected) {
      expect([value, await code(tool, params(value))]).toEqual([value, said]);
    }
  });

  test('TA-SEARCH-2 context_lines are the lines on either side that are returned', async () => {
    const {data} = await callWorkspaceTools({'a.txt': `${'-\n'.repeat(20)}match\n${'-\n'.repeat(20)}`});
    for (const context_lines of [0, 1, 9, 10]) {
      expect(await data('search', {query: 'match', context_lines})).toMatchObject({
        matches: [
          {
            line: 21,
            context_before: Array(context_lines).fill('-'),
            context_after: Array(context_lines).fill('-'),
          },
        ],
      });
    }
  });
});

describe('bounds of answers: one below, at, and one above', () => {
  test.each([
    [999, 999, false],
    [1000, 1000, false],
    [1001, 1000, true],
  ])(
    'TA-LIST-5 of %i files %i are listed; truncated is %s',
    {tags: 'slow'},
    async (count, listed, truncated) => {
      const files = Object.fromEntries(Array.from({length: count}, (_, at) => [`f${at}`, '']));
      const {data} = await callWorkspaceTools(files);
      const answer = await data('list_files');
      expect(answer).toMatchObject({truncated, total_files: count});
      expect(answer['files']).toHaveLength(listed);
    },
  );

  test.each([
    [49, 49, false],
    [50, 50, false],
    [51, 50, true],
  ])(
    'TA-SEARCH-3 of %i matches %i are returned by default; truncated is %s',
    async (count, shown, truncated) => {
      const {data} = await callWorkspaceTools({'a.txt': linesOf(count)});
      const answer = await data('search', {query: 'match', context_lines: 0});
      expect(answer).toMatchObject({truncated, total_matches: count});
      expect(answer['matches']).toHaveLength(shown);
    },
  );

  test.each([
    [999, 999, false],
    [1000, 1000, false],
    [1001, 1000, true],
  ])(
    'of %i matches %i are returned for max_results 1000; truncated is %s',
    async (count, shown, truncated) => {
      const {data} = await callWorkspaceTools({'a.txt': linesOf(count)}, {maxOutputBytes: 1_000_000});
      const answer = await data('search', {query: 'match', context_lines: 0, max_results: 1000});
      expect(answer).toMatchObject({truncated, total_matches: count});
      expect(answer['matches']).toHaveLength(shown);
    },
  );
});

describe('bounds of run: one below, at, and one above', () => {
  async function open() {
    const settings = {
      sandbox: 'none',
      allow_insecure_none: true,
      timeout_seconds: 10,
      max_timeout_seconds: 20,
    } as const;
    const opened = openSandbox({settings});
    onTestFinished(() => opened.close());
    const tools = [runTool(opened.sandbox, runOptions(settings))];
    return openTestRuntime({tools, approval: {mode: 'auto'}});
  }

  test.each([
    [102_399, 102_399, /^x{102399}$/],
    [102_400, 102_400, /^x{102400}$/],
    [102_401, undefined, /^x+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+$/],
  ])('TA-RUN-5 of %i bytes of output the artifact has %s', async (written, kept, content) => {
    const {call, directory} = await open();
    const command = `head -c ${written} /dev/zero | tr '\\0' x; head -c ${written} /dev/zero | tr '\\0' x >&2`;
    const {data, stdout_path, stderr_path} = await call('run', {command});
    expect(data).toMatchObject({stdout_bytes: written, stderr_bytes: written});
    for (const path of [stdout_path, stderr_path]) {
      const artifact = readFileSync(join(directory, String(path)), 'latin1');
      expect(artifact).toMatch(content);
      expect(artifact.length).toBeLessThanOrEqual(102_400);
      if (kept !== undefined) expect(artifact).toHaveLength(kept);
    }
  });

  test('TA-RUN-1 timeout_sec is 1 to tools.run.max_timeout_seconds', {tags: 'slow'}, async () => {
    const {call} = await open();
    const said: string[] = [];
    for (const timeout_sec of [0, 1, 2, 19, 20, 21]) {
      const {error} = await call('run', {command: 'true', timeout_sec});
      said.push(error?.error_type ?? 'ok');
    }
    expect(said).toEqual(['invalid_params', 'ok', 'ok', 'ok', 'ok', 'invalid_params']);
  });
});
