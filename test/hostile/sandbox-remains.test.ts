import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, chownSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {fileForUser} from '../support/file-for-user.ts';
import {runOptions} from '../support/open-sandbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {processHerd} from './support/process-herd.ts';

const HOST = join(import.meta.dirname, 'support/sandbox-cycles.js');
/** 1,000 in the long form. */
const CYCLES = Number(process.env['FORGE_TEST_SANDBOX_CYCLES'] ?? 100);
const MINUTES = 60_000;

const KINDS = [
  {kind: 'bubblewrap', user: 0, share: 1},
  {kind: 'bubblewrap', user: 1000, share: 0.5},
  {kind: 'docker', user: 0, share: 0.1},
] as const;

interface Started {
  readonly host: ChildProcess;
  readonly workspace: string;
}

interface HostPlan {
  readonly kind: 'bubblewrap' | 'docker';
  readonly user: number;
  /** `HOST`, where the user can load it. */
  readonly program: string;
}

function startHost({kind, user, program}: HostPlan, cycles: number): Started {
  const workspace = temporaryDirectory();
  chmodSync(workspace, 0o700);
  chownSync(workspace, user, user);
  const options = JSON.stringify(runOptions({sandbox: kind, memory_mb: 128, max_processes: 64}));
  // It waits until it is in the control group.
  const host = spawn(
    '/bin/sh',
    ['-c', 'read -r go; exec "$@"', 'sh', process.execPath, program, options, workspace, String(cycles)],
    {stdio: ['pipe', 'pipe', 'inherit'], uid: user, gid: user, cwd: '/', detached: true},
  );
  return {host, workspace};
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds() && performance.now() < deadline) await new Promise(resolve => setTimeout(resolve, 20));
}

function containersOf(workspace: string): string {
  const env = {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']};
  return execFileSync('docker', ['ps', '-aq', '--filter', `volume=${workspace}`], {env, encoding: 'utf8'});
}

describe.each(KINDS)('$kind, host of user $user', ({kind, user, share}) => {
  test(
    'review R14: opening, running and closing leaves nothing, time and again',
    async () => {
      const herd = processHerd();
      const plan = {kind, user, program: fileForUser(HOST, user)};
      const {host, workspace} = startHost(plan, Math.ceil(CYCLES * share));
      let said = '';
      host.stdout?.on('data', chunk => {
        said += chunk;
      });
      herd.take(host.pid ?? 0);
      host.stdin?.end('go\n');
      const [code] = await once(host, 'close');
      expect({code, said}).toEqual({code: 0, said: ''});
      // Not a moment later: `close` has waited for all of it.
      expect({members: herd.members(), groups: herd.groups()}).toEqual({members: [], groups: []});
      expect(readdirSync(workspace)).toEqual([]);
      if (kind === 'docker') expect(containersOf(workspace)).toBe('');
    },
    30 * MINUTES,
  );

  test(
    'review R14: a host that is killed at any moment leaves nothing',
    async () => {
      const herd = processHerd();
      const plan = {kind, user, program: fileForUser(HOST, user)};
      const workspaces: string[] = [];
      for (let round = 0; round < Math.ceil(CYCLES * share); round++) {
        const started = startHost(plan, 0);
        const {host} = started;
        const pid = host.pid ?? 0;
        workspaces.push(started.workspace);
        herd.take(pid);
        host.stdin?.end('go\n');
        if (host.stdout === null) throw new Error('Expected the output of the host to be a pipe.');
        expect(String((await once(host.stdout, 'data'))[0])).toBe('ready\n');
        await new Promise(resolve => setTimeout(resolve, Math.random() * 120));
        // Every second time with its clients, as a service manager does.
        process.kill(round % 2 === 0 ? pid : -pid, 'SIGKILL');
        await once(host, 'close');
        await until(() => herd.members().length === 0 && herd.groups().length === 0);
        expect({round, members: herd.members(), groups: herd.groups()}).toEqual({
          round,
          members: [],
          groups: [],
        });
      }
      // The next session takes away what said that the killed ones were there, and what nobody had started yet.
      const {host} = startHost(plan, 1);
      herd.take(host.pid ?? 0);
      host.stdin?.end('go\n');
      await once(host, 'close');
      const directory = `/tmp/forge-tools-sessions-${user}`;
      const entries = readdirSync(directory).filter(name =>
        readFileSync(join(directory, name), 'utf8').includes(`"pid":${host.pid}`),
      );
      expect(entries).toEqual([]);
      if (kind === 'docker') {
        const left = (): readonly string[] => workspaces.map(containersOf).filter(Boolean);
        await until(() => left().length === 0);
        expect(left()).toEqual([]);
      }
    },
    60 * MINUTES,
  );
});

test('review R17: as process 1 of a container, Node is left no zombies', async () => {
  const workspace = temporaryDirectory();
  const options = JSON.stringify(runOptions({sandbox: 'bubblewrap', memory_mb: 128, max_processes: 64}));
  const program = [process.execPath, HOST, options, workspace, '5'];
  const host = spawn('unshare', ['--pid', '--fork', '--mount-proc', ...program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  host.stdout.on('data', chunk => {
    said += chunk;
  });
  await once(host, 'close');
  expect(said).toMatch(/^zombies 0 of \d+\n$/);
});
