import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';

interface Timed {
  readonly said: string;
  readonly elapsedMs: number;
}

const run = promisify(execFile);
const probe = join(import.meta.dirname, 'support/dns-held-up-probe.js');

/** Namespaces need root; CI is. */
test.skipIf(process.getuid?.() !== 0)(
  'review B4: names whose server never answers hold nobody up, and end with their calls',
  async () => {
    const args = [
      '--net',
      '--mount',
      '--propagation',
      'private',
      process.execPath,
      probe,
      temporaryDirectory(),
    ];
    const {stdout} = await run('unshare', args, {env: {PATH: process.env['PATH']}, timeout: 60_000});
    const {healthy, listed, hanging, left} = JSON.parse(stdout) as {
      readonly healthy: Timed;
      readonly listed: Timed;
      readonly hanging: readonly Timed[];
      readonly left: readonly string[];
    };
    expect([healthy.said, listed.said]).toEqual(['ok', 'ok']);
    // The others take 4,000 ms, and the system's resolver took ten seconds for them.
    expect(healthy.elapsedMs).toBeLessThan(2000);
    expect(new Set(hanging.map(({said}) => said))).toEqual(new Set(['timeout/dns']));
    for (const {elapsedMs} of hanging) expect(elapsedMs).toBeLessThan(6000);
    expect(left).toEqual([]);
  },
);
