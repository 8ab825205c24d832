import {spawn} from 'node:child_process';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'vite';
import {beforeAll, expect, onTestFinished, test} from 'vitest';
import {diskCacheFixture} from '../../../test/support/disk-cache-fixture.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';

const WRITER = fileURLToPath(new URL('../../../test/support/cache-writer.ts', import.meta.url));
const built: {code: string} = {code: ''};

/** Node 20 runs no TypeScript, so the writer is bundled. */
beforeAll(async () => {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {ssr: WRITER, write: false, minify: false, target: 'node20'},
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (!output || !('output' in output)) throw new TypeError('Expected a bundle');
  built.code = output.output[0].code;
});

/** Writers that are killed as soon as one of them has written `lines` times. */
async function killDuring(directory: string, lines: number): Promise<string> {
  const children = [1, 2].map(() =>
    spawn(process.execPath, ['--input-type=module', '-', directory], {stdio: ['pipe', 'pipe', 'pipe']}),
  );
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  let errors = '';
  let seen = 0;
  await Promise.all(
    children.map(
      child =>
        new Promise<void>((resolve, reject) => {
          child.once('error', reject);
          child.once('exit', () => resolve());
          child.stderr.on('data', (data: Buffer) => {
            errors += data.toString();
          });
          child.stdout.on('data', (data: Buffer) => {
            seen += data.toString().split('\n').length - 1;
            if (seen >= lines) for (const each of children) each.kill('SIGKILL');
          });
          child.stdin.end(built.code);
        }),
    ),
  );
  return errors;
}

test('FR-WF-16g writers that are killed leave whole pages, under their own URL, and a cache that works', async () => {
  const directory = join(temporaryDirectory(), 'cache');
  const fixture = diskCacheFixture({directory, clock: systemClock, maxEntries: 12});
  for (const lines of [3, 17, 40]) {
    expect(await killDuring(directory, lines)).toBe('');
    let hits = 0;
    for (let page = 0; page < 20; page += 1) {
      const url = `https://example.com/${page}`;
      const entry = await fixture.cache.read(url, 'http');
      if (!entry) continue;
      hits += 1;
      const {markdown, title} = entry.extracted;
      expect(markdown).toBe(`${url}\n`.repeat(Number(title)));
    }
    expect(hits).toBeGreaterThan(0);
    expect(await fixture.cache.write(fixture.page('https://example.com/after'))).toBe(true);
    const entries = fixture.files().filter(path => path.endsWith('.json'));
    // A writer that dies between its rename and its line in the journal leaves one entry uncounted.
    expect(entries.length).toBeLessThanOrEqual(12 + 2);
  }
  expect(fixture.log).toEqual([]);
});
