import {expect, test} from 'vitest';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {sandboxEnv} from '../sandbox-env.ts';
import {inheritedEnv} from './inherited-env.ts';

const HOST = {LANG: 'de_DE.UTF-8', LC_ALL: '', HOME: '/root', SECRET: 'x'};

test('ruling W8 a command gets a home of its own, and of the host what is listed and set', () => {
  expect(inheritedEnv(runOptions(), HOST)).toStrictEqual({
    ...{HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb', LANG: 'de_DE.UTF-8'},
  });
});

test('policy: what the configuration lists is stronger than what every command finds', () => {
  const host = {
    ...{
      workspace: '/w',
      protectedPaths: [],
      env: {...HOST, npm_config_fetch_retries: '3', GIT_AUTHOR_NAME: 'B'},
    },
    ...{clock: {} as never, log: () => {}},
  };
  const options = runOptions({inherit_env: ['npm_config_fetch_retries', 'GIT_AUTHOR_NAME']});
  const identity = {GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b'};
  expect(sandboxEnv(runOptions({inherit_env: []}), host, identity)).toEqual({
    ...{npm_config_fetch_retries: '0', ...identity, HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'},
  });
  expect(sandboxEnv(options, host, identity)).toMatchObject({
    npm_config_fetch_retries: '3',
    GIT_AUTHOR_NAME: 'B',
  });
});
