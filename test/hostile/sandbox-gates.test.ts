// review R1: somebody who may move the workspace does so between two mounts of a box, at a moment that the test
// chooses. What a mount lies on is made by name, so each case names a directory outside in which it would be made.
import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {open} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox} from '../support/open-sandbox.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

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

describe.runIf(process.env['FORGE_TEST_BWRAP'] !== undefined)('bubblewrap stops between two mounts', () => {
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
