import {describe} from 'vitest';
import {confinementContract} from '../contracts/confinement.ts';
import {sandboxContract} from '../contracts/sandbox.ts';
import {needs} from '../support/parts.ts';

describe('bubblewrap', needs('bubblewrap'), () => {
  const settings = {sandbox: 'bubblewrap'} as const;
  sandboxContract('bubblewrap', {settings});
  confinementContract('bubblewrap', {settings});
});

describe('docker', needs('Docker'), () => {
  const settings = {sandbox: 'docker'} as const;
  sandboxContract('docker, one container for the session', {settings});
  confinementContract('docker', {settings});
});

sandboxContract('none', {settings: {sandbox: 'none', allow_insecure_none: true}});
