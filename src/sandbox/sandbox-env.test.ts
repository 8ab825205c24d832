import {expect, test} from 'vitest';
import {runOptions} from '../../test/support/open-sandbox.ts';
import {systemClock} from '../core/clock.ts';
import type {EgressGate} from '../core/egress/egress-gate.ts';
import {silentLog} from '../core/log.ts';
import {sandboxEnv} from './sandbox-env.ts';

const gate: EgressGate = {
  open: () => Promise.reject(new Error('Expected nothing to be opened.')),
  close: () => Promise.resolve(),
  endsTls: false,
};
const options = runOptions({inherit_env: ['LANG', 'GIT_AUTHOR_NAME']});

function envOf(egress: EgressGate | undefined, env: Record<string, string> = {}) {
  const host = {workspace: '/w', protectedPaths: [], env, egress, clock: systemClock, log: silentLog};
  return sandboxEnv(options, host, {GIT_AUTHOR_NAME: 'Ada'});
}

test('policy: npm gives up at once where there is no way out, and has a proxy where there is one', () => {
  expect(envOf(undefined)).toEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
    ...{npm_config_fetch_retries: '0', GIT_AUTHOR_NAME: 'Ada'},
  });
  const {npm_config_fetch_retries: retries, HTTPS_PROXY: proxy} = envOf(gate);
  expect({retries, proxy}).toEqual({retries: undefined, proxy: expect.stringMatching(/^http:/)});
});

test('policy: what the configuration lists is stronger than who commits', () => {
  expect(envOf(undefined, {LANG: 'C', GIT_AUTHOR_NAME: 'Env', SECRET: 'x'})).toEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
    ...{npm_config_fetch_retries: '0', LANG: 'C', GIT_AUTHOR_NAME: 'Env'},
  });
});
