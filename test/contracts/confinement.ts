import {execFileSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {
  type OpenSandbox,
  openSandbox,
  processesWith,
  type SandboxPlace,
  uniqueSleep,
} from '../support/open-sandbox.ts';

const OTHER_USER = 1234;
/** Of the workspace; they differ where the tests run as root. */
const OWNERS: readonly (readonly [string, number])[] = [
  ['another user', OTHER_USER],
  ['root', 0],
];

/**
 * What every implementation does that is called a sandbox. The attempts are harmless where they succeed:
 * access to files of the host
 * and the kernel is asked for, never used.
 */
export function confinementContract(name: string, place: SandboxPlace): void {
  const open = (more: SandboxPlace = {}): OpenSandbox => {
    const opened = openSandbox({...place, ...more, settings: {...place.settings, ...more.settings}});
    onTestFinished(() => opened.close());
    return opened;
  };

  describe(`contract of confinement: ${name}`, () => {
    let opened: OpenSandbox;
    const run: OpenSandbox['run'] = (command, options) => opened.run(command, options);
    beforeAll(() => {
      opened = openSandbox({owner: OTHER_USER, ...place});
    });
    afterAll(() => opened.close());

    test('ruling W8 no network: neither the host, nor its loopback, nor its abstract sockets', async () => {
      const name = `\0forge-${process.pid}`;
      const tcp = createServer(socket => socket.end('reached')).listen(0, '127.0.0.1');
      const abstract = createServer(socket => socket.end('reached')).listen({path: name});
      onTestFinished(() => {
        tcp.close();
        abstract.close();
      });
      await Promise.all(
        [tcp, abstract].map(server => new Promise(resolve => server.once('listening', resolve))),
      );
      const address = tcp.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const script = `use Socket;
        socket(T, PF_INET, SOCK_STREAM, 0) and connect(T, sockaddr_in(${port}, inet_aton("127.0.0.1"))) and print "tcp: ", <T>;
        socket(P, PF_INET, SOCK_STREAM, 0) and connect(P, sockaddr_in(53, inet_aton("8.8.8.8"))) and print "public";
        socket(U, PF_UNIX, SOCK_STREAM, 0) and connect(U, pack_sockaddr_un("\\0forge-${process.pid}")) and print "abstract: ", <U>;
        print "tried";`;
      expect((await run(`perl -e '${script}'`)).out).toBe('tried');
      expect(
        (
          await run(
            'grep -cvE "^ *(lo|tunl0|sit0|gre0|gretap0|erspan0|ip6tnl0|ip6gre0|ip_vti0|ip6_vti0|.*\\|.*)" /proc/net/dev',
          )
        ).out,
      ).not.toMatch(/^[3-9]/);
    });

    test('ruling W8 nothing outside is read: files of the host, other processes, kernel memory', async () => {
      const outside = mkdtempSync(join(tmpdir(), 'forge-secret-'));
      onTestFinished(() => rmSync(outside, {recursive: true}));
      writeFileSync(join(outside, 'secret'), 'the secret', {mode: 0o644});
      const ran = await run(
        `cat ${outside}/secret; ln -s ${outside}/secret link; cat link; cat /proc/1/root${outside}/secret; ` +
          'cat ../../../../../../etc/shadow; ls /root /home; cat /dev/mem /dev/kmsg /proc/kcore | head -c 1; ls /proc | grep -c "^[0-9]"; rm -f link',
      );
      expect(ran.out).not.toContain('secret');
      expect(Number(ran.out.trim().split('\n').at(-1))).toBeLessThan(12);
      const fds = await run('for fd in /proc/self/fd/*; do readlink "$fd"; done');
      for (const target of fds.out.trim().split('\n'))
        expect(target).toMatch(/^(?:pipe:|\/dev\/null$|\/proc\/|$)/);
    });

    test.each(OWNERS)('ruling W8 nothing outside is written, by commands of %s', async (_, owner) => {
      const owned = open({owner});
      const targets = [
        ...['/', '/usr', '/usr/bin', '/etc', '/etc/passwd', '/proc', '/sys', '/bin/sh', '/var', '..'],
        ...['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory'],
        ...[
          '/proc/sysrq-trigger',
          '/proc/irq',
          '/proc/bus',
          '/sys/fs/cgroup',
          '/sys/fs/cgroup/release_agent',
        ],
        ...[
          '/sys/fs/cgroup/memory/release_agent',
          '/sys/kernel/uevent_helper',
          '/sys/fs/cgroup/cgroup.procs',
        ],
      ];
      const ran = await owned.run(
        `for target in ${targets.join(' ')}; do [ -w "$target" ] && echo "$target"; done; exit 0`,
      );
      expect(ran).toMatchObject({ending: {kind: 'exited', code: 0}, out: ''});
    });

    test('ruling W8 no privilege: no capability, no set-uid, no namespace, no device, no tracing', async () => {
      const {out} = await run('cat /proc/self/status');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
        expect(out).toMatch(new RegExp(`^${set}:\\s*0+$`, 'm'));
      // Docker: CAP_KILL, which `no_new_privs` keeps out of reach.
      expect(out).toMatch(/^CapBnd:\s*0+(?:20)?$/m);
      expect(out).toMatch(/^NoNewPrivs:\s*1$/m);
      expect(out).toMatch(/^Seccomp:\s*2$/m);
      const attempts = [
        ...[
          'mount -t tmpfs none /tmp',
          'mount --bind / /tmp',
          'umount /workspace',
          'unshare -U true',
          'unshare -m true',
        ],
        ...['unshare -n true', 'nsenter -t 1 -m true', 'mknod device b 8 0', 'chroot / true'],
        ...['chown 0:0 . && chown 1:1 .', 'setpriv --reuid 1 true', 'dmesg'],
        ...['ip link add x type dummy', 'su -c true', 'mount -o remount,rw /usr', 'mount -o remount,rw /'],
      ];
      const ran = await run(
        attempts.map(attempt => `(${attempt}) >/dev/null 2>&1 && echo '${attempt}'`).join('; '),
      );
      expect(ran.out).toBe('');
    });

    test('policy: system calls that escapes are made of are refused (x86-64 numbers)', async () => {
      if (process.arch !== 'x64') return;
      const calls = {
        mount: '165, 0, 0, 0, 0, 0',
        unshare_user: '272, 0x10000000',
        clone_user: '56, 0x10000011, 0, 0, 0, 0',
        setns: '308, 0, 0',
        keyctl: '250, 0, -3, 1',
        add_key: '248, "user", "x", "y", 1, -3',
        bpf: '321, 0, 0, 0',
        perf_event_open: '298, 0, 0, -1, -1, 0',
        open_by_handle_at: '304, -100, "xxxxxxxxxxxxxxxx", 0',
        kexec_load: '246, 0, 0, 0, 0',
        init_module: '175, 0, 0, 0',
        userfaultfd: '323, 0',
        af_packet: '41, 17, 3, 0',
        pivot_root: '155, "/", "/"',
        reboot: '169, 0, 0, 0',
      };
      const lines = Object.entries(calls).map(
        ([call, args]) =>
          `$r = syscall(${args}); if ($r == 0 && "${call}" eq "clone_user") { exit } print "${call}\\n" if $r >= 0;`,
      );
      expect((await run(`perl -e '${lines.join('\n')}'`)).out).toBe('');
    });

    test('policy: .git/hooks and .git/config are for reading, and cannot be moved away', async () => {
      const guarded = open({
        owner: OTHER_USER,
        prepare: workspace => {
          mkdirSync(join(workspace, '.git/hooks'), {recursive: true});
          mkdirSync(join(workspace, '.git/objects'));
          mkdirSync(join(workspace, '.git/refs'));
          writeFileSync(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n');
          writeFileSync(join(workspace, '.git/config'), '[core]\n\trepositoryformatversion = 0\n');
        },
      });
      const git = (path: string): string => join(guarded.workspace, '.git', path);
      const made = await guarded.run(
        'echo /workspace/evil >.git/commondir && echo "[core]" >.git/config.worktree && echo made',
      );
      expect(made.out).toBe('made\n');
      expect(existsSync(git('commondir'))).toBe(false);
      expect(existsSync(git('config.worktree'))).toBe(false);
      const attempts = [
        ...[
          'echo x >.git/hooks/post-commit',
          'echo x >>.git/config',
          'mv .git/hooks aside',
          'mv .git aside',
          'rm -rf .git',
        ],
        ...[
          'ln -sf /tmp/x .git/config',
          'git config core.fsmonitor x',
          'mv .git/config aside',
          'rmdir .git/hooks',
        ],
      ];
      const ran = await guarded.run(
        attempts.map(attempt => `(${attempt}) >/dev/null 2>&1 && echo '${attempt}'`).join('; '),
      );
      expect(ran.out).toBe('');
      expect(existsSync(git('hooks/post-commit'))).toBe(false);
      expect(readFileSync(git('config'), 'utf8')).toBe('[core]\n\trepositoryformatversion = 0\n');
    });

    test('policy: a repository that is there can be committed to', async () => {
      const guarded = open({owner: OTHER_USER});
      const as = process.getuid?.() === 0 ? {uid: OTHER_USER, gid: OTHER_USER} : {};
      execFileSync('git', ['init', '-q', guarded.workspace], {
        ...as,
        env: {PATH: process.env['PATH'], HOME: '/tmp'},
      });
      const ran = await guarded.run(
        'echo x >f && git add f && git -c user.name=n -c user.email=e@e commit -qm m && git log --format=%s && git status --short',
      );
      expect(ran).toMatchObject({ending: {kind: 'exited', code: 0}, out: 'm\n'});
    });

    test('policy: a workspace without a repository gets none, and no trace of the guard', async () => {
      const guarded = openSandbox({...place, owner: OTHER_USER});
      const ran = await guarded.run(
        'mkdir -p .git/hooks; echo x >.git/config; git init . ; mv .git x; ls .git',
      );
      expect(ran.out.trim()).toBe('');
      await guarded.sandbox.close();
      expect(existsSync(join(guarded.workspace, '.git'))).toBe(false);
      await guarded.close();
    });

    test('policy: the policy is for reading, wherever it lies in the workspace', async () => {
      const guarded = open({
        owner: OTHER_USER,
        prepare: workspace => {
          mkdirSync(join(workspace, 'a/b'), {recursive: true});
          writeFileSync(join(workspace, 'a/b/policy.toml'), 'deny');
        },
        protectedPaths: workspace => [join(workspace, 'a/b/policy.toml'), '/elsewhere/policy.toml'],
      });
      const attempts = [
        'echo x >a/b/policy.toml',
        'rm a/b/policy.toml',
        'mv a/b c',
        'mv a c',
        'mv a/b/policy.toml c',
      ];
      const ran = await guarded.run(
        attempts.map(attempt => `(${attempt}) 2>/dev/null && echo '${attempt}'`).join('; '),
      );
      expect(ran.out).toBe('');
      expect((await guarded.run('echo x >a/b/other && cat a/b/policy.toml')).out).toBe('deny');
    });

    test.each(OWNERS)(
      'policy: new files belong to the owner of the workspace, %s, and its modes stay',
      async (_, owner) => {
        const owned = open({owner});
        const before = statSync(owned.workspace);
        const ran = await owned.run('echo x >file && mkdir dir && chmod 700 dir && id -u');
        expect(ran.ending).toEqual({kind: 'exited', code: 0});
        for (const name of ['file', 'dir']) {
          const {uid, gid} = statSync(join(owned.workspace, name));
          expect({uid, gid}).toEqual({uid: before.uid, gid: before.gid});
        }
        const after = statSync(owned.workspace);
        expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
      },
    );

    test('ruling W8 limits: a fork bomb ends with its call, and the next command runs', async () => {
      const bombed = open({owner: OTHER_USER, settings: {max_processes: 64}});
      const mark = uniqueSleep();
      const ran = await bombed.run(
        // The shell that waits forks once only, before there is anything in its way.
        `bomb() { bomb | bomb & }; (bomb) 2>/dev/null & while :; do :; done # ${mark}`,
        {timeoutMs: 700},
      );
      expect(ran.ending).toEqual({kind: 'timeout'});
      expect(processesWith(mark)).toEqual([]);
      expect(await bombed.run('echo alive')).toMatchObject({out: 'alive\n', leftRunning: []});
      const count = await bombed.run(
        'n=0; while [ $n -lt 200 ]; do sleep 30 & n=$((n + 1)); done; echo never',
      );
      expect(count.out).not.toContain('never');
    });

    test('ruling W8 limits: a memory bomb is out of memory, whole or in pieces', async () => {
      const bombed = open({owner: OTHER_USER, settings: {memory_mb: 64, tmp_mb: 1024}});
      expect((await bombed.run(`perl -e '$x = "a" x 300_000_000; print 1'`)).ending).toMatchObject({
        kind: 'killed',
        signal: 'SIGKILL',
        outOfMemory: true,
      });
      const pieces = `for i in 1 2 3 4 5 6; do perl -e '$x = "a" x 15_000_000; sleep 1' & done; wait; head -c 200000000 /dev/zero >/tmp/x; exit 1`;
      expect((await bombed.run(pieces)).ending).toMatchObject({outOfMemory: true});
      expect((await bombed.run('echo alive')).out).toBe('alive\n');
    });

    test('ruling W8 limits: open files, core files and temporary files', async () => {
      const limited = open({owner: OTHER_USER, settings: {open_files: 64, tmp_mb: 2}});
      const {out} = await limited.run(
        'ulimit -n; ulimit -c; head -c 5000000 /dev/zero >/tmp/big 2>/dev/null || echo full',
      );
      expect(out.split('\n').slice(0, 3)).toEqual(['64', '0', 'full']);
      const shm = await limited.run('head -c 5000000 /dev/zero >/dev/shm/big 2>/dev/null || echo full');
      expect(shm.out).toBe('full\n');
    });

    test('policy: orphans are reaped, so that zombies do not use up the processes', async () => {
      const limited = open({owner: OTHER_USER, settings: {max_processes: 32}});
      const ran = await limited.run(
        `i=0; while [ $i -lt 150 ]; do (true &); i=$((i + 1)); done; perl -e 'select undef,undef,undef,0.2'; grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l`,
      );
      expect(ran).toMatchObject({ending: {kind: 'exited', code: 0}, err: ''});
      expect(Number(ran.out)).toBeLessThan(3);
    });

    test('policy: a command that kills all that it can harms nobody else', async () => {
      const sleep = uniqueSleep();
      // Were this not a namespace of its own, the command would reach the processes of the host.
      const own = readlinkSync('/proc/self/ns/pid');
      const ran = await run(
        `[ "$(readlink /proc/self/ns/pid)" != '${own}' ] || exit 1; setsid sleep ${sleep} >/dev/null 2>&1 & kill -9 -1; kill -9 1 $PPID; echo survived`,
        {timeoutMs: 5000},
      );
      expect(['killed', 'exited', 'timeout']).toContain(ran.ending.kind);
      expect(processesWith(sleep)).toEqual([]);
      expect(await run('echo alive')).toMatchObject({ending: {kind: 'exited', code: 0}, out: 'alive\n'});
    });

    test('policy: the streams can be opened by name', async () => {
      expect(await run('echo out >/dev/stdout; echo err >/dev/stderr')).toMatchObject({
        out: 'out\n',
        err: 'err\n',
      });
    });

    test('policy: hijacking variables reach the command only, behind the limits', async () => {
      const env = {
        LD_PRELOAD: '/workspace/evil.so',
        BASH_ENV: '/workspace/evil.sh',
        NODE_OPTIONS: '--require=/workspace/evil.js',
        GIT_DIR: '/workspace/evil',
      };
      const ran = await run('echo "$LD_PRELOAD $BASH_ENV $NODE_OPTIONS $GIT_DIR"', {env});
      expect(ran.out).toBe(`${Object.values(env).join(' ')}\n`);
    });
  });
}
