import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox} from '../support/open-sandbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

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

describe.runIf(process.arch === 'x64')('a session on the directory around moves things', () => {
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
