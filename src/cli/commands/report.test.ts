import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {ok} from '../../core/result.ts';

async function recordedRun() {
  const {cwd, env, flags} = cliConfig();
  const run = join(temporaryDirectory(), 'run');
  const argv = ['call', 'web_fetch', '{"url": "http://10.0.0.1/"}', '--run-dir', run, ...flags];
  await runCliHere([...argv, '--allow', 'web_fetch', '--log-level', 'silent'], {cwd, env});
  return {run, cwd, env, flags};
}

test('report: it writes the page, says where, and in a line what is in it', async () => {
  const {run, cwd} = await recordedRun();
  const {code, stdout} = await runCliHere(['report', run]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/report\.html\n1 call, 1 refused, 0 failed, \d+\.\d s; log intact\.\n$/);
  expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('block_private_ips');

  const elsewhere = await runCliHere(['report', run, '--out', 'page.html', '--json'], {cwd});
  expect(JSON.parse(elsewhere.stdout)).toMatchObject({path: join(cwd, 'page.html'), refused: 1});
  expect(existsSync(join(cwd, 'page.html'))).toBe(true);
});

test('report: "latest" is the run of the default place that was written to last', async () => {
  const {cwd, env, flags} = cliConfig();
  await runCliHere(['call', 'list_files', '{}', ...flags], {cwd, env});
  const {code, stdout} = await runCliHere(['report', 'latest'], {cwd, env});
  expect(code).toBe(0);
  expect(stdout.startsWith(join(env['XDG_STATE_HOME'] ?? '', 'forge-tools', 'runs'))).toBe(true);
});

test('report: a changed log is a found one', async () => {
  const report = {
    path: '/x',
    bytes: 1,
    calls: 2,
    refused: 0,
    failed: 0,
    durationSec: 1,
    changed: 1,
    altered: 0,
  };
  const say = (more: object) =>
    runCliHere(['report', 'x'], {
      services: {writeReport: async () => ok({...report, log: 'intact', ...more})},
    });
  expect(await say({log: 'tampered'})).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('THE LOG WAS CHANGED'),
  });
  expect(await say({altered: 3})).toMatchObject({code: 1, stdout: expect.stringContaining('3 FILES')});
});

test('report: --live serves until it is interrupted', async () => {
  const {run} = await recordedRun();
  const interrupted = new AbortController();
  const outcome = runCliHere(['report', run, '--live'], {
    signal: interrupted.signal,
    onStdout: text => {
      expect(text).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{48}\/\n$/);
      interrupted.abort();
    },
  });
  expect(await outcome).toMatchObject({code: 0, stderr: expect.stringContaining(`Following ${run}`)});
});

test('report: a run that is not there is a failure', async () => {
  for (const live of [[], ['--live']]) {
    const {code, stderr} = await runCliHere(['report', '/nonexistent/run', ...live]);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({code: 'file_not_found'});
  }
});

test.each([[[]], [['']], [['a', 'b']], [['a', '--live', '--out', 'x']], [['a', '--out', '']]])(
  'policy: report %j is wrong usage',
  async argv => {
    expect(await runCliHere(['report', ...argv])).toMatchObject({code: 2});
  },
);
