import {tmpdir} from 'node:os';
import {expect, test} from 'vitest';
import {ConfigError} from './config-error.ts';
import {readEnvironment} from './environment.ts';

test('policy: the environment is a frozen snapshot', () => {
  process.env['FORGE_TEST_SNAPSHOT'] = 'before';
  const environment = readEnvironment();
  process.env['FORGE_TEST_SNAPSHOT'] = 'after';
  expect(environment.env['FORGE_TEST_SNAPSHOT']).toBe('before');
  delete process.env['FORGE_TEST_SNAPSHOT'];
  expect(environment).toMatchObject({cwd: process.cwd(), tempDir: tmpdir()});
  expect(Object.isFrozen(environment) && Object.isFrozen(environment.env)).toBe(true);
});

test('policy: a ConfigError has one line per problem', () => {
  const error = new ConfigError(['first.', 'second.']);
  expect(error.message).toBe('Configuration error: first.\nConfiguration error: second.');
  expect(error).toMatchObject({name: 'ConfigError', problems: ['first.', 'second.']});
  expect(error).toBeInstanceOf(Error);
});
