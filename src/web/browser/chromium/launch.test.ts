import {chmodSync, existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {launch} from './launch.ts';

test('policy: one whose standard error is closed before its end is known is not waited for', async () => {
  const directory = temporaryDirectory();
  const executable = join(directory, 'chromium');
  const hello = String.raw`{"method":"Page.domContentEventFired","params":{}}\0`;
  writeFileSync(executable, `#!/bin/sh\nexec 2>&-\nprintf '${hello}' >&4\nexec sleep 600\n`);
  chmodSync(executable, 0o755);
  const plan = {executable, bubblewrap: undefined, sandbox: true, contained: true, group: undefined};
  // Its time stands still: what waits for a moment waits for ever.
  const clock = createManualClock();
  const chromium = await launch({...plan, tempDir: directory}, clock);
  await new Promise<void>(resolve => chromium.connection.on('Page.domContentEventFired', () => resolve()));
  await chromium.close();
  expect(await chromium.gone).toBe('');
  expect(clock.pending()).toBe(0);
});

test.each([
  ['short', 'd', 'd'],
  ['too long', 'd'.repeat(40), '/tmp'],
])(
  'FR-WF-BROWSER-ISO-01 where the temporary directory is %s for the sockets of Chromium, its own has room for them',
  async (_, name, expected) => {
    // A path of its own, as short as one can be.
    const directory = temporaryDirectory('/tmp');
    const tempDir = join(directory, name);
    mkdirSync(tempDir);
    const executable = join(directory, 'chromium');
    writeFileSync(executable, '#!/bin/sh\nprintf %s "$TMPDIR" >&2\n');
    chmodSync(executable, 0o755);
    const plan = {executable, bubblewrap: undefined, sandbox: true, contained: true, group: undefined};
    const chromium = await launch({...plan, tempDir}, createManualClock());
    const home = await chromium.gone;
    expect(dirname(home)).toBe(expected === 'd' ? tempDir : expected);
    // What macOS has for the path of a socket.
    expect(`${home}/org.chromium.Chromium.XXXXXX/SingletonSocket`.length).toBeLessThan(104);
    await chromium.close();
    expect(existsSync(home)).toBe(false);
  },
);
