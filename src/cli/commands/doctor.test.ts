import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import type {Probe} from '../toolbox-services.ts';

const GOOD: Probe = {
  name: 'ripgrep',
  state: 'ok',
  version: '15.0.0',
  detail: '/usr/bin/rg',
  neededFor: 'search fails',
  remedy: 'apt-get install ripgrep',
};

function doctor(probes: readonly Probe[], ...argv: readonly string[]) {
  return runCliHere(['doctor', ...argv], {services: {probe: async () => probes}});
}

test('policy: doctor names each dependency with its version', async () => {
  expect(await doctor([GOOD])).toEqual({
    code: 0,
    stdout: 'ok      ripgrep 15.0.0  /usr/bin/rg\n',
    stderr: '',
  });
});

test('policy: for what is missing doctor says what fails and the line that mends it', async () => {
  const missing: Probe = {...GOOD, state: 'missing', version: undefined, detail: 'rg not found in PATH'};
  expect(await doctor([GOOD, missing])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      'MISSING ripgrep  rg not found in PATH\n        without it: search fails\n        to get it:  apt-get install ripgrep\n',
    ),
  });
});

test('policy: what this configuration does not use is no problem', async () => {
  const unused: Probe = {...GOOD, name: 'Docker', state: 'unused', version: undefined};
  expect(await doctor([GOOD, unused])).toMatchObject({code: 0});
});

test('policy: doctor --json is an object a line', async () => {
  const {stdout} = await doctor([GOOD, GOOD], '--json');
  expect(
    stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toEqual([GOOD, GOOD]);
});
