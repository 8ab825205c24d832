import childProcess from 'node:child_process';
import {syncBuiltinESMExports} from 'node:module';
import {expect, onTestFinished, test, vi} from 'vitest';
import {openSandbox} from '../../../test/support/open-sandbox.ts';

/** Makes every question whether a bubblewrap runs in another one end by its time-out, as on a machine that is busy. */
function keepBusy() {
  const {execFile} = childProcess;
  const spy = vi.spyOn(childProcess, 'execFile');
  const free = () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(free);
  let asked = 0;
  const answer = (...call: readonly unknown[]) => {
    const [, args = [], , done] = call as Parameters<typeof execFile>;
    if (!args?.some(arg => arg.startsWith('stat -c')))
      return execFile(...(call as Parameters<typeof execFile>));
    asked += 1;
    done?.(Object.assign(new Error('timeout'), {killed: true}), '', '');
    return {stdout: null, stderr: null};
  };
  spy.mockImplementation(answer as unknown as typeof execFile);
  syncBuiltinESMExports();
  return {free, asked: () => asked};
}

test.runIf(process.env['FORGE_TEST_BWRAP'] !== undefined)(
  'review R1: nothing is run where it is not known how, and the next call asks again',
  async () => {
    const opened = openSandbox({settings: {sandbox: 'bubblewrap'}});
    onTestFinished(opened.close);
    const {free, asked} = keepBusy();
    await expect(opened.run('true')).rejects.toThrow(
      'bubblewrap did not say in time whether it can run in another bubblewrap. Nothing was run. To fix it: call it again when the machine has less to do.',
    );
    expect(asked()).toBe(3);
    free();
    expect((await opened.run('echo ran')).out).toBe('ran\n');
  },
);
