// review R1: somebody who may move the workspace does so between two mounts of a box, at a moment that the test
// chooses. What a mount lies on is made by name, so each case names a directory outside in which it would be made.
import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {open} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join, relative} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fileForUser} from '../support/file-for-user.ts';
import {openSandbox, processesWith, runOptions, uniqueSleep} from '../support/open-sandbox.ts';
import {needs, type Part} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {processHerd} from './support/process-herd.ts';

const HOST = fileURLToPath(new URL('../support/background-host.js', import.meta.url));
/** `FORGE_TEST_KILLS=100` for the whole proof. */
const KILLS = Number(process.env['FORGE_TEST_KILLS'] ?? 5);
const image = process.env['FORGE_TEST_DOCKER_IMAGE'] ?? '';

const PLACES: readonly {
  readonly sandbox: string;
  readonly parts: readonly Part[];
  readonly settings: object;
}[] = [
  {sandbox: 'none', parts: [], settings: {sandbox: 'none', allow_insecure_none: true}},
  {
    sandbox: 'bubblewrap',
    parts: ['bubblewrap'],
    settings: {sandbox: 'bubblewrap'},
  },
  {
    sandbox: 'docker',
    parts: ['Docker'],
    settings: {sandbox: 'docker', docker: {image}},
  },
];

async function gone(texts: readonly string[]): Promise<readonly number[]> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const left = texts.flatMap(processesWith);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise(resolve => setImmediate(resolve));
  }
}

describe.each(PLACES)('$sandbox', ({parts, settings}) => {
  test('W21: nothing in the background outlives a host that is killed, whenever that is', {
    ...needs(...parts),
    timeout: 60_000 + KILLS * 20_000,
  }, async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'forge-killed-')));
    onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
    const env = {
      ...process.env,
      DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'] ?? process.env['DOCKER_HOST'],
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const sleep = uniqueSleep();
      const workspace = join(directory, `w${kill}`);
      mkdirSync(workspace);
      const command = `setsid sleep ${sleep} & (sleep ${sleep} &) ; echo up; sleep ${sleep}`;
      const host = spawn(process.execPath, [HOST, JSON.stringify(settings), workspace, command], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said = once(createInterface({input: host.stdout}), 'line');
      const exited = once(host, 'exit');
      // Every second one while it starts: as soon as a process of the command is seen.
      if (kill % 2 === 0) expect((await said)[0]).toBe('up');
      else while (processesWith(sleep).length < 2) await new Promise(resolve => setImmediate(resolve));
      host.kill('SIGKILL');
      await exited;
      expect(await gone([sleep, workspace]), `kill ${kill + 1} of ${KILLS}`).toEqual([]);
    }
  });
});

/** More than a pipe holds: once it is written, somebody reads. */
const TO_FILL_A_PIPE = Buffer.alloc(200_000);

interface Place {
  readonly project: string;
  readonly outside: string;
  /** Beside the project. */
  readonly aside: string;
}

interface Move {
  readonly gate: string;
  readonly act: (place: Place) => void;
}

const ATTACKS: readonly {readonly what: string; readonly moves: readonly Move[]}[] = [
  {
    what: 'the workspace is another directory while it is mounted',
    moves: [
      {
        gate: 'before:workspace',
        act: ({project, aside, outside}) => {
          renameSync(project, aside);
          renameSync(outside, project);
        },
      },
      {
        gate: 'after:workspace',
        act: ({project, aside, outside}) => {
          renameSync(project, outside);
          renameSync(aside, project);
        },
      },
    ],
  },
  {
    what: 'a directory is a link to where the host is while bubblewrap mounts',
    moves: [
      {
        gate: 'after:workspace:conf',
        act: ({project, aside, outside}) => {
          // What the link leads to from the place of the project, so that there is something to mount.
          const decoy = join(dirname(project), '..', 'oldroot', outside);
          mkdirSync(decoy, {recursive: true});
          writeFileSync(join(decoy, 'policy.toml'), 'decoy');
          renameSync(join(project, 'conf'), aside);
          symlinkSync(`../../oldroot${outside}`, join(project, 'conf'));
        },
      },
    ],
  },
];

/** Waits until a bubblewrap has come to a gate, does something, and lets it go on. */
async function meet(programs: string, {gate, act}: Move, place: Place): Promise<void> {
  const path = join(programs, gate);
  execFileSync('mkfifo', ['-m', '0666', path]);
  const fifo = await open(path, 'r+');
  await fifo.write(TO_FILL_A_PIPE);
  act(place);
  unlinkSync(path);
  await fifo.close();
}

