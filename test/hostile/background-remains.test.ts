import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {describe, expect, onTestFinished, test} from 'vitest';
import {processesWith, uniqueSleep} from '../support/open-sandbox.ts';

const HOST = new URL('../support/background-host.js', import.meta.url).pathname;
/** `FORGE_TEST_KILLS=100` for the whole proof. */
const KILLS = Number(process.env['FORGE_TEST_KILLS'] ?? 5);
const image = process.env['FORGE_TEST_DOCKER_IMAGE'] ?? '';

const PLACES = [
  {sandbox: 'none', present: true, settings: {sandbox: 'none', allow_insecure_none: true}},
  {
    sandbox: 'bubblewrap',
    present: process.env['FORGE_TEST_BWRAP'] !== undefined,
    settings: {sandbox: 'bubblewrap'},
  },
  {
    sandbox: 'docker',
    present: process.env['FORGE_TEST_DOCKER_HOST'] !== undefined,
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

describe.each(PLACES)('$sandbox', ({present, settings}) => {
  test.runIf(present)(
    'W21: nothing in the background outlives a host that is killed, whenever that is',
    async () => {
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
    },
    60_000 + KILLS * 20_000,
  );
});
