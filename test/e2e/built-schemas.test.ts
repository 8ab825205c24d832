import {expect, test} from 'vitest';
import {createToolbox, type ToolboxOptions} from '../../src/create-toolbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const BUILT = new URL('../../dist/create-toolbox.js', import.meta.url).href;

/** Every setting that a schema could follow, and the other form of web_fetch. */
const SETTINGS = [
  {webfetch: {enabled: true}},
  {webfetch: {enabled: true}, groups: ['core', 'web', 'edit-more']},
  {webfetch: {enabled: true, default_max_chunk_tokens: 256}},
  {webfetch: {enabled: true, output: 'text'}},
  {webfetch: {enabled: true, timeout_seconds: 7}, run: {timeout_seconds: 7}},
] as const;

test.each(SETTINGS)(
  'policy: the schemas that the build worked out are those of the code, with %j',
  async settings => {
    const {createToolbox: createBuilt} = (await import(BUILT)) as {
      readonly createToolbox: typeof createToolbox;
    };
    const workspace = temporaryDirectory();
    const list = async (create: typeof createToolbox) => {
      const options = {workspace, config: {tools: {mode: 'enabled', ...settings}}} as ToolboxOptions;
      const toolbox = create(options);
      const tools = toolbox.listTools();
      await toolbox.close();
      return tools;
    };
    const worked = await list(createToolbox);
    expect(worked.length).toBeGreaterThan(15);
    expect(await list(createBuilt)).toEqual(worked);
  },
);
