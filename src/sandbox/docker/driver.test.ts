import {chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {release} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  openSandbox,
  runOptions,
  type SandboxPlace,
  type SandboxSettings,
  SESSIONS,
} from '../../../test/support/open-sandbox.ts';
import {CONFINED, type PretendDocker, pretendDocker} from '../../../test/support/pretend-docker.ts';
import {startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {EgressChannel, EgressGate, EgressVisitor} from '../../core/egress-gate.ts';
import {silentLog} from '../../core/log.ts';
import {packageFile} from '../../core/package-file.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {bootId, ownIdentity} from '../../system/process.ts';
import {createSandbox} from '../create-sandbox.ts';
import {NO_ANSWER_YET} from '../egress-channel.ts';
import {relayCommand, relayRuntime} from '../egress-relay.ts';
import type {StartedCommand} from '../sandbox.ts';
import {DockerClient} from './client.ts';
import {execArguments} from './driver.ts';
import {START, SUPERVISE} from './scripts.ts';
import type {DockerSetup} from './setup.ts';

const NAME = /^forge-tools-[0-9a-f]{16}$/;
const OWNER = `forge-tools.owner=${JSON.stringify(ownIdentity())}`;

const NO_LOCALE = {LANG: '', LC_ALL: '', TZ: '', XDG_CONFIG_HOME: ''};
const COMMITTERS = ['AUTHOR', 'COMMITTER'].flatMap(who => [
  `GIT_${who}_NAME=forge-tools`,
  `GIT_${who}_EMAIL=forge-tools@localhost`,
]);

function open(
  docker: PretendDocker,
  settings: SandboxSettings & {docker?: {user: string}} = {},
  place: SandboxPlace = {},
) {
  const opened = openSandbox({
    settings: {
      ...{sandbox: 'docker', memory_mb: 300, tmp_mb: 20, cpus: 3, max_processes: 77, open_files: 4096},
      ...settings,
      ...{docker: {image: 'an-image', user: '1001:1002', ...settings.docker}},
    } as SandboxSettings,
    programDirectories: [docker.programs],
    env: {DOCKER_HOST: '', PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...NO_LOCALE},
    workspace: temporaryDirectory(),
    ...place,
  });
  onTestFinished(opened.close);
  return opened;
}

/** As a command ends that is refused. */
async function refusalOf({sandbox}: ReturnType<typeof open>) {
  const ran = await sandbox.run({
    ...{command: 'true', env: {}, timeoutMs: 5000},
    signal: new AbortController().signal,
  });
  if (ran.ok) throw new Error('Expected a refusal.');
  return ran.error;
}

describe('DockerSandbox', () => {
  test('ruling W8 a container has no network, no capability, no way up, a root for reading, and its limits', async () => {
    const docker = pretendDocker();
    const {run, workspace} = open(docker);
    await run('true');
    const [args = [], ...more] = docker.calls('run');
    expect(more).toEqual([]);
    expect(args[5]).toMatch(NAME);
    const seccomp = fileURLToPath(packageFile('assets/docker-seccomp.json'));
    expect(args).toEqual([
      ...['run', '--rm', '--interactive', '--init=false', '--name', args[5], '--label', 'forge-tools=run'],
      ...['--label', OWNER, '--pull=never', '--network=none', '--read-only', '--cap-drop=ALL'],
      ...['--cap-add=KILL', '--user', '0:0', '--security-opt=no-new-privileges:true'],
      ...[`--security-opt=seccomp=${seccomp}`, '--ipc=private', '--log-driver=none'],
      ...['--memory', '300m', '--memory-swap', '300m', '--pids-limit', '77', '--cpus', '3'],
      ...['--ulimit', 'nofile=4096:4096', '--ulimit', 'core=0:0', '--hostname', 'sandbox'],
      ...['--workdir', '/workspace', '--shm-size', '20m'],
      ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev,mode=1777,size=20m'],
      ...['--mount', `"type=bind","source=${workspace}","target=/workspace"`],
      ...['--mount', `"type=bind","source=${workspace}/.git","target=/workspace/.git","readonly"`],
      ...['npm_config_fetch_retries=0', ...COMMITTERS, 'HOME=/tmp', 'TMPDIR=/tmp', 'TERM=dumb'].flatMap(
        variable => ['--env', variable],
      ),
      ...['--entrypoint', '/bin/sh', 'sha256:1234', '-c', SUPERVISE],
    ]);
  });

  test('ruling W8 a supervisor that is the user of the commands needs no capability', async () => {
    const docker = pretendDocker();
    await open(docker, {docker: {user: '0:0'}}).run('true');
    expect(docker.calls('run')[0]).not.toContain('--cap-add=KILL');
  });

  test('ruling W8 a command is run as the user, where it is to, with its variables behind ours', async () => {
    const docker = pretendDocker();
    const {run} = open(docker);
    const ran = await run('echo out; echo err >&2; exit 3');
    expect(ran).toMatchObject({
      ...{sandbox: 'docker', out: 'out\n', err: 'err\n', exitStatus: {kind: 'exited', code: 3}},
      leftRunning: [],
    });
    await run('true', {env: {A: 'b c'}, directory: 'sub'});
    const [name = ''] = docker.calls('run').map(args => args[5]);
    const [, , plain = [], below = []] = docker.calls('exec');
    expect(plain).toEqual([
      ...['exec', '--interactive', '--user', '1001:1002', name, '/bin/sh', '-c', START, 'sh', ''],
      ...['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'],
    ]);
    expect(below).toEqual([
      ...['exec', '--interactive', '--user', '1001:1002', '--workdir', '/workspace/sub', name],
      ...['/bin/sh', '-c', START, 'sh', '', 'env', 'A=b c', '/bin/sh', '-c', 'true'],
    ]);
  });

  test('ruling W8 what is mounted is asked for as the user of the commands', async () => {
    const docker = pretendDocker();
    await open(docker).run('true');
    const [report = []] = docker.calls('exec');
    expect(report.slice(0, 3)).toEqual(['exec', '--user', '1001:1002']);
    expect(report.slice(-3)).toEqual(['sh', '/workspace', '/workspace/.git']);
  });

  test('W21 the ports of a command are those of its container', async () => {
    const docker = pretendDocker();
    docker.put('network', ' 0: 00000000:1F90 00000000:0000 0A 0 0 0 0 0 77\n');
    const {sandbox} = open(docker);
    let ports: Promise<readonly number[] | undefined> | undefined;
    const onStart = (started: StartedCommand) => {
      expect(started.sandbox).toBe('docker');
      ports = started.listeningPorts();
    };
    await sandbox.run({
      command: 'true',
      env: {},
      timeoutMs: 5000,
      signal: new AbortController().signal,
      onStart,
    });
    expect(await ports).toEqual([8080]);
    expect(docker.calls('exec').find(args => args.includes('cat'))).toEqual(
      expect.arrayContaining(['exec', '--user', '1001:1002', 'cat', '/proc/net/tcp', '/proc/net/tcp6']),
    );
  });

  test('ruling W8 a session has one container, which goes with it', async () => {
    const docker = pretendDocker();
    const {run, sandbox} = open(docker);
    for (const _ of [1, 2]) await run('true');
    expect(docker.calls('run')).toHaveLength(1);
    expect(docker.calls('rm')).toEqual([]);
    await sandbox.close();
    expect(docker.calls('rm')).toEqual([['rm', '--force', docker.calls('run')[0]?.[5]]]);
  });

  test('ruling W8 with "fresh" each command has its own', {tags: 'slow'}, async () => {
    const docker = pretendDocker();
    const {run} = open(docker, {isolation: 'fresh'});
    for (const _ of [1, 2]) await run('true');
    // The probe has one as well.
    expect(new Set(docker.calls('run').map(args => args[5])).size).toBe(3);
    expect(docker.calls('rm').map(args => args[2])).toEqual(docker.calls('run').map(args => args[5]));
  });

  test('policy: a container that is gone since its last command is replaced, and the command is run once', {
    tags: 'slow',
  }, async () => {
    const docker = pretendDocker();
    const {run, workspace} = open(docker);
    await run('true');
    docker.put('gone', '');
    const counting = join(workspace, 'count');
    expect(await run(`echo x >>${counting}`)).toMatchObject({exitStatus: {kind: 'exited', code: 0}});
    expect(statSync(counting).size).toBe(2);
    expect(docker.calls('run')).toHaveLength(2);
  });

  test('review R4: where something was done in a guarded part, the container is asked again what it has', {
    tags: 'slow',
  }, async () => {
    const docker = pretendDocker();
    const {run, workspace} = open(docker);
    const reports = () => docker.calls('exec').filter(args => args.join(' ').includes('report_mounts'));
    for (const _ of [1, 2]) await run('true');
    expect(reports()).toHaveLength(1);
    chmodSync(join(workspace, '.git'), 0o600);
    await run('true');
    expect(reports()).toHaveLength(2);
    expect(docker.calls('run')).toHaveLength(1);
    // And not used where it has something else.
    chmodSync(join(workspace, '.git'), 0o644);
    docker.put('mounts', `kernel ${bootId()}\n`);
    await expect(run('true')).rejects.toThrow('is moved or replaced');
    expect(docker.calls('rm')).toHaveLength(4);
  });

  test('policy: where one more part is guarded, a container that lacks it is replaced', async () => {
    const docker = pretendDocker();
    const protectedPaths = (workspace: string) => [join(workspace, 'a/policy')];
    const {run, workspace} = open(
      docker,
      {},
      {protectedPaths, prepare: place => mkdirSync(join(place, 'a'))},
    );
    await run('true');
    writeFileSync(join(workspace, 'a/policy'), '');
    await run('true');
    expect(docker.calls('run')).toHaveLength(2);
    expect(docker.calls('run')[1]).toContain(
      `"type=bind","source=${workspace}/a/policy","target=/workspace/a/policy","readonly"`,
    );
  });

  test('policy: where another part is guarded than before, a container that lacks it is replaced', async () => {
    const docker = pretendDocker();
    const protectedPaths = (workspace: string) => [join(workspace, 'a/policy'), join(workspace, 'b/policy')];
    const {run, workspace} = open(
      docker,
      {},
      {
        protectedPaths,
        prepare: place => {
          for (const name of ['a', 'b']) mkdirSync(join(place, name));
          writeFileSync(join(place, 'a/policy'), '');
        },
      },
    );
    await run('true');
    rmSync(join(workspace, 'a/policy'));
    writeFileSync(join(workspace, 'b/policy'), '');
    await run('true');
    expect(docker.calls('run')).toHaveLength(2);
  });

  test('review R4: a workspace that was replaced between two commands is not run in, and its container goes', async () => {
    const docker = pretendDocker();
    const workspace = join(temporaryDirectory(), 'work');
    mkdirSync(workspace);
    const opened = open(docker, {}, {workspace});
    await opened.run('true');
    renameSync(workspace, `${workspace}-before`);
    mkdirSync(workspace);
    expect((await refusalOf(opened)).message).toContain('is not the directory any more');
    expect(docker.calls('rm')).toHaveLength(1);
  });

  test('policy: a container that waits keeps nothing of ours', async () => {
    const docker = pretendDocker();
    const children = startedChildren();
    const {run} = open(docker);
    await run('true');
    const container = children.find(({spawnargs}) => spawnargs.includes('--rm'));
    const handle = (container as unknown as {_handle: {hasRef: () => boolean} | null})?._handle;
    expect(handle?.hasRef()).toBe(false);
  });

  test('policy: a name with quotes is one field for the client', async () => {
    const docker = pretendDocker();
    const protectedPaths = (workspace: string) => [join(workspace, 'a"b,c')];
    await open(docker, {}, {protectedPaths, prepare: place => mkdirSync(join(place, 'a"b,c'))}).run('true');
    expect(docker.calls('run')[0]?.filter(arg => arg.includes('a""b,c'))).toHaveLength(1);
  });

  test('ruling W20 out of memory is said where the container counted a kill during the command', async () => {
    const docker = pretendDocker();
    const {run} = open(docker);
    await run('true');
    docker.put('left', 'left sleep\nleft make\noom 1\nswept\n');
    expect(await run('kill -s KILL $$')).toMatchObject({
      exitStatus: {kind: 'killed', code: 137, signal: 'SIGKILL', outOfMemory: true},
      leftRunning: ['sleep', 'make'],
    });
    // Counted before.
    expect(await run('kill -s KILL $$')).toMatchObject({exitStatus: {kind: 'killed', outOfMemory: false}});
  });

  test('ruling W8 a command that takes too long, or is cancelled, is ended in its container', {
    tags: 'slow',
  }, async () => {
    const docker = pretendDocker();
    const {run} = open(docker);
    expect(await run('sleep 600', {timeoutMs: 50})).toMatchObject({
      exitStatus: {kind: 'timeout'},
      leftRunning: [],
    });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    expect(await run('sleep 600', {signal: abort.signal})).toMatchObject({exitStatus: {kind: 'cancelled'}});
    expect(docker.calls('run')).toHaveLength(1);
  });

  test('policy: a container whose supervisor does not answer is not used again', {tags: 'slow'}, async () => {
    const docker = pretendDocker();
    const workspace = temporaryDirectory();
    const sandbox = createSandbox(runOptions({sandbox: 'docker'}), {
      ...{
        workspace,
        protectedPaths: [],
        sessions: SESSIONS,
        env: {},
        programDirectories: [docker.programs],
        log: silentLog,
      },
      clock: {...systemClock, after: (ms, work) => systemClock.after(ms === 3000 ? 50 : ms, work)},
    });
    onTestFinished(() => sandbox.close());
    const run = () =>
      sandbox.run({command: 'true', env: {}, timeoutMs: 5000, signal: new AbortController().signal});
    await run();
    docker.put('left', 'stuck\n');
    expect(await run()).toMatchObject({ok: true, value: {exitStatus: {kind: 'exited', code: 0}}});
    expect(docker.calls('rm')).toHaveLength(1);
    docker.put('left', 'oom 0\nswept\n');
    await run();
    expect(docker.calls('run')).toHaveLength(2);
  });

  test('policy: what Docker says when it starts nothing is in the error', async () => {
    const docker = pretendDocker();
    docker.put('fails-run', 'no space left on device\n');
    expect(await refusalOf(open(docker))).toMatchObject({
      code: 'sandbox_error',
      message:
        'Docker could not start the command. Nothing was run. To fix it: read the words of Docker in details.error; docker info shows the state of the daemon.',
      details: {error: 'no space left on device'},
    });
    const [run, rm] = [docker.calls('run'), docker.calls('rm')];
    expect(rm.map(args => args[2])).toEqual(run.map(args => args[5]));
  });

  test('ruling W8 a container that does not confine is not used', async () => {
    const docker = pretendDocker();
    docker.put('probe', CONFINED.replace('Seccomp:\t2', 'Seccomp:\t0'));
    expect((await refusalOf(open(docker))).message).toBe(
      'Docker does not confine as it should: no system call filter is installed. Nothing was run. To fix it: start dockerd without --security-opt seccomp=unconfined, or use tools.run.sandbox = "bubblewrap".',
    );
  });

  test('review R1: what is mounted has to be what was looked at, and is looked at three times', async () => {
    const docker = pretendDocker();
    docker.put('mounts', `kernel ${bootId()}\nat 1:1\nat 1:2\nready\n`);
    expect((await refusalOf(open(docker))).message).toBe(
      '"." in the workspace is moved or replaced while it is being mounted. Nothing was run. To fix it: end what moves it (a command of another session, a build outside), and call again.',
    );
    expect(docker.calls('run')).toHaveLength(3);
    expect(docker.calls('rm')).toHaveLength(3);
    docker.put('mounts', 'no stat\n');
    expect((await refusalOf(open(docker))).message).toBe(
      'The image "an-image" has no stat, so it cannot be seen what is mounted in it. Nothing was run. To fix it: name an image with coreutils or busybox in tools.run.docker.image.',
    );
    expect(docker.calls('run')).toHaveLength(4);
  });

  test('review R14: containers of hosts that are gone are removed, and no others', async () => {
    const docker = pretendDocker();
    const gone = {...ownIdentity(), pid: 2 ** 22 + 1};
    const owners = {
      ...{a1: gone, b2: ownIdentity(), c3: {...gone, host: 'elsewhere'}, d4: {...gone, pid: -1}},
      ...{e5: {...gone, pid: 'x'}, f6: gone},
    };
    const lines = Object.entries(owners).map(([id, owner]) => `${id} ${JSON.stringify(owner)}`);
    docker.put('containers', [...lines, 'g7 ', 'h8 {', ''].join('\n'));
    const {run, sandbox} = open(docker);
    await run('true');
    await sandbox.close();
    const format = '{{.ID}} {{.Label "forge-tools.owner"}}';
    expect(docker.calls('ps')).toEqual([
      ['ps', '--all', '--no-trunc', '--filter', 'label=forge-tools=run', '--format', format],
    ]);
    expect(docker.calls('rm')).toContainEqual(['rm', '--force', 'a1', 'f6']);
  });

  test('review R14: where the daemon does not list them nothing is removed', async () => {
    const docker = pretendDocker();
    docker.put('fails-ps', 'no');
    const {run} = open(docker);
    await run('true');
    expect(docker.calls('rm')).toEqual([]);
  });
});

describe('what Docker is asked before the first command', () => {
  test('ruling W8 the report says version and image, and the memory is counted by the kernel', async () => {
    const docker = pretendDocker();
    const {sandbox, log} = open(docker);
    expect(await sandbox.probe()).toEqual({
      ok: true,
      value: {sandbox: 'docker', memoryLimit: 'kernel', description: 'Docker 27.0, image an-image'},
    });
    expect(log.map(({event}) => event)).toEqual(['sandbox_chosen']);
    expect(docker.calls('info')).toEqual([['info', '--format', '{{json .}}']]);
    expect(docker.calls('image')).toEqual([['image', 'inspect', '--format', '{{.Id}}', 'an-image']]);
  });

  test('policy: a driver that copies the image for every container is a warning', async () => {
    const {sandbox, log} = open(pretendDocker({Driver: 'vfs'}));
    await sandbox.probe();
    expect(log[0]).toEqual({
      ...{level: 'warn', event: 'sandbox_slow_storage'},
      message:
        'Docker uses the vfs storage driver, which copies the image for every container. Use overlay2.',
    });
  });

  test('ruling W8 commands run as the owner of the workspace, or as root where the daemon is rootless', async () => {
    for (const [info, user] of [
      [{}, undefined],
      [{SecurityOptions: ['name=seccomp', 'name=rootless']}, '0:0'],
    ] as const) {
      const docker = pretendDocker(info);
      const {run, workspace} = open(docker, {docker: {user: ''}});
      const {uid, gid} = statSync(workspace);
      await run('true');
      expect(docker.calls('exec')[0]?.[2]).toBe(user ?? `${uid}:${gid}`);
    }
  });

  test.each(
    // biome-ignore format: a case is a line
    [
      [{ServerVersion: ''}, 'No Docker daemon answers', 'start it (systemctl start docker), check DOCKER_HOST and'],
      [{ServerVersion: 1}, 'No Docker daemon answers', 'start it (systemctl start docker), check DOCKER_HOST and'],
      [{MemoryLimit: false}, 'The Docker daemon cannot limit memory', 'give the daemon the memory and pids'],
      [{PidsLimit: false}, 'The Docker daemon cannot limit memory', 'give the daemon the memory and pids'],
    ],
  )('policy: a daemon of which it says %j is not used', async (info, problem, remedy) => {
    const error = await refusalOf(open(pretendDocker(info)));
    expect(error.message).toContain(problem);
    expect(error.message).toContain(`Nothing was run. To fix it: ${remedy}`);
  });

  test('policy: what is missing is said with what to do, and with the words of the client', async () => {
    const silent = pretendDocker();
    silent.put('info', 'no JSON');
    expect((await refusalOf(open(silent))).message).toContain('No Docker daemon answers');
    const down = pretendDocker();
    down.put('fails-info', 'is it running?');
    expect((await refusalOf(open(down))).details['error']).toBe('is it running?');
    const bare = pretendDocker();
    bare.put('fails-image', 'No such image');
    expect(await refusalOf(open(bare))).toMatchObject({
      message:
        'The image "an-image" is not there. Nothing was run. To fix it: docker pull an-image, or name another one in tools.run.docker.image.',
      details: {error: 'No such image'},
    });
  });
});

const setup: DockerSetup = {
  client: new DockerClient('/bin/sh', {}, []),
  ...{image: 'sha256:1', user: '7:8', description: 'x', relay: undefined, bootId: 'x'},
};
const command = {command: 'a b', env: {}, timeoutMs: 1, signal: new AbortController().signal};

test('X1: a command in a container has the relay started before it where there is a way out', () => {
  const exec = ['exec', '--interactive', '--user', '7:8', 'name', '/bin/sh', '-c', START, 'sh'];
  const end = ['/bin/sh', '-c', 'a b'];
  expect(execArguments('name', setup, command)).toEqual([...exec, '', ...end]);
  const relay = {mounts: [], program: ['/loader', '/node']};
  expect(execArguments('name', {...setup, relay}, command)).toEqual([
    ...[...exec, relayCommand(['/loader', '/node']), ...end],
  ]);
});

describe('docker egress', () => {
  const ENGINE_ELSEWHERE =
    'The Docker engine runs on another machine, so its containers cannot reach the way out of this one. Nothing was run. To fix it: use bubblewrap or an engine of this machine (DOCKER_HOST), or leave tools.run.egress empty.';

  /** A gate that writes down what is asked of it. */
  function pretendGate(answer?: Result<EgressChannel>) {
    const calls: unknown[] = [];
    const channel: EgressChannel = {
      socketPath: '/the/socket',
      attach: visitor => {
        calls.push(['attach', visitor]);
        return () => void calls.push('detach');
      },
      close: async () => void calls.push('close'),
    };
    const gate: EgressGate = {
      endsTls: false,
      open: async uid => {
        calls.push(['open', uid]);
        return answer ?? ok(channel);
      },
      close: async () => {},
    };
    return {gate, calls};
  }

  function open(docker: PretendDocker, egress: EgressGate, isolation = 'session') {
    const opened = openSandbox({
      settings: {sandbox: 'docker', isolation, docker: {image: 'an-image', user: '1001:1002'}} as never,
      programDirectories: [docker.programs],
      workspace: temporaryDirectory(),
      egress,
    });
    onTestFinished(opened.close);
    const run = (egress?: EgressVisitor) =>
      opened.sandbox.run({
        ...{command: 'true', env: {}, timeoutMs: 5000, egress},
        signal: new AbortController().signal,
      });
    /** Lets the container say that it has what is there by now. */
    const putMounts = () => {
      const parts = [opened.workspace, join(opened.workspace, '.git')].map(path => statSync(path));
      docker.put(
        'mounts',
        [
          ...[`kernel ${bootId()}`, ...parts.map(({dev, ino}) => `at ${dev}:${ino}`)],
          ...['1 1 0:1 / /workspace rw - x', '1 1 0:1 / /workspace/.git ro - x', 'ready', ''],
        ].join('\n'),
      );
    };
    return {...opened, run, putMounts};
  }

  const messageOf = (ran: Result<unknown>) => (ran.ok ? 'ok' : ran.error.message);
  const ofThisMachine = {KernelVersion: release()};

  describe('the way out of a container', () => {
    test('X1: an engine of another kernel is refused before a container is made', async () => {
      const docker = pretendDocker({KernelVersion: `${release()}-other`});
      const {gate, calls} = pretendGate();
      expect(messageOf(await open(docker, gate).run())).toBe(ENGINE_ELSEWHERE);
      expect([docker.calls('run'), calls]).toEqual([[], []]);
    });

    test('X1: so is one whose containers say that theirs is another', async () => {
      const docker = pretendDocker(ofThisMachine);
      const {gate, calls} = pretendGate();
      expect(messageOf(await open(docker, gate).run())).toBe(ENGINE_ELSEWHERE);
      expect(docker.calls('run')).toHaveLength(1);
      expect(docker.calls('rm')).toHaveLength(1);
      expect(calls).toEqual([['open', 1001], 'close']);
    });

    test('X1: where the gate cannot be opened, that is told', async () => {
      const refused = fail('sandbox_error', 'No socket.', {});
      const docker = pretendDocker(ofThisMachine);
      const {gate, calls} = pretendGate(refused);
      expect(await open(docker, gate).run()).toEqual(refused);
      expect([docker.calls('run'), calls]).toEqual([[], [['open', 1001]]]);
    });

    test('X1: a container sees the socket and Node for reading, and each command attaches itself', {
      tags: 'slow',
    }, async () => {
      const docker = pretendDocker(ofThisMachine);
      const {gate, calls} = pretendGate();
      const {run, putMounts, sandbox} = open(docker, gate);
      docker.put('mounts', `kernel ${bootId()}\nat 1:1\nat 1:2\nready\n`);
      expect(messageOf(await run())).toContain('"." in the workspace is moved');
      putMounts();
      calls.splice(0);
      // Its Node is not there: here is no container.
      expect(await run()).toMatchObject({
        ok: false,
        error: {
          message: expect.stringContaining('Docker could not start the command'),
          details: {error: 'The relay of the way out (tools.run.egress) did not start.'},
        },
      });
      const visitor: EgressVisitor = {onConnection: () => {}};
      await run(visitor);
      await sandbox.close();
      const attached = calls.filter(call => Array.isArray(call) && call[0] === 'attach');
      expect(attached.slice(0, 2)).toEqual([
        ['attach', NO_ANSWER_YET],
        ['attach', NO_ANSWER_YET],
      ]);
      expect(attached.at(-1)).toEqual(['attach', visitor]);
      expect(calls.filter(call => call === 'detach')).toHaveLength(attached.length);
      expect(calls.filter(call => call === 'close')).toHaveLength(
        calls.filter(call => Array.isArray(call) && call[0] === 'open').length,
      );
      const {mounts} = await relayRuntime(process.execPath);
      const args = docker.calls('run').at(-1) ?? [];
      expect(args.filter(arg => arg.includes('/run/forge-egress'))).toEqual(
        [...mounts, {source: '/the/socket', target: '/run/forge-egress/socket'}].map(
          ({source, target}) => `"type=bind","source=${source}","target=${target}","readonly"`,
        ),
      );
      expect(args).toContain('HTTPS_PROXY=http://127.0.0.1:3128');
      expect(args).not.toContain('npm_config_fetch_retries=0');
    });

    test('X1: a command that did not start in a new container is not tried in another one', async () => {
      const docker = pretendDocker(ofThisMachine);
      const {run, putMounts} = open(docker, pretendGate().gate, 'fresh');
      docker.put('mounts', `kernel ${bootId()}\nat 1:1\nat 1:2\nready\n`);
      await run();
      putMounts();
      const before = docker.calls('run').length;
      expect(messageOf(await run())).toContain('Docker could not start the command');
      // That of the probe, and its own.
      expect(docker.calls('run').length - before).toBe(2);
    });
  });
});
