import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
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

/** Exchanges two names at full speed until a file says stop, and prints how often: renameat2 of x86-64. */
const SWAP = `my ($one, $two, $stop) = @ARGV; my $count = 0;
  until (-e $stop && $count > 10_000) { for (1..500) { $count++ if syscall(316, -100, $one, -100, $two, 2) == 0 } } print $count;`;

/** What of the tree is swapped with a link that leads out, while a session on it runs commands. */
const TARGETS = ['.git', 'conf', ''];

const PLACES = (['bubblewrap', 'docker'] as const).flatMap(kind =>
  [0, 1000].flatMap(owner => TARGETS.map(target => ({kind, owner, target}))),
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
 * bubblewrap and Docker make the places of the inner mounts in it, empty, before the look from inside refuses it.
 */
function withoutMountPoints(outside: string, target: string): Record<string, string> {
  const contents = contentsOf(outside);
  if (target !== '') return contents;
  for (const name of ['.git', 'conf/policy.toml']) {
    if (contents[join(outside, name)] === '') delete contents[join(outside, name)];
  }
  return contents;
}

function makeTree(owner: number, target: string) {
  const parent = temporaryDirectory();
  const project = join(parent, 'project');
  const outside = temporaryDirectory();
  for (const directory of ['conf/sub', 'commondir/d', 'hooks', 'objects', 'refs']) {
    mkdirSync(join(outside, directory), {recursive: true});
    writeFileSync(join(outside, directory, 'secret'), 'the secret');
  }
  for (const name of ['secret', 'HEAD', 'config', 'sub']) {
    writeFileSync(join(outside, name), name === 'HEAD' ? 'ref: refs/heads/main\n' : 'the secret');
  }
  mkdirSync(join(project, 'conf'), {recursive: true});
  writeFileSync(join(project, 'conf/policy.toml'), 'policy');
  execFileSync('git', ['init', '-q', project], {env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent'}});
  // It leads out once it has the place of what is in the project. bubblewrap resolves relative links only.
  symlinkSync(relative(dirname(join(project, target)), outside), join(parent, 'link'));
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

describe.runIf(process.arch === 'x64')('a session on the directory around moves things', () => {
  test.each(PLACES)(
    'review R1, R2, R4: $kind, tree of user $owner, swapping "$target": nothing outside is read, written or deleted',
    async ({kind, owner, target}) => {
      const {parent, project, outside} = makeTree(owner, target);
      const before = contentsOf(outside);
      const inside = openSandbox({
        settings: {sandbox: kind, isolation: 'fresh'},
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
      expect((await inside.sandbox.run({...attack, command: 'true'})).ok).toBe(true);

      const stopPlace = temporaryDirectory();
      chownSync(stopPlace, owner, owner);
      const stop = join(stopPlace, 'stop');
      // Faster than from a box of its own, and with the same rights.
      const swapper = spawn('perl', ['-e', SWAP, join(project, target), join(parent, 'link'), stop], {
        stdio: ['ignore', 'pipe', 'inherit'],
        uid: owner,
        gid: owner,
      });
      let count = '';
      swapper.stdout.on('data', chunk => {
        count += chunk;
      });
      const kinds = {ran: 0, refused: 0};
      for (let round = 0; round < (kind === 'docker' ? 4 : 150); round++) {
        const ran = await inside.sandbox.run(attack);
        if (ran.ok) kinds.ran++;
        else kinds.refused++;
        const text = ran.ok ? Buffer.from(ran.value.stdout.bytes).toString() : ran.error.code;
        expect(['', 'sandbox_error']).toContain(text);
      }
      writeFileSync(stop, '');
      await once(swapper, 'close');
      expect(Number(count)).toBeGreaterThan(MIN_SWAPS);
      expect(kinds.ran + kinds.refused).toBeGreaterThan(0);
      expect(withoutMountPoints(outside, target)).toEqual(before);
      expect(existsSync(join(outside, 'planted'))).toBe(false);
    },
    300_000,
  );
});
