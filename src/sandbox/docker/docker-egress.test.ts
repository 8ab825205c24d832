import {statSync} from 'node:fs';
import {release} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox} from '../../../test/support/open-sandbox.ts';
import {type PretendDocker, pretendDocker} from '../../../test/support/pretend-docker.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {EgressChannel, EgressGate, EgressVisitor} from '../../core/egress/egress-gate.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {bootId} from '../boot-id.ts';
import {UNHEARD} from '../egress/channel-of-sandbox.ts';
import {relayRuntime} from '../egress/relay-runtime.ts';

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
      ['attach', UNHEARD],
      ['attach', UNHEARD],
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
