import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import type {Json} from '../../core/result.ts';

const FILES = {
  'a.ts': 'one();\ncall(\n  first,\n  second,\n);\nend',
  'b.ts': 'of two files\ncall(x);\ncall(\n  third,\n);\n',
  'empty.ts': '',
};

async function open() {
  const {tool, call} = await callWorkspaceTools(FILES);
  return async (params: {[name: string]: Json}) => {
    const {data, error} = await call('search', {context_lines: 0, ...params});
    return {data, error, text: data === null ? '' : tool('search').renderText(data)};
  };
}

describe('W18: search with multiline', () => {
  test('W18: a match may span lines, and is shown as a whole', async () => {
    const search = await open();
    const found = await search({query: 'call\\([^)]*third', is_regex: true, multiline: true});
    expect(found.data).toMatchObject({
      matches: [{file: 'b.ts', line: 3, end_line: 4, content: 'call(\n  third'.replace('third', 'third,')}],
      total_matches: 1,
    });
    expect(found.text).toBe('b.ts\n3:call(\n4:  third,');
  });

  test('W18: never two files, and without it a line is a line', async () => {
    const search = await open();
    expect((await search({query: 'end\\s+of', is_regex: true, multiline: true})).data).toMatchObject({
      total_matches: 0,
    });
    expect((await search({query: '(?s)one.*end', is_regex: true, multiline: true})).data).toMatchObject({
      matches: [{file: 'a.ts', line: 1, end_line: 6}],
    });
    expect((await search({query: 'call\\([^)]*second', is_regex: true})).data).toMatchObject({
      total_matches: 0,
    });
    expect((await search({query: 'a\nb'})).error?.message).toContain(
      '"query" must be a single line, as lines are searched one by one, or multiline true.',
    );
  });

  test('W18: a text of several lines, with the lines around it, and counted by file', async () => {
    const search = await open();
    const text = 'call(\n  ';
    expect((await search({query: text, multiline: true, context_lines: 1})).text).toBe(
      'a.ts\n1-one();\n2:call(\n3:  first,\n4-  second,\n\nb.ts\n2-call(x);\n3:call(\n4:  third,\n5-);',
    );
    const counted = await search({query: text, multiline: true, output: 'count'});
    expect(counted.text).toBe('a.ts: 1\nb.ts: 1\n[2 matches in 2 files]');
    expect((await search({query: '^end$', is_regex: true, multiline: true})).text).toBe('a.ts\n6:end');
  });
});
