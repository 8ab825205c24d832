import {execFileSync, spawnSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {
  type OpenSandbox,
  openSandbox,
  processesWith,
  type SandboxPlace,
  uniqueSleep,
} from '../support/open-sandbox.ts';
import {needs, type Part} from '../support/parts.ts';

const OTHER_USER = 1234;
const GIT_ENV = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

/** Of the workspace; they differ where the tests run as root. */
const OWNERS: readonly (readonly [string, number])[] = [
  ['another user', OTHER_USER],
  ['root', 0],
];

/** Every file below a directory, with what is in it. */
function contentsBelow(directory: string): Record<string, string> {
  const entries = readdirSync(directory, {recursive: true, withFileTypes: true});
  return Object.fromEntries(
    entries.map(entry => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, 'latin1') : ''];
    }),
  );
}

function makeRepository(workspace: string): void {
  execFileSync('git', ['init', '-q', workspace], {env: GIT_ENV});
}

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

  // Docker counts the memory of a container. Bubblewrap needs a control group for that.
  const counted: readonly Part[] = name === 'bubblewrap' ? ['control groups'] : [];

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
      // biome-ignore format: a case is a line
      const targets = [
        ...['/', '/usr', '/usr/bin', '/etc', '/etc/passwd', '/proc', '/sys', '/bin/sh', '/var', '..'],
        ...['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory'],
        ...['/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/sys/fs/cgroup', '/sys/fs/cgroup/release_agent'],
        ...['/sys/fs/cgroup/memory/release_agent', '/sys/kernel/uevent_helper', '/sys/fs/cgroup/cgroup.procs'],
      ];
      const ran = await owned.run(
        `for target in ${targets.join(' ')}; do [ -w "$target" ] && echo "$target"; done; exit 0`,
      );
      expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 0}, out: ''});
    });

    test('ruling W8 no privilege: no capability, no set-uid, no namespace, no device, no tracing', async () => {
      const {out} = await run('cat /proc/self/status');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
        expect(out).toMatch(new RegExp(`^${set}:\\s*0+$`, 'm'));
      // Docker: CAP_KILL, which `no_new_privs` keeps out of reach.
      expect(out).toMatch(/^CapBnd:\s*0+(?:20)?$/m);
      expect(out).toMatch(/^NoNewPrivs:\s*1$/m);
      expect(out).toMatch(/^Seccomp:\s*2$/m);
      // biome-ignore format: a list
      const attempts = [
        'mount -t tmpfs none /tmp', 'mount --bind / /tmp', 'umount /workspace', 'unshare -U true',
        'unshare -m true', 'unshare -n true', 'nsenter -t 1 -m true', 'mknod device b 8 0', 'chroot / true',
        'chown 0:0 . && chown 1:1 .', 'setpriv --reuid 1 true', 'dmesg', 'ip link add x type dummy',
        'su -c true', 'mount -o remount,rw /usr', 'mount -o remount,rw /',
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
        add_key: '248, (my $t = "user"), (my $d = "x"), (my $p = "y"), 1, -3',
        bpf: '321, 0, 0, 0',
        perf_event_open: '298, 0, 0, -1, -1, 0',
        open_by_handle_at: '304, -100, (my $h = "x" x 16), 0',
        kexec_load: '246, 0, 0, 0, 0',
        init_module: '175, 0, 0, 0',
        userfaultfd: '323, 0',
        af_packet: '41, 17, 3, 0',
        pivot_root: '155, (my $new = "/"), (my $old = "/")',
        reboot: '169, 0, 0, 0',
        // review R16
        af_vsock: '41, 40, 1, 0',
        netlink_audit: '41, 16, 3, 9',
        ptrace: '101, 16, 1, 0, 0',
        modify_ldt: '154, 0, 0, 0',
        io_uring_setup: '425, 1, 0',
        process_vm_readv: '310, 1, 0, 0, 0, 0, 0',
        chmod_setuid: '90, (my $path = "."), 04755',
        new_call: '461, 0',
      };
      const lines = Object.entries(calls).map(
        ([call, args]) =>
          `$r = syscall(${args}); if ($r == 0 && "${call}" eq "clone_user") { exit } print "${call}\\n" if $r >= 0;`,
      );
      expect((await run(`perl -e '${lines.join('\n')} print "end"'`)).out).toBe('end');
    });

    test('W11: .git is for reading as a whole, and cannot be moved away', async () => {
      const guarded = open({owner: OTHER_USER, prepare: makeRepository});
      const before = contentsBelow(join(guarded.workspace, '.git'));
      const attempts = [
        ...['echo x >.git/hooks/post-commit', 'echo x >>.git/config', 'mv .git aside', 'rm -rf .git'],
        ...['ln -sf /tmp/x .git/config', 'git config core.fsmonitor x', 'rm .git/HEAD', 'rmdir .git/hooks'],
        ...['mkdir -p .git/modules/m', 'echo . >.git/commondir', 'echo "[core]" >.git/config.worktree'],
        ...['mount --bind /tmp .git', 'umount .git', 'git add .', 'git stash', 'git worktree add /tmp/w'],
      ];
      const ran = await guarded.run(
        attempts.map(attempt => `(${attempt}) >/dev/null 2>&1 && echo '${attempt}'`).join('; '),
      );
      expect(ran.out).toBe('');
      expect((await guarded.run('git status --short && git rev-parse --is-inside-work-tree')).out).toBe(
        'true\n',
      );
      await guarded.sandbox.close();
      expect(contentsBelow(join(guarded.workspace, '.git'))).toEqual(before);
    });

    test('W11: with git = "commit" one can commit, and what git executes or is configured by stays closed', async () => {
      const guarded = open({owner: OTHER_USER, settings: {git: 'commit'}, prepare: makeRepository});
      const before = readdirSync(join(guarded.workspace, '.git'));
      const identity = '-c user.name=n -c user.email=e@e';
      const ran = await guarded.run(
        `echo x >f && git add f && git ${identity} commit -qm m && git log --format=%s && git status --short && ` +
          `echo y >f && git ${identity} stash -q && git branch other && git gc -q && git fsck && git tag t`,
      );
      expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 0}, out: 'm\n'});
      const attempts = [
        ...['echo x >.git/hooks/post-commit', 'echo x >>.git/config', 'git config core.fsmonitor x'],
        ...['echo x >>.git/config.worktree', 'echo /x >.git/commondir', 'mkdir .git/modules/m'],
        ...['mkdir .git/worktrees/w', 'rm .git/HEAD', 'echo x >.git/HEAD', 'echo x >.git/info/attributes'],
        ...['mv .git/hooks .git/h', 'mv .git/modules .git/m', 'rmdir .git/modules', 'mv .git/objects .git/o'],
        ...['rm -rf .git/refs', 'mv .git aside', 'rm .git/commondir'],
      ];
      const tried = await guarded.run(
        attempts.map(attempt => `(${attempt}) >/dev/null 2>&1 && echo '${attempt}'`).join('; '),
      );
      expect(tried.out).toBe('');
      await guarded.sandbox.close();
      const made = readdirSync(join(guarded.workspace, '.git')).filter(name => !before.includes(name));
      expect(made.sort()).toEqual(['COMMIT_EDITMSG', 'ORIG_HEAD', 'index', 'logs', 'packed-refs']);
    });

    test('W11: with git = "commit", a command that takes the modes of .git away leaves git no other repository', async () => {
      const guarded = open({owner: OTHER_USER, settings: {git: 'commit'}, prepare: makeRepository});
      for (const part of ['.git/refs', '.git/objects', '.git']) {
        const planted = 'mkdir -p objects refs; cp .git/HEAD .; echo "[core] fsmonitor = evil" >config';
        expect((await guarded.run(`${planted}; chmod 000 ${part}`)).exitStatus).toMatchObject({code: 0});
        expect(statSync(join(guarded.workspace, part)).mode & 0o700).toBe(0o700);
      }
    });

    test.each(OWNERS)(
      'review R7 B: a workspace without a repository gets none, and git looks no further, by commands of %s',
      async (_, owner) => {
        const guarded = openSandbox({...place, owner});
        const ran = await guarded.run(
          'mkdir -p .git/hooks; rm .git; mv .git x; echo "gitdir: x" >.git; git init -q .; git status; cat .git',
        );
        expect(ran.out).toMatch(/^gitdir: \/nonexistent\/.* remove the file \.git if no session is open\n$/);
        expect(ran.err).toContain('not a git repository: /nonexistent/');
        await guarded.sandbox.close();
        expect(readdirSync(guarded.workspace)).toEqual([]);
        await guarded.close();
      },
    );

    test.each(OWNERS)(
      'review R7 A, B: a repository laid out in the root is never run by git, also after the session, by commands of %s',
      async (_, owner) => {
        const guarded = openSandbox({...place, owner});
        const ran = await guarded.run(
          'mkdir objects refs && echo "ref: refs/heads/main" >HEAD && ' +
            'printf "[core]\\nrepositoryformatversion = 0\\nworktree = .\\nfsmonitor = touch /tmp/forge-ran; false\\n" >config',
        );
        expect(ran.exitStatus).toEqual({kind: 'exited', code: 0});
        const mark = join(mkdtempSync(join(tmpdir(), 'forge-mark-')), 'ran');
        const config = join(guarded.workspace, 'config');
        writeFileSync(config, readFileSync(config, 'utf8').replace('/tmp/forge-ran', mark));
        // Without the place holder it is run: the attack is a real one.
        const place_ = join(guarded.workspace, '.git');
        for (const close of [async () => {}, () => guarded.sandbox.close()]) {
          await close();
          spawnSync('git', ['status'], {cwd: guarded.workspace, env: GIT_ENV});
          expect(existsSync(mark)).toBe(false);
        }
        expect(guarded.log).toContainEqual(expect.objectContaining({event: 'sandbox_repository_in_root'}));
        rmSync(place_);
        spawnSync('git', ['status'], {cwd: guarded.workspace, env: GIT_ENV});
        expect(existsSync(mark)).toBe(true);
        await guarded.close();
      },
    );

    test.each(OWNERS)(
      'review R9: what is protected cannot be made by a command where it does not exist, by commands of %s',
      async (_, owner) => {
        const guarded = open({
          owner,
          prepare: workspace => mkdirSync(join(workspace, '.config')),
          protectedPaths: workspace => [join(workspace, '.config/forge-tools/config.toml')],
        });
        const attempts = [
          ...[
            'echo x >.config/forge-tools/config.toml',
            'mv .config/forge-tools .config/x',
            'rm -rf .config/forge-tools',
          ],
          ...[
            'mv .config x',
            'ln -s /tmp .config/forge-tools/config.toml',
            'mkdir .config/forge-tools/config.toml',
          ],
        ];
        const ran = await guarded.run(
          attempts.map(attempt => `(${attempt}) 2>/dev/null && echo '${attempt}'`).join('; '),
        );
        expect(ran.out).toBe('');
        expect((await guarded.run('echo x >.config/other && ls -A .config/forge-tools')).out).toBe('');
        expect(readdirSync(join(guarded.workspace, '.config')).sort()).toEqual(['forge-tools', 'other']);
        if (process.getuid?.() === 0) {
          expect(statSync(join(guarded.workspace, '.config/forge-tools')).uid).toBe(owner);
        }
      },
    );

    test.each(OWNERS)(
      'review R8: a package in the workspace can be read and not rewritten, by commands of %s',
      async (_, owner) => {
        const guarded = open({
          owner,
          prepare: workspace => {
            mkdirSync(join(workspace, 'node_modules/forge-tools/dist'), {recursive: true});
            writeFileSync(join(workspace, 'node_modules/forge-tools/dist/a.js'), 'ours');
          },
          protectedPaths: workspace => [join(workspace, 'node_modules/forge-tools')],
        });
        const attempts = [
          ...['echo x >node_modules/forge-tools/dist/a.js', 'echo x >node_modules/forge-tools/b.js'],
          ...['mv node_modules/forge-tools x', 'mv node_modules x', 'rm -rf node_modules'],
        ];
        const ran = await guarded.run(
          attempts.map(attempt => `(${attempt}) 2>/dev/null && echo '${attempt}'`).join('; '),
        );
        expect(ran.out).toBe('');
        const after = await guarded.run('mkdir node_modules/other; cat node_modules/forge-tools/dist/a.js');
        expect(after.out).toBe('ours');
      },
    );

    test('review R8: where the package or Node is the workspace, nothing is run', async () => {
      for (const path of [(workspace: string) => workspace, dirname, () => '/']) {
        const guarded = openSandbox({...place, protectedPaths: workspace => [path(workspace)]});
        const {signal} = new AbortController();
        const ran = await guarded.sandbox.run({command: 'true', env: {}, timeoutMs: 5000, signal});
        expect(ran).toMatchObject({
          error: {code: 'sandbox_error', message: expect.stringContaining('contains it')},
        });
        await guarded.close();
      }
    });

    test.each(OWNERS)(
      'review R16: no socket of the hypervisor or of raw packets, and no ptrace, by commands of %s',
      async (_, owner) => {
        const guarded = open({owner});
        // AF_ALG, AF_BLUETOOTH, AF_PACKET and AF_VSOCK; PTRACE_TRACEME.
        const sockets = [38, 31, 17, 40].map(family => `socket(S, ${family}, 1, 0) and print "${family} "`);
        const trace = `syscall(${process.arch === 'arm64' ? 117 : 101}, 0, 0, 0, 0) == 0 and print "ptrace "`;
        const local = 'socket(S, 1, 1, 0) and print "local"';
        const ran = await guarded.run(`perl -e '${[...sockets, trace, local].join('; ')}'`);
        expect(ran.out).toBe('local');
      },
    );

    test.each(OWNERS)(
      'review R4: a workspace that is moved away is not replaced by what its name leads to, by commands of %s',
      async (_, owner) => {
        const guarded = open({owner});
        const {signal} = new AbortController();
        const outside = mkdtempSync(join(tmpdir(), 'forge-outside-'));
        writeFileSync(join(outside, 'secret'), 'the secret');
        onTestFinished(() => rmSync(outside, {recursive: true}));
        await guarded.run('true');
        renameSync(guarded.workspace, `${guarded.workspace}-real`);
        onTestFinished(() => rmSync(`${guarded.workspace}-real`, {recursive: true, force: true}));
        symlinkSync(outside, guarded.workspace);
        const command = {command: 'cat secret; echo planted >planted', env: {}, timeoutMs: 5000, signal};
        expect(await guarded.sandbox.run(command)).toMatchObject({
          error: {code: 'sandbox_error', message: expect.stringContaining('this session began with')},
        });
        expect(existsSync(join(outside, 'planted'))).toBe(false);
        rmSync(guarded.workspace);
        renameSync(`${guarded.workspace}-real`, guarded.workspace);
        expect((await guarded.run('echo back')).out).toBe('back\n');
      },
    );

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
        expect(ran.exitStatus).toEqual({kind: 'exited', code: 0});
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
      expect(ran.exitStatus).toEqual({kind: 'timeout'});
      expect(processesWith(mark)).toEqual([]);
      expect(await bombed.run('echo alive')).toMatchObject({out: 'alive\n', leftRunning: []});
      const count = await bombed.run(
        'n=0; while [ $n -lt 200 ]; do sleep 30 & n=$((n + 1)); done; echo never',
      );
      expect(count.out).not.toContain('never');
    });

    test(
      'ruling W8 limits: a memory bomb is out of memory, whole or in pieces',
      needs(...counted),
      async () => {
        const bombed = open({owner: OTHER_USER, settings: {memory_mb: 64, tmp_mb: 1024}});
        expect((await bombed.run(`perl -e '$x = "a" x 300_000_000; print 1'`)).exitStatus).toMatchObject({
          kind: 'killed',
          signal: 'SIGKILL',
          outOfMemory: true,
        });
        // In Docker a /tmp that fills the memory ends the container, and its count of kills is gone with it.
        const fill = name === 'bubblewrap' ? 'head -c 200000000 /dev/zero >/tmp/x; ' : '';
        const pieces = `for i in 1 2 3 4 5 6; do perl -e '$x = "a" x 15_000_000; sleep 1' & done; wait; ${fill}exit 1`;
        expect((await bombed.run(pieces)).exitStatus).toMatchObject({outOfMemory: true});
        expect((await bombed.run('echo alive')).out).toBe('alive\n');
      },
    );

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
      expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 0}, err: ''});
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
      expect(['killed', 'exited', 'timeout']).toContain(ran.exitStatus.kind);
      expect(processesWith(sleep)).toEqual([]);
      expect(await run('echo alive')).toMatchObject({exitStatus: {kind: 'exited', code: 0}, out: 'alive\n'});
    });

    test('policy: the streams can be opened by name', async () => {
      expect(await run('echo out >/dev/stdout; echo err >/dev/stderr')).toMatchObject({
        out: 'out\n',
        err: 'err\n',
      });
    });

    test('W18: a commit has an author, and npm does not wait for a network, unless the call says otherwise', async () => {
      const show = 'cd /tmp; git var GIT_AUTHOR_IDENT | sed "s/>.*/>/"; echo "$npm_config_fetch_retries"';
      expect((await run(show)).out).toMatch(/^[^<>\n]+ <[^<>\n]+>\n0\n$/);
      const env = {GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'b@c', npm_config_fetch_retries: '5'};
      expect((await run(show, {env})).out).toBe('A <b@c>\n5\n');
      const commit =
        'rm -rf r && git init -q r && cd r && git commit -q --allow-empty -m x && git log --format=%an';
      expect((await run(`${commit}; rm -rf ../r`)).err).toBe('');
    });

    if (name === 'bubblewrap') {
      test('W18: who commits is what a repository says of itself, before what the user is called', async () => {
        const ran = await run(
          'rm -rf r && git init -q r && cd r && git config user.name Own && git commit -q --allow-empty -m x; git log --format="%an %cn"; cd ..; rm -rf r; echo x >>/etc/gitconfig',
        );
        expect(ran.out).toBe('Own Own\n');
        expect(ran.err).toMatch(/Read-only file system|Permission denied/);
      });

      test('W18: the workspace has the name of the host too, and is no less closed by it', async () => {
        const {workspace} = opened;
        const ran = await run(
          `pwd; echo made >${workspace}/by-host-name; cat /workspace/by-host-name; echo x >${workspace}/.git; ls -d ${workspace}/..`,
        );
        expect(ran.out).toBe(`/workspace\nmade\n${workspace}/..\n`);
        expect(ran.err).toMatch(/Read-only file system|Permission denied|Is a directory/);
      });
    }

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
