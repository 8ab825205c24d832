import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

/** A call that waits for its approval, and how to make it again. */
async function waitingCall() {
  const {cwd, env, flags} = cliConfig();
  const runDirectory = join(temporaryDirectory(), 'run');
  const run = ['--run-dir', runDirectory];
  const repeat = async () => {
    const argv = ['call', 'web_fetch', '{"url": "http://page.invalid/"}', '--json', ...run, ...flags];
    const {stdout} = await runCliHere([...argv, '--log-level', 'silent'], {cwd, env});
    return JSON.parse(stdout).error;
  };
  const {details} = await repeat();
  return {id: String(details.approval_id), run, repeat};
}

describe('forge-tools approve', () => {
  test('ruling H4 what was approved passes once when it is made again', async () => {
    const {id, run, repeat} = await waitingCall();
    const {code, stdout} = await runCliHere(['approve', id, ...run]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Approved once, until \S+Z:\n {2}│ web_fetch http:\/\/page\.invalid\/ \(http mode\)\n$/,
    );
    expect(await repeat()).toMatchObject({error_type: 'dns_failed'});
    expect(await repeat()).toMatchObject({error_type: 'approval_required'});
  });

  test('policy: without an id it lists what waits', async () => {
    const {id, run} = await waitingCall();
    const {code, stdout} = await runCliHere(['approve', ...run]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${id}  waits until \\S+Z\n  │ web_fetch http://page\\.invalid/ \\(http mode\\)\n`),
    );
    const json = await runCliHere(['approve', '--json', ...run]);
    expect(JSON.parse(json.stdout)).toMatchObject({id, tool: 'web_fetch'});
    const empty = await runCliHere(['approve', '--run-dir', temporaryDirectory()]);
    expect(empty).toEqual({code: 0, stdout: '', stderr: 'No call waits for an approval.\n'});
  });

  test('policy: a command is listed once', async () => {
    const {cwd, env, flags} = cliConfig('[tools.run]\nsandbox = "none"\n');
    const run = ['--run-dir', join(temporaryDirectory(), 'run')];
    await runCliHere(['call', 'run', '{"command": "echo one line"}', '--workspace', cwd, ...run, ...flags], {
      cwd,
      env,
    });
    const {stdout} = await runCliHere(['approve', ...run]);
    expect(stdout.split('echo one line')).toHaveLength(2);
  });

  test('policy: at a terminal the call is shown and confirmed', async () => {
    const {id, run, repeat} = await waitingCall();
    const no = await runCliHere(['approve', id, ...run], {answers: ['']});
    expect(no.code).toBe(1);
    expect(no.stderr).toContain('web_fetch http://page.invalid/ (http mode)');
    expect(no.stderr).toContain('Not approved.');
    expect(await repeat()).toMatchObject({error_type: 'approval_required'});
    expect(await runCliHere(['approve', id, ...run], {answers: ['y']})).toMatchObject({code: 0});
    expect(await repeat()).toMatchObject({error_type: 'dns_failed'});
  });

  test('policy: --yes does not ask, --dismiss forgets', async () => {
    const {id, run, repeat} = await waitingCall();
    expect(await runCliHere(['approve', id, '--dismiss', ...run])).toMatchObject({code: 0});
    expect(await runCliHere(['approve', id, ...run])).toMatchObject({code: 1});
    await repeat();
    const yes = await runCliHere(['approve', id, '-y', ...run], {answers: []});
    expect(yes).toMatchObject({code: 0, stderr: ''});
  });

  test('M1: --dismiss-all forgets every call that waits', async () => {
    const {cwd, env, flags} = cliConfig();
    for (const host of ['one.invalid', 'two.invalid']) {
      await runCliHere(['call', 'web_fetch', `{"url": "http://${host}/"}`, ...flags], {cwd, env});
    }
    const all = (...more: string[]) => runCliHere(['approve', '--dismiss-all', ...more], {env});
    expect(await all('--yes')).toMatchObject({code: 2});
    expect(await all('0123456789abcdef0123')).toMatchObject({code: 2});
    expect(await all()).toEqual({code: 0, stdout: 'Dismissed 2 calls.\n', stderr: ''});
    expect(await all()).toMatchObject({code: 0, stderr: 'No call waits for an approval.\n'});
    expect((await runCliHere(['approve'], {env})).stderr).toBe('No call waits for an approval.\n');
  });

  test('policy: an id that does not wait is a failure that says so', async () => {
    const run = ['--run-dir', temporaryDirectory()];
    const {code, stderr} = await runCliHere(['approve', '0123456789abcdef0123', ...run], {answers: []});
    expect(code).toBe(1);
    expect(stderr).toContain('No approval "0123456789abcdef0123" is waiting');
    expect(await runCliHere(['approve', '../../x', ...run])).toMatchObject({code: 1});
  });

  test.each([[['a', 'b']], [['--dismiss']]])('policy: %j is wrong usage', async argv => {
    expect(await runCliHere(['approve', ...argv])).toMatchObject({code: 2});
  });
});
