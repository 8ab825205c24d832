import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {resolveConfig} from '../config/resolve/resolve-config.ts';
import type {Probe} from '../tools/probe-dependencies.ts';
import {tryEgress} from './try-egress.ts';

const FOUND = ['bubblewrap', 'Docker'].map(
  (name): Probe => ({name, state: 'ok', version: '1', detail: '', neededFor: '', remedy: ''}),
);

async function tried(run: object, found: readonly Probe[] = FOUND) {
  const tempDir = temporaryDirectory();
  const env = {
    ...process.env,
    DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST'],
    TMPDIR: tempDir,
    REGISTRY_TOKEN: 'pk_7Yb2Qw9Zt4Lm1Xc8',
  };
  const environment = {env, cwd: '/', tempDir, homeDir: '/nonexistent'};
  const docker = {image: process.env['FORGE_TEST_DOCKER_IMAGE'] ?? ''};
  const resolved = resolveConfig({tools: {run: {docker, ...run}}}, environment);
  if (!resolved.ok) throw new Error(resolved.error.join());
  return tryEgress(resolved.value.config, environment, {found, signal: new AbortController().signal});
}

const EGRESS = {allow: ['a.test', '*.b.test:8443'], presets: ['pypi']};
const HOSTS = 'hosts a.test, *.b.test:8443; preset pypi (pypi.org, files.pythonhosted.org)';

test('X1 doctor says which hosts commands reach, and tries it in each sandbox that is there', {
  tags: 'slow',
}, async () => {
  const credentials = [{host: 'a.test', env: 'REGISTRY_TOKEN'}];
  const [probe, ...others] = await tried({egress: {...EGRESS, credentials}});
  expect(probe).toMatchObject({
    name: 'Way out',
    state: 'ok',
    detail: `${HOSTS}; Authorization for a.test; works in bubblewrap; works in Docker`,
  });
  expect(others).toEqual([]);
});

test('X1 doctor says where the way out does not work, and why', {tags: 'slow'}, async () => {
  const [probe] = await tried({egress: EGRESS, sandbox: 'docker', docker: {image: 'no.such/image'}});
  expect(probe).toMatchObject({
    state: 'broken',
    detail: expect.stringMatching(/; does not work in Docker: .*no\.such\/image/),
  });
});

test('X1 doctor says nothing of a way out that is not there, and what is wrong with one that is written', async () => {
  expect(await tried({})).toEqual([]);
  expect(await tried({egress: EGRESS, enabled: false})).toEqual([]);
  expect(await tried({egress: EGRESS}, [])).toMatchObject([
    {state: 'broken', detail: `${HOSTS}; there is no sandbox to try it in`},
  ]);
  expect(await tried({egress: {allow: ['10.0.0.1']}})).toMatchObject([
    {state: 'broken', detail: expect.stringContaining('tools.run.egress.allow[0]')},
  ]);
  expect(await tried({egress: EGRESS, sandbox: 'none', allow_insecure_none: true})).toMatchObject([
    {state: 'unused', detail: `${HOSTS}; commands have the network of the host`},
  ]);
});
