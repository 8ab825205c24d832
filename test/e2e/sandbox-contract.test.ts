import {describe, expect, test} from 'vitest';
import {confinementContract} from '../contracts/confinement.ts';
import {sandboxContract} from '../contracts/sandbox.ts';

/** Set by the one who runs the tests where the real thing is there; `.ci/run` sets both. */
const hasDocker = process.env['FORGE_TEST_DOCKER_HOST'] !== undefined;
const hasBubblewrap = process.env['FORGE_TEST_BWRAP'] !== undefined;

test('policy: in CI both sandboxes are tested', () => {
  if (process.env['CI'] !== undefined)
    expect({hasDocker, hasBubblewrap}).toEqual({hasDocker: true, hasBubblewrap: true});
});

describe.runIf(hasBubblewrap)('bubblewrap', () => {
  const settings = {sandbox: 'bubblewrap'} as const;
  sandboxContract('bubblewrap', {settings});
  confinementContract('bubblewrap', {settings});
});

describe.runIf(hasDocker)('docker', () => {
  const settings = {sandbox: 'docker'} as const;
  sandboxContract('docker, one container for the session', {settings});
  confinementContract('docker', {settings});
});

sandboxContract('none', {settings: {sandbox: 'none', allow_insecure_none: true}});
