import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
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
