import fs, {mkdirSync, rmSync, symlinkSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {STANDARD_DIRECTORIES} from '../../system/find-program.ts';
import {dockerClientEnv} from './docker-client-env.ts';

test('policy: the docker client gets what names its daemon, and no directory that commands write to', () => {
  const [workspace, home] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(home, '.docker'));
  const settings = {DOCKER_HOST: 'unix:///x', DOCKER_CONTEXT: 'c', SECRET: 'x'};
  const path = STANDARD_DIRECTORIES.join(':');
  expect(
    dockerClientEnv({...settings, HOME: home, PATH: `${home}:${workspace}:relative`}, [workspace]),
  ).toEqual({
    ...{DOCKER_HOST: 'unix:///x', DOCKER_CONTEXT: 'c', HOME: home, DOCKER_CONFIG: join(home, '.docker')},
    PATH: `${path}:${home}`,
  });
  const inside = {HOME: workspace, DOCKER_CERT_PATH: workspace, XDG_RUNTIME_DIR: join(workspace, 'missing')};
  const bare = dockerClientEnv(inside, [workspace]);
  expect(bare).toEqual({DOCKER_CONFIG: '/nonexistent', PATH: path});
  expect(Object.keys(bare)).toHaveLength(2);
});

const NO_SETTINGS = '/nonexistent';

test('policy: all that names a daemon is handed on, and the directories of it that commands cannot write to', () => {
  const [workspace, other, place] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const texts = {DOCKER_HOST: 'h', DOCKER_CONTEXT: 'c', DOCKER_TLS_VERIFY: '1', DOCKER_API_VERSION: '1.40'};
  const paths = {DOCKER_CERT_PATH: place, HOME: place, XDG_RUNTIME_DIR: place};
  expect(dockerClientEnv({...texts, ...paths, DOCKER_CONFIG: place}, [workspace, other])).toEqual({
    ...{...texts, ...paths, DOCKER_CONFIG: place, PATH: STANDARD_DIRECTORIES.join(':')},
  });
  for (const tree of [workspace, other]) {
    expect(dockerClientEnv({DOCKER_CERT_PATH: tree, DOCKER_CONFIG: tree}, [workspace, other])).toEqual({
      ...{DOCKER_CONFIG: NO_SETTINGS, PATH: STANDARD_DIRECTORIES.join(':')},
    });
  }
});

test.each(['config.json', 'cli-plugins', 'contexts'])(
  'policy: settings whose %s leads to where commands write are none',
  name => {
    const [workspace, config] = [temporaryDirectory(), temporaryDirectory()];
    const settings = () => dockerClientEnv({DOCKER_CONFIG: config}, [workspace])['DOCKER_CONFIG'];
    mkdirSync(join(config, 'other'));
    symlinkSync(join(config, 'other'), join(config, name));
    expect(settings()).toBe(config);
    rmSync(join(config, name));
    // Also where nothing is there yet.
    symlinkSync(join(workspace, 'later'), join(config, name));
    expect(settings()).toBe(NO_SETTINGS);
  },
);

test.each(['lstatSync', 'readdirSync', 'realpathSync'] as const)(
  'policy: what the system does not let us look at (%s) is no place to trust, and a bug is thrown',
  name => {
    const [workspace, config] = [temporaryDirectory(), temporaryDirectory()];
    const settings = () => dockerClientEnv({DOCKER_CONFIG: config}, [workspace])['DOCKER_CONFIG'];
    let error: Error = Object.assign(new Error('EACCES'), {code: 'EACCES', syscall: 'open'});
    const original = fs[name] as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
      // The settings themselves can be looked at, what is in them cannot.
      if (String(args[0]) !== config) throw error;
      return original(...args);
    }) as never);
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    // Where there are no plugins to list, there is nothing to look at.
    expect(settings()).toBe(name === 'lstatSync' ? NO_SETTINGS : config);
    mkdirSync(join(config, 'contexts'));
    expect(settings()).toBe(name === 'readdirSync' ? config : NO_SETTINGS);
    error = new Error('A bug.');
    expect(settings).toThrow('A bug.');
  },
);
