import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {TEST_CHROMIUM} from '../support/browser-test.ts';

interface Sighting {
  /** The titles that the page gave itself when it had tried everything. */
  readonly results: readonly string[];
  /** How many of the pages were shown by a Chromium that had waited. */
  readonly waited: number;
  readonly layers: readonly string[];
  readonly tripped: boolean;
  /** Requests that came to us, where they are checked. */
  readonly asked: number;
  readonly packets: number;
  readonly sample: readonly string[];
}

const run = promisify(execFile);
const probe = join(import.meta.dirname, '../support/egress/probe.js');

/** Renders the hostile page in a network of its own, where every address there is answers. */
async function watch(mode: 'none' | 'flags' | 'namespace' | 'ready'): Promise<Sighting> {
  const {stdout} = await run('unshare', ['--net', process.execPath, probe, mode, TEST_CHROMIUM]);
  return JSON.parse(stdout) as Sighting;
}

/** A network namespace and a packet capture need root; CI is. */
const describeAsRoot = describe.skipIf(TEST_CHROMIUM === '' || process.getuid?.() !== 0);

describeAsRoot('ruling G1 no packet of Chromium’s own leaves it', {timeout: 60_000}, () => {
  const tried = ['tried from http', 'tried from https'];

  test('ruling G1 positive control: without the layers, the same page is seen on the wire', async () => {
    const seen = await watch('none');
    expect(seen.packets).toBeGreaterThan(100);
    const wire = seen.sample.join('\n');
    for (const way of [/\.53: /, /\[S\]/, /UDP/]) expect(wire).toMatch(way);
  });

  test('ruling G1 the flags alone hold: zero packets', async () => {
    const seen = await watch('flags');
    expect(seen).toMatchObject({results: tried, layers: ['flags'], packets: 0, sample: [], tripped: false});
    expect(seen.asked).toBeGreaterThan(100);
  });

  test('ruling G1 the network namespace alone holds: zero packets', async () => {
    const seen = await watch('namespace');
    expect(seen).toMatchObject({results: tried, packets: 0, sample: [], tripped: false});
    expect(seen.layers).toContain('namespace');
    expect(seen.asked).toBeGreaterThan(100);
  });

  test('ruling G1 it holds for a Chromium that waited as well: zero packets', async () => {
    const seen = await watch('ready');
    const results = ['tried from http', ...tried];
    expect(seen).toMatchObject({results, waited: 2, packets: 0, sample: [], tripped: false});
    expect(seen.asked).toBeGreaterThan(200);
  });
});
