import {type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fileForUser} from '../support/file-for-user.ts';
import {openSandbox, processesWith, runOptions, uniqueSleep} from '../support/open-sandbox.ts';
import {has, needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

function makeRepository(workspace: string): void {
  execFileSync('git', ['init', '-q', workspace], {env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent'}});
}

const HOST = fileURLToPath(new URL('../support/sandbox-host.js', import.meta.url));

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Expected ${what} within 15 s.`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

interface HostPlan {
  readonly env?: Record<string, string>;
  /** Whom it runs as; ours, if not given. */
  readonly user?: number | undefined;
  /** What it inherits as descriptor 20. */
  readonly descriptor?: number;
}

function startHost(
  sandbox: 'docker' | 'bubblewrap',
  command: string,
  {env, user, descriptor}: HostPlan = {},
) {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forge-host-')));
  onTestFinished(() => rmSync(workspace, {recursive: true, force: true}));
  if (user !== undefined) chownSync(workspace, user, user);
  const options = JSON.stringify(runOptions({sandbox, memory_mb: 64, max_processes: 32}));
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  if (descriptor !== undefined) stdio.push(...Array<'ignore'>(17).fill('ignore'), descriptor);
  const program = user === undefined ? HOST : fileForUser(HOST, user);
  const host = spawn(process.execPath, [program, options, workspace, command], {
    env: {...process.env, ...env},
    stdio,
    cwd: '/',
    ...(user === undefined ? {} : {uid: user, gid: user}),
  });
  return {host, workspace};
}

/** What the command of a host wrote to its standard output. */
async function outputOf(host: ChildProcess): Promise<string> {
  let text = '';
  host.stdout?.on('data', chunk => {
    text += chunk;
  });
  await once(host, 'close');
  const {bytes} = JSON.parse(text).value.stdout;
  return Buffer.from(Object.values<number>(bytes)).toString();
}

function containersOf(workspace: string): string {
  const env = {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']};
  return execFileSync('docker', ['ps', '-aq', '--filter', `volume=${workspace}`], {env, encoding: 'utf8'});
}

function groups(): readonly string[] {
  const list = (path: string): string[] => {
    try {
      return readdirSync(path, {recursive: true}).map(String);
    } catch {
      return [];
    }
  };
  return ['pids', 'cpu', 'memory']
    .flatMap(controller => list(`/sys/fs/cgroup/${controller}`).map(path => `${controller}/${path}`))
    .filter(path => path.includes(`forge-tools.${process.pid}.`) && path.endsWith('cgroup.procs'));
}

describe.each([
  {sandbox: 'bubblewrap', part: 'bubblewrap'} as const,
  {sandbox: 'docker', part: 'Docker'} as const,
])('$sandbox', ({sandbox, part}) => {
  test('policy: when the host is killed, everything inside dies', needs(part), async () => {
    const sleep = uniqueSleep();
    const {host, workspace} = startHost(sandbox, `setsid sleep ${sleep} & sleep ${sleep}`);
    await until(() => processesWith(`sleep\0${sleep}`).length === 2, 'the command to run');
    host.kill('SIGKILL');
    await once(host, 'exit');
    await until(() => processesWith(sleep).length === 0, 'the command to be dead');
    // What waited for the next command is gone too.
    await until(() => processesWith(workspace).length === 0, 'no process to be left');
    if (sandbox === 'docker') await until(() => containersOf(workspace) === '', 'no container to be left');
  });

  test('policy: a host that forgets to close the sandbox can still end', needs(part), async () => {
    const {host} = startHost(sandbox, 'echo done', {env: {FORGE_TEST_NO_CLOSE: '1'}});
    const [code] = await once(host, 'exit');
    expect(code).toBe(0);
  });

  test('policy: close leaves no process, no container and no control group', needs(part), async () => {
    const opened = openSandbox({settings: {sandbox}});
    await Promise.all([opened.run('true'), opened.run('true')]);
    await opened.run('true');
    await opened.close();
    expect(groups()).toEqual([]);
    expect(processesWith(opened.workspace)).toEqual([]);
    if (sandbox === 'docker') expect(containersOf(opened.workspace)).toBe('');
  });

  test('W11: a repository that a person makes between two commands is guarded', needs(part), async () => {
    const opened = openSandbox({settings: {sandbox}});
    onTestFinished(() => opened.close());
    await opened.run('true');
    rmSync(join(opened.workspace, '.git'));
    makeRepository(opened.workspace);
    const ran = await opened.run('git status --short; echo x >.git/config || rm .git/HEAD || mv .git x');
    expect(ran).toMatchObject({out: '', exitStatus: {kind: 'exited', code: 1}});
    expect(readdirSync(opened.workspace)).toEqual(['.git']);
  });

  test(
    'review R1: what the host replaces or moves between two commands is guarded as before',
    needs(part),
    async () => {
      const config = (workspace: string): string => join(workspace, '.git/config');
      const opened = openSandbox({settings: {sandbox, git: 'commit'}, prepare: makeRepository});
      onTestFinished(() => opened.close());
      const tries = 'echo x >.git/config; echo x >.git/hooks/pre-commit; mv .git x; rm -rf .git/hooks';
      // Time and again, as the number of a removed file is given to the next one.
      for (const text of ['[core] # second', '[core] # third']) {
        await opened.run('true');
        if (sandbox === 'bubblewrap' && has('control groups'))
          await until(isSandboxWarm, 'a box to wait for the next command');
        writeFileSync(`${config(opened.workspace)}.lock`, text);
        renameSync(`${config(opened.workspace)}.lock`, config(opened.workspace));
        const ran = await opened.run(`cat .git/config; ${tries}`);
        expect(ran.out).toBe(text);
        expect(readFileSync(config(opened.workspace), 'utf8')).toBe(text);
        // Away and back: the same directory, and its mount is gone from every box.
        const git = join(opened.workspace, '.git');
        renameSync(git, `${git}-aside`);
        renameSync(`${git}-aside`, git);
        await opened.run(tries);
        expect(readFileSync(config(opened.workspace), 'utf8')).toBe(text);
        expect(readdirSync(opened.workspace)).toEqual(['.git']);
      }
    },
  );

  test(
    'W11: a place holder goes with the last session, and a killed one leaves it to the next',
    needs(part),
    async () => {
      const {host, workspace} = startHost(sandbox, `sleep ${uniqueSleep()}`);
      await until(
        () => processesWith('sleep\0' + '600.').length > 0 && readdirSync(workspace).includes('.git'),
        'the command to run',
      );
      const other = openSandbox({settings: {sandbox}, workspace});
      await other.run('true');
      await other.sandbox.close();
      expect(readdirSync(workspace)).toEqual(['.git']);
      host.kill('SIGKILL');
      await once(host, 'exit');
      expect(readdirSync(workspace)).toEqual(['.git']);
      const next = openSandbox({settings: {sandbox}, workspace});
      expect((await next.run('git status')).err).toContain('not a git repository: /nonexistent/');
      await next.sandbox.close();
      expect(readdirSync(workspace)).toEqual([]);
    },
  );
});

describe('bubblewrap', needs('bubblewrap'), () => {
  const settings = {sandbox: 'bubblewrap'} as const;

  test.each([
    ['another user', 1234],
    ['root', 0],
  ])('policy: no set-uid program is left behind in a workspace of %s', async (_, owner) => {
    const opened = openSandbox({settings, owner});
    onTestFinished(() => opened.close());
    const attempts = [
      'touch a; chmod u+s a',
      'touch b; chmod 2755 b',
      `perl -MFcntl -e 'sysopen(F, "c", O_WRONLY|O_CREAT, 04755) or exit 1'`,
      `perl -e 'syscall(85, my $n = "d", 04755) >= 0 or exit 1'`,
      `perl -e 'syscall(452, -100, my $n = "a", 04755, 0) == 0 or exit 1'`,
      'install -m 4755 /bin/true e',
      'mkdir f; chmod g+s f',
    ];
    const ran = await opened.run(
      attempts
        .map(
          attempt =>
            `(${attempt}) 2>/dev/null && echo "allowed: ${attempt.slice(0, 30).replaceAll('"', '')}"`,
        )
        .join('\n'),
    );
    expect(ran.out).toBe('');
    const {out} = await opened.run('find . -perm /6000');
    expect(out).toBe('');
  });

  test('policy: sockets of the hypervisor and raw packets are refused, local ones work', async () => {
    const opened = openSandbox({settings});
    onTestFinished(() => opened.close());
    const family = (number: number): string =>
      `perl -e 'socket(S, ${number}, 1, 0) ? print "yes " : print "$!{EAFNOSUPPORT} "'`;
    expect((await opened.run([40, 17, 38, 31].map(family).join('; '))).out).toMatch(/^(?:97 |1 ){4}$/);
    const local = `perl -MIO::Socket -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die; $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die; print "local"'`;
    expect((await opened.run(local)).out).toBe('local');
  });

  test('policy: a root without capabilities writes nothing of the kernel', async () => {
    const opened = openSandbox({settings, owner: 0});
    onTestFinished(() => opened.close());
    // Opened only: a value written here would be the host's.
    const ran = await opened.run(
      'find /proc/sys /proc/irq /proc/bus /proc/fs /proc/self/ -maxdepth 6 -type f -writable 2>/dev/null | while read -r f; do (: >>"$f") 2>/dev/null && echo "$f"; done | head',
    );
    expect(ran.out).toBe('');
  });

  test('policy: no descriptor that the host has inherited is passed on', async () => {
    const secret = openSync(HOST, 'r');
    const {host} = startHost('bubblewrap', 'cat /proc/self/fd/20; echo end', {descriptor: secret});
    expect(await outputOf(host)).toBe('end\n');
    closeSync(secret);
  });

  test('policy: a host that is no root and has no control group limits each process', async () => {
    const isRoot = process.getuid?.() === 0;
    const command = [
      'n=0; while [ $n -lt 40 ]; do sleep 5 & n=$((n + 1)); done 2>/dev/null; echo "started $n"',
      `perl -e '$x = "a" x 300_000_000; print "allocated"'`,
      'grep -E "^Max (processes|data size|core)" /proc/self/limits',
    ];
    const {host} = startHost('bubblewrap', command.toReversed().join('; '), {
      user: isRoot ? 1234 : undefined,
    });
    const out = await outputOf(host);
    if (!isRoot) return;
    expect(out).toMatch(/^Max data size\s+67108864/m);
    expect(out).toMatch(/^Max processes\s+32/m);
    expect(out).not.toContain('allocated');
    expect(out).not.toContain('started');
  });
});

