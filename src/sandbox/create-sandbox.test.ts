import {chmodSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox, type SandboxPlace} from '../../test/support/open-sandbox.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';

/** Programs of these names that do what the scripts say, before those of the system. */
function programs(scripts: Readonly<Record<string, string>>): Record<string, string> {
  const directory = temporaryDirectory();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return {PATH: directory};
}

const NO_DAEMON = 'echo "Cannot connect to the Docker daemon" >&2; exit 1';
const ENGINE =
  '{"ServerVersion":"27.0","Driver":"overlay2","MemoryLimit":true,"PidsLimit":true,"SecurityOptions":[]}';

async function refusal(place: SandboxPlace) {
  const opened = openSandbox(place);
  const ran = await opened.sandbox.run({
    command: 'true',
    env: {},
    timeoutMs: 5000,
    signal: new AbortController().signal,
  });
  await opened.close();
  if (ran.ok) throw new Error('Expected a refusal.');
  return ran.error;
}

describe('createSandbox', () => {
  test('ruling W8 none needs allow_insecure_none, and says so', async () => {
    const error = await refusal({settings: {sandbox: 'none'}});
    expect(error.code).toBe('sandbox_error');
    expect(error.details['remedy']).toContain('tools.run.allow_insecure_none = true');
  });

  test('ruling W8 auto never falls back to none; both refusals and the remedy are named', async () => {
    const env = programs({docker: NO_DAEMON, bwrap: 'echo "bubblewrap 0.3.1"'});
    const error = await refusal({settings: {sandbox: 'auto', allow_insecure_none: true}, env});
    expect(error.code).toBe('sandbox_error');
    expect(error.details['tried']).toEqual([
      expect.stringContaining('docker: No Docker daemon answers'),
      expect.stringContaining('bubblewrap: '),
    ]);
    expect(error.message).toContain('To fix it: install a newer bubblewrap.');
  });

  test('ruling W8 an image that is not there is not pulled', async () => {
    const docker = `[ "$1" = info ] && echo '${ENGINE}' && exit; echo "$@" >&2; exit 1`;
    const error = await refusal({settings: {sandbox: 'docker'}, env: programs({docker})});
    expect(error.message).toContain('is not there');
    expect(error.details['remedy']).toContain('docker pull');
    expect(error.details['error']).toContain('image inspect');
  });

  test('policy: a daemon that cannot limit memory and processes is not used', async () => {
    const docker = `echo '${ENGINE.replace('"PidsLimit":true', '"PidsLimit":false')}'`;
    const error = await refusal({settings: {sandbox: 'docker'}, env: programs({docker})});
    expect(error.message).toContain('cannot limit memory and processes');
  });

  test('policy: a bubblewrap that cannot make namespaces is an error with the remedy', async () => {
    const bwrap =
      '[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit; echo "bwrap: No permissions" >&2; exit 1';
    const error = await refusal({
      settings: {sandbox: 'bubblewrap'},
      env: programs({bwrap, setpriv: 'exit 1'}),
    });
    expect(error.details['remedy']).toContain('kernel.unprivileged_userns_clone=1');
    expect(error.details['error']).toContain('No permissions');
  });

  test('policy: a program of the workspace is not taken for one of the host', async () => {
    const error = await refusal({
      settings: {sandbox: 'docker'},
      env: {PATH: 'bin:.', DOCKER_HOST: 'unix:///none'},
    });
    expect(error.details['remedy']).toMatch(/start it|apt-get install docker/);
  });

  test('policy: variables that hijack programs are not given to a process of the host', async () => {
    const opened = openSandbox({settings: {sandbox: 'none', allow_insecure_none: true}});
    for (const name of [
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'GIT_DIR',
      'BASH_ENV',
      'ENV',
      'PATH',
      'PYTHONSTARTUP',
    ]) {
      const ran = await opened.sandbox.run({
        command: 'true',
        env: {[name]: 'x'},
        timeoutMs: 5000,
        signal: new AbortController().signal,
      });
      expect(ran).toMatchObject({
        ok: false,
        error: {code: 'invalid_params', details: {field: `env.${name}`}},
      });
    }
    await opened.close();
  });
});

test('regression: a command that the system cannot take is a sandbox_error and no exception', async () => {
  const opened = openSandbox({settings: {sandbox: 'none', allow_insecure_none: true}});
  onTestFinished(opened.close);
  const ran = await opened.sandbox.run({
    command: `true ${'x'.repeat(3_000_000)}`,
    env: {},
    timeoutMs: 5000,
    signal: new AbortController().signal,
  });
  expect(ran).toMatchObject({
    ok: false,
    error: {code: 'sandbox_error', details: {error: expect.stringContaining('E2BIG')}},
  });
});
