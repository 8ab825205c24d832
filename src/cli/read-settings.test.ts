import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runCliHere} from '../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {createToolbox} from '../index.ts';
import {EXIT} from './exit-codes.ts';

function fileOf(toml: string): string {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(file, toml);
  return file;
}

describe.each(['disabled', 'parse_only'] as const)('H3: tools.mode = "%s" that is written down', mode => {
  test('stops `fetch`, also of a list and of headings', async () => {
    const file = fileOf(`[tools]\nmode = "${mode}"\n`);
    const url = 'http://127.0.0.1:1/';
    const expected = `"setting":"tools.mode"`;
    for (const extra of [[], ['--outline']]) {
      const {code, stderr, stdout} = await runCliHere(['fetch', url, '--config', file, ...extra]);
      expect(code).toBe(EXIT.failed);
      expect(stdout + stderr).toContain(expected);
    }
    const {stdout, stderr, code} = await runCliHere(['fetch', '--json', url, '--config', file]);
    expect(stdout + stderr).toContain('tool_disabled');
    expect(code).toBe(EXIT.failed);
  });

  test('stops the library', async () => {
    const toolbox = createToolbox({config: {tools: {mode, webfetch: {cache_dir: ''}}}});
    expect(await toolbox.webFetch({url: 'http://127.0.0.1:1/'})).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {tool: 'web_fetch', setting: 'tools.mode'}},
    });
    await toolbox.close();
  });
});

test('H3: where no mode is written, a person may fetch', async () => {
  const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: ''}}}});
  expect(await toolbox.webFetch({url: 'http://127.0.0.1/'})).toMatchObject({error: {code: 'ssrf_blocked'}});
  await toolbox.close();
  const {stdout, stderr} = await runCliHere(['fetch', 'http://127.0.0.1/', '--config', fileOf('')]);
  expect(stdout + stderr).toContain('ssrf_blocked');
});

test.each([[['doctor']], [['config']], [['cache', 'stats']], [['tools']], [['fetch', 'http://a.example/']]])(
  'FR-WF-SEC-OVR-01: a guard that is disabled without its override stops %j',
  async argv => {
    const file = fileOf('[tools.webfetch.security]\nblock_loopback = false\n');
    const {code, stderr} = await runCliHere([...argv, '--config', file]);
    expect(code).toBe(EXIT.config);
    expect(stderr).toContain('SSRF protection cannot be disabled without allow_insecure_overrides=true');
  },
);

describe('FR-WF-05b: what start-up warns about', () => {
  const file = () =>
    fileOf(
      '[tools]\nmode = "enabled"\nmodus = 1\n[tools.webfetch]\ntimeout_seconds = 100000\n[tools.webfetch.security]\nblock_loopback = false\nallow_insecure_overrides = true\n',
    );

  test('is said in sentences on a terminal', async () => {
    const {stderr} = await runCliHere(['tools', '--config', file()], {answers: [], cwd: '/tmp'});
    expect(stderr).toMatch(/^Warning: .*modus is not a known key/m);
    expect(stderr).toMatch(/^Warning: .*timeout_seconds = 100000 is outside/m);
    expect(stderr).toMatch(/^Warning: SSRF protection disabled for: block_loopback$/m);
    expect(stderr).not.toContain('"event"');
  });

  test('is said in a script too, and is a line of the log where a level is asked for', async () => {
    const {stderr} = await runCliHere(['tools', '--config', file()], {cwd: '/tmp'});
    expect(stderr).toMatch(/^Warning: .*modus is not a known key/m);
    expect(stderr).not.toContain('"event"');
    const logged = await runCliHere(['tools', '--config', file(), '--log-level', 'warn'], {cwd: '/tmp'});
    expect(logged.stderr).toContain('"event":"config_warning"');
    const quiet = await runCliHere(['tools', '--config', file(), '--log-level', 'error'], {
      answers: [],
      cwd: '/tmp',
    });
    expect(quiet.stderr).toBe('');
  });
});