describe('docker', needs('Docker'), () => {
  const docker = (...args: string[]): Promise<unknown> =>
    once(
      spawn('docker', args, {
        env: {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']},
        stdio: 'ignore',
      }),
      'exit',
    );

  test('review R14: a container that was never started, as host and client were killed, goes with the next session', async () => {
    const programs = temporaryDirectory();
    // What a client does first; then all that could start it or take it away is gone.
    const script = `[ "$1" = run ] || exec /usr/bin/docker "$@"
      shift; /usr/bin/docker create "$@"; kill -s KILL "$PPID" "$$"`;
    writeFileSync(join(programs, 'docker'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
    const {host, workspace} = startHost('docker', 'true', {env: {FORGE_TEST_PROGRAMS: programs}});
    expect(await once(host, 'close')).toEqual([null, 'SIGKILL']);
    await until(() => containersOf(workspace) !== '', 'the container to be made');
    const alive = openSandbox({settings: {sandbox: 'docker'}});
    onTestFinished(() => alive.close());
    await alive.run('true');
    const next = openSandbox({settings: {sandbox: 'docker'}});
    await next.run('true');
    await next.close();
    expect(containersOf(workspace)).toBe('');
    // One whose host is alive is nobody else's to remove.
    expect(containersOf(alive.workspace)).not.toBe('');
  });

  test('policy: one container serves a session, another one each command on request', async () => {
    const session = openSandbox({settings: {sandbox: 'docker'}});
    onTestFinished(() => session.close());
    await session.run('echo kept >/tmp/note');
    expect((await session.run('cat /tmp/note')).out).toBe('kept\n');
    const fresh = openSandbox({settings: {sandbox: 'docker', isolation: 'fresh'}});
    onTestFinished(() => fresh.close());
    await fresh.run('echo lost >/tmp/note');
    expect((await fresh.run('cat /tmp/note')).exitStatus).toEqual({kind: 'exited', code: 1});
  });

  test('policy: a container that somebody has removed is replaced', async () => {
    const opened = openSandbox({settings: {sandbox: 'docker'}});
    onTestFinished(() => opened.close());
    const name = processesName((await opened.run('true')) && opened.workspace);
    await docker('rm', '--force', name);
    expect(await opened.run('echo again')).toMatchObject({out: 'again\n'});
  });
});

/** Whether a box of ours has all its mounts, and its process 1 nothing to do. */
function isSandboxWarm(): boolean {
  return processesWith('ulimit -c 0').some(pid => {
    try {
      const isOurs = readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/forge-tools.${process.pid}.`);
      return isOurs && readCommand(pid)[2]?.startsWith('\nexec >&4');
    } catch {
      // It ends while a box is made.
      return false;
    }
  });
}

/** The name in the arguments of the client that holds the container of a workspace. */
function processesName(workspace: string): string {
  const [pid] = processesWith(workspace);
  const words = pid === undefined ? [] : readCommand(pid);
  return words[words.indexOf('--name') + 1] ?? '';
}

function readCommand(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
}

const PROGRAM = resolve(import.meta.dirname, '../../dist/bin/forge-tools.js');

/** A command line in a mount namespace whose /proc is gone. */
function withoutProc(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const script = 'umount -l /proc && exec "$@"';
  const {status, stdout, stderr} = spawnSync(
    'unshare',
    ['--mount', 'sh', '-c', script, 'sh', process.execPath, PROGRAM, ...args],
    {encoding: 'utf8', env: {PATH: process.env['PATH'], HOME: temporaryDirectory(), ...env}},
  );
  return {status, text: stdout + stderr};
}

test.each([
  ['read_file', {path: 'a.txt'}],
  ['run', {command: 'true'}],
])('review B14: without /proc %s says what is missing, and runs nothing', needs('root'), (tool, params) => {
  const workspace = temporaryDirectory();
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
  const {status, text} = withoutProc(['call', tool, JSON.stringify(params), '--workspace', workspace]);
  expect(status).not.toBe(0);
  expect(text).toContain(`Could not open the workspace "${workspace}": ENOENT.`);
  expect(text).toContain('/proc mounted');
});

test(
  'review B14: without /proc doctor says that no workspace can be opened',
  needs('root', 'bubblewrap'),
  () => {
    const {status, text} = withoutProc(['doctor']);
    expect(status).not.toBe(0);
    expect(text).toContain('/proc mounted');
  },
);
