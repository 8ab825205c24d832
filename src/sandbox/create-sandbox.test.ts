import {chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {openSandbox, runOptions, type SandboxPlace, SESSIONS} from '../../test/support/open-sandbox.ts';
import {pretendDocker} from '../../test/support/pretend-docker.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {silentLog} from '../core/log.ts';
import {createSandbox} from './create-sandbox.ts';
import {DockerClient} from './docker/client.ts';
import {WorkspaceGuard} from './guard/guard.ts';
import {RepositoryWatch} from './guard/repository-watch.ts';

/** A directory with programs of these names that do what the scripts say. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return directory;
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
    const programDirectories = [programs({docker: NO_DAEMON, bwrap: 'echo "bubblewrap 0.3.1"'})];
    const settings = {sandbox: 'auto', allow_insecure_none: true} as const;
    const error = await refusal({settings, programDirectories});
    expect(error.code).toBe('sandbox_error');
    expect(error.details['tried']).toEqual([
      expect.stringContaining('docker: No Docker daemon answers'),
      expect.stringContaining('bubblewrap: '),
    ]);
    expect(error.message).toBe(
      'Neither Docker nor bubblewrap can be used here. Nothing was run. To fix it: install a newer bubblewrap.',
    );
  });

  test.each(['auto', 'bubblewrap'] as const)(
    'policy: where there is no bubblewrap for the system, %s without Docker is an unsupported platform',
    async sandbox => {
      const place = {
        settings: {sandbox},
        programDirectories: [programs({docker: NO_DAEMON, bwrap: 'echo "bubblewrap 0.9.0"'})],
        machine: {platform: 'darwin', arch: 'arm64'},
      };
      const error = await refusal(place);
      expect(error).toMatchObject({
        code: 'unsupported_platform',
        retryable: false,
        message: expect.stringContaining(
          'this is darwin on arm64. Nothing was run. To fix it: install and start Docker',
        ),
      });
      if (sandbox === 'auto') expect(error.details['tried']).toHaveLength(2);
    },
  );

  test('ruling W8 an image that is not there is not pulled', async () => {
    const docker = `[ "$1" = info ] && echo '${ENGINE}' && exit; echo "$@" >&2; exit 1`;
    const error = await refusal({settings: {sandbox: 'docker'}, programDirectories: [programs({docker})]});
    expect(error.message).toContain('is not there');
    expect(error.details['remedy']).toContain('docker pull');
    expect(error.details['error']).toContain('image inspect');
  });

  test('policy: a daemon that cannot limit memory and processes is not used', async () => {
    const docker = `echo '${ENGINE.replace('"PidsLimit":true', '"PidsLimit":false')}'`;
    const error = await refusal({settings: {sandbox: 'docker'}, programDirectories: [programs({docker})]});
    expect(error.message).toContain('cannot limit memory and processes');
  });

  test('policy: a bubblewrap that cannot make namespaces is an error with the remedy', async () => {
    const bwrap =
      '[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit; echo "bwrap: No permissions" >&2; exit 1';
    const error = await refusal({
      settings: {sandbox: 'bubblewrap'},
      programDirectories: [programs({bwrap, setpriv: 'exit 1'})],
    });
    expect(error.details['remedy']).toContain('kernel.unprivileged_userns_clone=1');
    expect(error.details['error']).toContain('No permissions');
  });

  test('policy: a box that does not say in time what is mounted in it ends, and so does the call', {
    tags: 'slow',
  }, async () => {
    const version = '[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit';
    const directory = programs({
      bwrap: `${version}; [ "$1" = --args ] || exit 1; exec cat >/dev/null`,
      setpriv: 'exit 1',
    });
    const workspace = temporaryDirectory();
    const sandbox = createSandbox(runOptions({sandbox: 'bubblewrap'}), {
      workspace,
      protectedPaths: [],
      sessions: SESSIONS,
      env: {},
      programDirectories: [directory],
      clock: {...systemClock, after: (ms, work) => systemClock.after(ms === 20_000 ? 1 : ms, work)},
      log: silentLog,
    });
    const probed = await sandbox.probe();
    await sandbox.close();
    expect(probed).toMatchObject({ok: false, error: {details: {error: expect.stringContaining('20 s')}}});
  });

  test.each(['docker', 'bwrap'] as const)('R3: %s of the workspace is not run', async name => {
    const kind = name === 'docker' ? 'docker' : 'bubblewrap';
    const workspace = temporaryDirectory();
    const bin = join(workspace, 'node_modules/.bin');
    mkdirSync(bin, {recursive: true});
    writeFileSync(join(bin, name), `#!/bin/sh\necho ran >${join(workspace, 'ran')}\n`, {mode: 0o755});
    const sandbox = createSandbox(runOptions({sandbox: kind}), {
      workspace,
      protectedPaths: [],
      sessions: SESSIONS,
      env: {PATH: `${bin}:relative`},
      programDirectories: [],
      clock: systemClock,
      log: silentLog,
    });
    const probed = await sandbox.probe();
    await sandbox.close();
    expect(probed).toMatchObject({
      error: {
        message: expect.stringContaining(' is not installed. Nothing was run.'),
        details: {remedy: expect.stringContaining('apt-get install')},
      },
    });
    expect(existsSync(join(workspace, 'ran'))).toBe(false);
  });

  test('R3: the docker client gets no directory of the workspace to look for helpers in', async () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'bin'));
    const linked = join(temporaryDirectory(), 'linked');
    symlinkSync(join(workspace, 'bin'), linked);
    const other = temporaryDirectory();
    const path = [join(workspace, 'bin'), linked, other].join(':');
    const client = new DockerClient('/bin/sh', {PATH: path}, [workspace]);
    const {stdout} = await client.ask(['-c', 'echo "$PATH"'], 5000);
    expect(stdout).not.toContain(workspace);
    expect(stdout).not.toContain(linked);
    expect(stdout).toContain(other);
  });

  test.each([
    ['HOME', (place: string) => ({HOME: place})],
    ['DOCKER_CONFIG', (place: string) => ({HOME: '/root', DOCKER_CONFIG: join(place, '.docker')})],
    [
      'a link in HOME',
      (place: string) => {
        const home = temporaryDirectory();
        symlinkSync(join(place, '.docker'), join(home, '.docker'));
        return {HOME: home};
      },
    ],
    [
      'links in the settings',
      (place: string) => {
        const home = temporaryDirectory();
        mkdirSync(join(home, '.docker'));
        symlinkSync(join(place, '.docker/cli-plugins'), join(home, '.docker/cli-plugins'));
        return {HOME: home};
      },
    ],
    [
      'a plugin that is a link',
      (place: string) => {
        const home = temporaryDirectory();
        mkdirSync(join(home, '.docker/cli-plugins'), {recursive: true});
        symlinkSync(
          join(place, '.docker/cli-plugins/docker-zz'),
          join(home, '.docker/cli-plugins/docker-zz'),
        );
        return {HOME: home};
      },
    ],
  ])('policy: no plugin of the docker client is run that lies in the workspace (%s)', async (_, envOf) => {
    const workspace = temporaryDirectory();
    const plugins = join(workspace, '.docker/cli-plugins');
    const ran = join(workspace, 'ran');
    mkdirSync(plugins, {recursive: true});
    const words = `'{"SchemaVersion":"0.1.0","Vendor":"x","Version":"1"}'`;
    writeFileSync(join(plugins, 'docker-zz'), `#!/bin/sh\n: >${ran}\necho ${words}\n`, {mode: 0o755});
    // What a client of Docker does, without a daemon: it asks each plugin for its description.
    const docker = `for p in "\${DOCKER_CONFIG:-$HOME/.docker}"/cli-plugins/*; do "$p"; done; exit 1`;
    const sandbox = createSandbox(runOptions({sandbox: 'docker'}), {
      workspace,
      protectedPaths: [],
      sessions: SESSIONS,
      env: envOf(workspace),
      programDirectories: [programs({docker})],
      clock: systemClock,
      log: silentLog,
    });
    expect((await sandbox.probe()).ok).toBe(false);
    await sandbox.close();
    expect(existsSync(ran)).toBe(false);
  });

  test('policy: settings of the docker client outside of the workspace are used', async () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, '.docker'));
    const client = new DockerClient('/bin/sh', {HOME: home}, [temporaryDirectory()]);
    const {stdout} = await client.ask(['-c', 'echo "$HOME $DOCKER_CONFIG"'], 5000);
    expect(stdout).toBe(`${home} ${home}/.docker\n`);
  });

  test('review R10: of variables, a process of the host is given the harmless ones alone', async () => {
    const opened = openSandbox({settings: {sandbox: 'none', allow_insecure_none: true}});
    for (const name of [
      'HOME',
      'XDG_CONFIG_HOME',
      'MAKEFLAGS',
      'PAGER',
      'GOFLAGS',
      '_JAVA_OPTIONS',
      'GCONV_PATH',
      'LANGUAGE',
      'EDITOR',
      'TERMINFO',
      'lang',
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
    for (const env of [{LANG: '/workspace/x'}, {TZ: ':/etc/passwd'}, {LC_ALL: '../x'}]) {
      await expect(opened.run('true', {env})).rejects.toThrow();
    }
    const env = {LANG: 'C.UTF-8', TZ: 'Europe/Berlin', NO_COLOR: '1'};
    expect((await opened.run('echo $LANG $TZ $NO_COLOR', {env})).out).toBe('C.UTF-8 Europe/Berlin 1\n');
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

describe('what is around a command', () => {
  const command = {command: 'true', env: {}, timeoutMs: 5000, signal: new AbortController().signal};

  function open(settings: SandboxPlace['settings'] = {sandbox: 'docker'}) {
    const docker = pretendDocker();
    const enter = vi.spyOn(WorkspaceGuard.prototype, 'enter');
    const mend = vi.spyOn(WorkspaceGuard.prototype, 'mend');
    const opened = openSandbox({
      ...{settings, programDirectories: [docker.programs], workspace: temporaryDirectory()},
    });
    onTestFinished(opened.close);
    return {...opened, docker, enter, mend};
  }

  test('policy: a session is one of the users of its workspace, which is mended after each command', async () => {
    const {sandbox, enter, mend, log} = open();
    await sandbox.run(command);
    expect(log).toEqual([
      {
        ...{level: 'info', event: 'sandbox_chosen', sandbox: 'docker'},
        message: expect.stringMatching(/^Docker 27\.0, image /),
      },
    ]);
    expect([enter.mock.calls.length, mend.mock.calls.length]).toEqual([1, 1]);
    await sandbox.run(command);
    expect([enter.mock.calls.length, mend.mock.calls.length]).toEqual([1, 2]);
  });

  test('policy: without a sandbox there is nothing to guard', async () => {
    const {sandbox, enter} = open({sandbox: 'none', allow_insecure_none: true});
    expect(await sandbox.run(command)).toMatchObject({ok: true});
    expect(enter).not.toHaveBeenCalled();
  });

  test('policy: what was refused is looked for again with the next call', async () => {
    const {sandbox, docker} = open();
    docker.put('fails-info', 'not yet');
    expect(await sandbox.probe()).toMatchObject({ok: false});
    rmSync(join(docker.programs, '../fails-info'));
    expect(await sandbox.probe()).toMatchObject({ok: true});
  });

  test('review R7: repositories that a command has made are named', async () => {
    const {sandbox, workspace} = open();
    await sandbox.probe();
    const made = {...command, command: `mkdir -p '${workspace}/made/.git'`};
    expect(await sandbox.run(made)).toMatchObject({
      value: {repositories: {paths: ['made'], complete: true}},
    });
    expect(await sandbox.run(command)).toMatchObject({value: {repositories: {paths: [], complete: true}}});
  });

  const refused = Object.assign(new Error('EMFILE: too many open files'), {code: 'EMFILE', syscall: 'open'});

  test('review R7: a tree that cannot be looked at after a command is no failure of it', async () => {
    const {sandbox} = open();
    await sandbox.probe();
    const {look} = RepositoryWatch.prototype;
    const spy = vi.spyOn(RepositoryWatch.prototype, 'look');
    spy.mockImplementationOnce(look).mockRejectedValueOnce(refused);
    expect(await sandbox.run(command)).toMatchObject({
      value: {exitStatus: {kind: 'exited', code: 0}, repositories: {paths: [], complete: false}},
    });
    spy.mockRejectedValueOnce(new Error('A bug.'));
    await expect(sandbox.run(command)).rejects.toThrow('A bug.');
  });

  test('policy: what the system refuses before a command is a failure, and a bug is thrown', async () => {
    const {sandbox} = open();
    await sandbox.probe();
    const spy = vi.spyOn(RepositoryWatch.prototype, 'look').mockRejectedValueOnce(refused);
    expect(await sandbox.run(command)).toMatchObject({
      error: {
        code: 'sandbox_error',
        message:
          'The command could not be started. Nothing was run. To fix it: retry; if it stays, see whether the machine is out of memory, processes or descriptors.',
        details: {error: 'EMFILE: too many open files'},
      },
    });
    spy.mockRejectedValueOnce(Object.assign(new Error('EACCES: denied'), {code: 'EACCES', syscall: 'open'}));
    expect(await sandbox.run(command)).toMatchObject({
      error: {
        message:
          'The command could not be started, as this user has no full access to the workspace. Nothing was run. To fix it: give this user read and write access to it.',
      },
    });
    spy.mockRejectedValueOnce(new Error('A bug.'));
    await expect(sandbox.run(command)).rejects.toThrow('A bug.');
  });
});
