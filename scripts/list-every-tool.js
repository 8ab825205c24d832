import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

/**
 * Every tool, as a configuration that enables all of them offers it.
 *
 * @param {typeof import('../src/create-toolbox.ts').createToolbox} createToolbox
 */
export async function listEveryTool(createToolbox) {
  const workspace = await mkdtemp(join(tmpdir(), 'forge-tools-'));
  const toolbox = createToolbox({
    workspace,
    config: {
      tools: {
        mode: 'enabled',
        webfetch: {enabled: true, cache_dir: ''},
        websearch: {engines: [{kind: 'searxng', endpoint: 'https://search.example.com/search'}]},
      },
    },
  });
  try {
    return toolbox.listTools();
  } finally {
    await toolbox.close();
    await rm(workspace, {recursive: true, force: true});
  }
}
