import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
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
    stdout: 'ok      ripgrep 15.0.0  /usr/bin/rg\nEverything that this configuration needs is here.\n',
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

test('policy: doctor ends with one line, which takes two sandboxes for one', async () => {
  const lacking = (name: string): Probe => ({...GOOD, name, state: 'missing', version: undefined});
  const {stdout} = await doctor([GOOD, lacking('bubblewrap'), lacking('Docker')]);
  expect(stdout).toMatch(
    /\nMissing or broken: a sandbox for run \(bubblewrap or Docker; one is enough\)\. .*\n$/,
  );
  expect((await doctor([lacking('Chromium'), lacking('Docker')])).stdout).toMatch(
    /\nMissing or broken: Chromium, Docker\. Everything else works\.\n$/,
  );
});

test('policy: doctor tells what the configuration says otherwise than it is used', {
  tags: 'slow',
}, async () => {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(file, '[tools.webfetch]\ntimeout_secs = 3\n');
  for (const argv of [['doctor'], ['cache', 'stats']]) {
    const services = {probe: async () => [GOOD]};
    const {stderr} = await runCliHere([...argv, '--config', file], {services, answers: []});
    expect(stderr).toMatch(/^Warning: .*timeout_secs is not a known key.*timeout_seconds/);
  }
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