describe('bubblewrap stops between two mounts', needs('bubblewrap'), () => {
  test.each([0, 1000].flatMap(owner => ATTACKS.map(attack => ({owner, ...attack}))))(
    'review R1: tree of user $owner: where $what, nothing is made outside',
    async ({owner, moves}) => {
      const base = temporaryDirectory();
      const [project, outside] = [join(base, 'a/project'), join(base, 'outside')];
      for (const directory of [join(project, 'conf'), outside]) mkdirSync(directory, {recursive: true});
      writeFileSync(join(project, 'conf/policy.toml'), 'policy');
      for (const name of ['.', ...readdirSync(base, {recursive: true})]) {
        chownSync(join(base, String(name)), owner, owner);
      }
      const programs = temporaryDirectory();
      chmodSync(programs, 0o755);
      copyFileSync(join(import.meta.dirname, 'support/gated-bubblewrap.pl'), join(programs, 'bwrap'));
      chmodSync(join(programs, 'bwrap'), 0o755);
      const inside = openSandbox({
        settings: {sandbox: 'bubblewrap', readable_paths: [programs]},
        programDirectories: [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
        workspace: project,
        protectedPaths: () => [join(project, 'conf/policy.toml')],
      });
      onTestFinished(() => inside.sandbox.close());
      const place = {project, outside, aside: join(base, 'aside')};
      const {signal} = new AbortController();
      const met = Promise.all(moves.map(move => meet(programs, move, place)));
      await inside.sandbox.run({command: 'echo x >conf/policy.toml', env: {}, timeoutMs: 20_000, signal});
      await met;
      expect(readdirSync(outside)).toEqual([]);
      expect(inside.log.map(({event}) => event)).not.toContain('sandbox_not_nested');
    },
  );
});

describe('sandbox races', () => {
  const MIN_SWAPS = 10_000;

  /**
   * Exchanges two names at full speed until a file says stop, and prints how often: renameat2 of x86-64. Where there is
   * a signal to wait for, it does so for a moment after each, and all is as it was in between.
   */
  const SWAP = `use Time::HiRes qw(time sleep);
  my ($one, $two, $stop, $signal) = @ARGV; my ($count, $away) = (0, 0);
  sub swap { if (syscall(316, -100, $one, -100, $two, 2) == 0) { $count++; $away = !$away } }
  until (-e $stop && $count > 10_000) {
    if (-e $stop || !$signal || unlink $signal) { my $end = time + 0.05; while (time < $end) { swap() for 1..20 } }
    next unless $signal;
    swap() if $away; sleep 0.0005;
  } print $count;`;

  /** What of the tree is swapped with a link that leads out, while a session on it runs commands. */
  const TARGETS = ['.git', 'conf', ''].map(target => ({target, to: 'the name'}));
  /**
   * While bubblewrap mounts, the host is at /oldroot. Behind the first link a place of a mount is missing in a
   * directory, the second one leads to no file yet: who makes such a place by name makes it outside.
   */
  const WHILE_MOUNTING = [
    {target: 'conf', to: '/oldroot', missing: 'empty'},
    {target: 'conf/policy.toml', to: '/oldroot', missing: 'empty/new'},
  ];

  const PLACES = (['bubblewrap', 'docker'] as const).flatMap(kind =>
    [0, 1000].flatMap(owner =>
      [...TARGETS, ...(kind === 'docker' ? [] : WHILE_MOUNTING)].map(attack => ({kind, owner, ...attack})),
    ),
  );

  function contentsOf(directory: string): Record<string, string> {
    const entries = readdirSync(directory, {recursive: true, withFileTypes: true});
    return Object.fromEntries(
      entries.map(entry => {
        const path = join(entry.parentPath, entry.name);
        return [path, entry.isFile() ? readFileSync(path, 'utf8') : ''];
      }),
    );
  }

  /**
   * docs/sandbox.md, what it does not do: where the root itself is another directory at the moment of the mount,
   * Docker makes the places of the inner mounts in it, empty, before the look from inside refuses it.
   */
  function withoutMountPoints(outside: string): Record<string, string> {
    const contents = contentsOf(outside);
    for (const name of ['.git', 'conf/policy.toml']) {
      if (contents[join(outside, name)] === '') delete contents[join(outside, name)];
    }
    return contents;
  }

  interface Attack {
    readonly owner: number;
    readonly target: string;
    /** Below which it leads out: by its name, or /oldroot. */
    readonly to: string;
    readonly missing?: string;
  }

  function makeTree({owner, target, to, missing}: Attack) {
    const parent = temporaryDirectory();
    const project = join(parent, 'project');
    const outside = temporaryDirectory();
    for (const directory of ['conf/sub', 'commondir/d', 'hooks', 'objects', 'refs']) {
      mkdirSync(join(outside, directory), {recursive: true});
      writeFileSync(join(outside, directory, 'secret'), 'the secret');
    }
    mkdirSync(join(outside, 'empty'));
    for (const name of ['secret', 'HEAD', 'config', 'sub']) {
      writeFileSync(join(outside, name), name === 'HEAD' ? 'ref: refs/heads/main\n' : 'the secret');
    }
    mkdirSync(join(project, 'conf'), {recursive: true});
    writeFileSync(join(project, 'conf/policy.toml'), 'policy');
    execFileSync('git', ['init', '-q', project], {env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent'}});
    // It leads out once it has the place of what is in the project. bubblewrap resolves relative links only.
    const linked =
      missing === undefined
        ? relative(dirname(join(project, target)), outside)
        : `${to}${join(outside, missing)}`;
    symlinkSync(linked, join(parent, 'link'));
    for (const path of [
      parent,
      ...readdirSync(parent, {recursive: true}).map(name => join(parent, String(name))),
    ]) {
      if (!path.endsWith('/link')) chownSync(path, owner, owner);
    }
    execFileSync('chown', ['-h', `${owner}:${owner}`, join(parent, 'link')]);
    execFileSync('chown', ['-R', `${owner}:${owner}`, outside]);
    return {parent, project, outside};
  }

  /** A bubblewrap that says when it begins, so that names are swapped while it mounts and not while we look. */
  function announceBubblewrap(programs: string, signals: string): void {
    const script = `#!/bin/sh\ntrue 2>/dev/null >${join(signals, 'mounting')}\nexec /usr/bin/bwrap "$@"\n`;
    writeFileSync(join(programs, 'bwrap'), script, {mode: 0o755});
  }

  describe('a session on the directory around moves things', needs('x86-64'), () => {
    test.each(PLACES)(
      'review R1, R2, R4: $kind, tree of user $owner, swapping "$target" for a link below $to: nothing outside is read, written or deleted',
      async ({kind, ...attacked}) => {
        const {owner, target} = attacked;
        const {parent, project, outside} = makeTree(attacked);
        const before = contentsOf(outside);
        const signals = temporaryDirectory();
        chownSync(signals, owner, owner);
        const programs = temporaryDirectory();
        chmodSync(programs, 0o755);
        announceBubblewrap(programs, signals);
        const inside = openSandbox({
          settings: {sandbox: kind, isolation: 'fresh', readable_paths: [programs]},
          programDirectories: [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
          workspace: project,
          protectedPaths: () => [join(project, 'conf/policy.toml')],
        });
        onTestFinished(() => inside.sandbox.close());
        const {signal} = new AbortController();
        const attack = {
          command: [
            'cat secret .git/secret conf/secret conf/sub .git/commondir/d/secret 2>/dev/null',
            'for d in . .git conf conf/sub .git/hooks; do echo x >$d/planted; rm -rf $d/secret $d/commondir; done 2>/dev/null',
            'echo x >conf/policy.toml; exit 0',
          ].join('\n'),
          env: {},
          timeoutMs: 20_000,
          signal,
        };
        expect(await inside.sandbox.run({...attack, command: 'true'})).toMatchObject({ok: true});

        const stop = join(signals, 'stop');
        const mounting = kind === 'bubblewrap' ? join(signals, 'mounting') : '';
        // Faster than from a box of its own, and with the same rights.
        const swapper = spawn(
          'perl',
          ['-e', SWAP, join(project, target), join(parent, 'link'), stop, mounting],
          {
            stdio: ['ignore', 'pipe', 'inherit'],
            uid: owner,
            gid: owner,
          },
        );
        let count = '';
        swapper.stdout.on('data', chunk => {
          count += chunk;
        });
        const kinds = {ran: 0, refused: 0};
        for (let round = 0; round < (kind === 'docker' ? 4 : 60); round++) {
          const ran = await inside.sandbox.run(attack);
          if (ran.ok) kinds.ran++;
          else kinds.refused++;
          const text = ran.ok ? Buffer.from(ran.value.stdout.bytes).toString() : ran.error.code;
          expect(['', 'sandbox_error']).toContain(text);
        }
        writeFileSync(stop, '');
        expect(inside.log.map(({event}) => event)).not.toContain('sandbox_not_nested');
        await once(swapper, 'close');
        expect(Number(count)).toBeGreaterThan(MIN_SWAPS);
        expect(kinds.ran + kinds.refused).toBeGreaterThan(0);
        const after = kind === 'docker' && target === '' ? withoutMountPoints(outside) : contentsOf(outside);
        expect(after).toEqual(before);
        expect(existsSync(join(outside, 'planted'))).toBe(false);
      },
      300_000,
    );
  });
});

describe('sandbox remains', () => {
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
        const directory = join(tmpdir(), `sessions-${user}`);
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
});
