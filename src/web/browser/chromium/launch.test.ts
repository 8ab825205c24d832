import {chmodSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
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
