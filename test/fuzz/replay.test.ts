import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';

interface FuzzTarget {
  readonly check: (input: Uint8Array) => Promise<void> | undefined;
  readonly seeds: readonly (string | Uint8Array)[];
}

const names = readdirSync(join(import.meta.dirname, 'targets')).map(file => file.replace('.js', ''));

/** The targets are plain JavaScript over `dist/`, as the fuzzer runs them. */
const load = (path: string): Promise<Readonly<Record<string, unknown>>> => import(path);

describe('security: what fuzzing has reached holds', () => {
  test.each(names)('%s', async name => {
    const {target} = (await load(`./targets/${name}.js`)) as {readonly target: FuzzTarget};
    const {readCorpus} = (await load('./corpus.js')) as {
      readonly readCorpus: (name: string) => readonly Uint8Array[];
    };
    const kept = readCorpus(name);
    expect(kept.length).toBeGreaterThan(5);
    for (const input of [...target.seeds, ...kept]) {
      await target.check(typeof input === 'string' ? new TextEncoder().encode(input) : input);
    }
  });
});
