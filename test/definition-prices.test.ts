import {expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import {createToolbox} from '../src/index.ts';
import {describeTool} from '../src/mcp/describe-tool.ts';
import {countTokens} from '../src/web/tokens/count-tokens.ts';

const CORE = 'web_fetch list_files glob search read_file str_replace write_file apply_patch run'.split(' ');

/** What clients put before a model. */
async function prices(): Promise<ReadonlyMap<string, number>> {
  const tools = await listEveryTool(createToolbox);
  return new Map(
    tools.map(tool => {
      const {name, description, inputSchema} = describeTool(tool, 'text');
      return [name, countTokens(JSON.stringify({name, description, inputSchema}))];
    }),
  );
}

test('W18: the definitions of all tools cost a model at most 2,200 tokens, the first nine 1,600', async () => {
  const each = await prices();
  const sum = (names: Iterable<string>) =>
    [...names].reduce((total, name) => total + (each.get(name) ?? 0), 0);
  expect(CORE.every(name => each.has(name))).toBe(true);
  expect(sum(CORE)).toBeLessThanOrEqual(1600);
  expect(sum(each.keys())).toBeLessThanOrEqual(2200);
});

test('W18: what is left out of a definition decides no call', async () => {
  const tools = await listEveryTool(createToolbox);
  for (const tool of tools) {
    const {properties = {}, required} = tool.paramsSchema as {properties?: object; required?: unknown};
    const shown = describeTool(tool, 'text').inputSchema as {properties?: object; required?: unknown};
    expect(Object.keys(shown.properties ?? {})).toEqual(Object.keys(properties));
    expect(shown.required).toEqual(required);
  }
  const fetch = tools.find(({name}) => name === 'web_fetch');
  expect(fetch && describeTool(fetch, 'text').inputSchema).toMatchObject({additionalProperties: false});
});

test('W18: groups are switched off, and an unknown one stops the start', async () => {
  const toolbox = createToolbox({
    workspace: process.cwd(),
    config: {tools: {mode: 'enabled', webfetch: {enabled: true, cache_dir: ''}, groups: ['core']}},
  });
  const names = toolbox.listTools().map(({name}) => name);
  expect(names).toEqual([
    'list_files',
    'glob',
    'search',
    'read_file',
    'str_replace',
    'write_file',
    'apply_patch',
    'run',
    'read_output',
  ]);
  expect(toolbox.listTools().find(({name}) => name === 'run')?.paramsSchema['properties']).not.toHaveProperty(
    'background',
  );
  await toolbox.close();
  expect(() => createToolbox({config: {tools: {groups: ['core', 'webb']}}})).toThrow(
    'tools.groups names "webb", which is no group. The groups are core, web, edit-more, background.',
  );
});
