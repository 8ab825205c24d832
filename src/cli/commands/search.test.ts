import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {answer, htmlPage, servePages} from '../../../test/support/serve-pages.ts';

test('search prints results and, with --read, passages; without an engine it says how to name one', async () => {
  const pages = await servePages({
    '/guide': htmlPage('<h1>Bees</h1><p>Bees drink a litre of water a day.</p>'),
  });
  const results = [{url: `${pages.origin}/guide`, title: 'The guide', content: 'About bees.'}];
  const engine = await servePages({'/search': answer('application/json', JSON.stringify({results}))});
  const open = `[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${pages.port}, ${engine.port}]\n`;
  const searching = `[[tools.websearch.engines]]\nkind = "searxng"\nendpoint = "${engine.origin}/search"\n`;
  const {cwd, env, flags} = cliConfig(open + searching);
  const search = (...argv: readonly string[]) =>
    runCliHere(['search', ...argv, ...flags, '--log-level', 'silent'], {cwd, env});
  expect(await search('how', 'much', 'water')).toMatchObject({
    code: 0,
    stdout: `[1 result]\n\n1. The guide\n   ${pages.origin}/guide\n   About bees.\n`,
  });
  expect(engine.requests.at(-1)).toContain('q=how+much+water');
  expect((await search('water', '--read', '1')).stdout).toContain('Bees drink a litre of water a day.');
  const json = JSON.parse((await search('water', '--json', '--results', '1')).stdout);
  expect(json).toMatchObject({results: [{title: 'The guide'}]});
  expect(await search('water', '--since', 'ever')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"since"'),
  });
  expect((await search()).code).toBe(2);

  const bare = cliConfig(open);
  const refused = await runCliHere(['search', 'x', ...bare.flags], {cwd: bare.cwd, env: bare.env});
  expect(refused).toMatchObject({code: 1, stderr: expect.stringContaining('[[tools.websearch.engines]]')});
});
