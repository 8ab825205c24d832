import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {htmlPage, servePages} from '../../../test/support/serve-pages.ts';

const GUIDE = '<h1>Guide</h1><p>Before.</p><h2>Bees</h2><p>Bees drink a litre of water a day.</p>';

async function fixture() {
  const server = await servePages({'/guide': htmlPage(GUIDE)});
  const {cwd, env, flags} = cliConfig(
    `[tools.webfetch.security]\nallow_insecure_overrides = true\nblock_loopback = false\nallowed_ports = [${server.port}]\n`,
  );
  const url = `${server.origin}/guide`;
  const run = (...argv: readonly string[]) =>
    runCliHere(['read', url, ...argv, ...flags, '--log-level', 'silent'], {cwd, env});
  return {url, run};
}

test('R1: read prints what web_read gives, for each of its questions', async () => {
  const {url, run} = await fixture();
  const whole = await run();
  expect(whole).toMatchObject({code: 0, stdout: expect.stringContaining(`["Page" ${url} · `)});
  expect(whole.stdout).toContain('# Guide\n\nBefore.');
  expect((await run('--find', 'how much water')).stdout).toContain('a litre of water');
  expect((await run('--section', '2')).stdout).toMatch(/\n\n## Bees\n\nBees drink/);
  expect((await run('--chunk', '1', '--max-tokens', '256')).code).toBe(0);
  const json = JSON.parse((await run('--section', 'Bees', '--json')).stdout);
  expect(json.passages[0].section).toEqual({number: 2, heading: 'Bees'});
  const again = await run('--snapshot', json.snapshot, '--keep-links');
  expect(again.stdout).toContain(json.snapshot);
});

test('R1: read --quote ends with 0 for a quote and with 1 for what is none', async () => {
  const {run} = await fixture();
  const exact = await run('--quote', 'a litre of water');
  expect(exact).toMatchObject({code: 0, stdout: expect.stringMatching(/^exact · chunk 1, section/)});
  expect(await run('--quote', 'a litre of milk')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('NOT as quoted'),
  });
});

test('policy: read takes one URL and one question, and says what went wrong', async () => {
  const {run} = await fixture();
  expect(await run('--find', 'a', '--chunk', '1')).toMatchObject({code: 2});
  expect(await run('--quote', 'a', '--keep-links')).toMatchObject({code: 2});
  expect(await run('another')).toMatchObject({code: 2});
  expect(await run('--max-tokens', '1')).toMatchObject({code: 2});
  const missing = await run('--section', '9');
  expect(missing).toMatchObject({code: 1, stdout: ''});
  expect(JSON.parse(missing.stderr)).toMatchObject({code: 'bad_args', details: {field: 'section'}});
});
