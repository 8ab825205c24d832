import {expect, test, vi} from 'vitest';
import {openSandbox} from '../../../test/support/open-sandbox.ts';
import {canNest} from './can-nest.ts';

vi.mock('./can-nest.ts', () => ({canNest: vi.fn(async () => 'no_answer')}));

test.runIf(process.env['FORGE_TEST_BWRAP'] !== undefined)(
  'review R1: nothing is run where it is not known how, and the next call asks again',
  async () => {
    const opened = openSandbox({settings: {sandbox: 'bubblewrap'}});
    await expect(opened.run('true')).rejects.toThrow('did not say in time');
    vi.mocked(canNest).mockResolvedValueOnce('nests');
    expect((await opened.run('echo ran')).out).toBe('ran\n');
    await opened.close();
  },
);
