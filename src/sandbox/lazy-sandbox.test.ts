import {mkdirSync, renameSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {runOptions} from '../../test/support/open-sandbox.ts';
import {pretendDocker} from '../../test/support/pretend-docker.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {silentLog} from '../core/log.ts';
import {rootIdentity} from './guard/root-identity.ts';
import {lazySandbox} from './lazy-sandbox.ts';
import type {SandboxHost} from './sandbox.ts';

const command = {command: 'true', env: {}, timeoutMs: 5000, signal: new AbortController().signal};

/** A sandbox of a workspace that is replaced before its first command. */
function open(place: Partial<SandboxHost> = {}) {
  const workspace = join(temporaryDirectory(), 'work');
  mkdirSync(workspace);
  const docker = pretendDocker();
  const host: SandboxHost = {
    ...{workspace, protectedPaths: [], env: {}, programDirectories: [docker.programs]},
    ...{clock: systemClock, log: silentLog, ...place},
  };
  const sandbox = lazySandbox(runOptions({sandbox: 'docker'}), host);
  onTestFinished(() => sandbox.close());
  const replace = () => {
    renameSync(workspace, `${workspace}-before`);
    mkdirSync(workspace);
  };
  return {sandbox, docker, workspace, replace};
}

test('policy: a sandbox that runs nothing starts nothing and closes at once', async () => {
  const {sandbox, docker} = open();
  await sandbox.close();
  expect(docker.calls('info')).toEqual([]);
});

test('policy: it is chosen once, with the first command or probe, and closed with what it has', async () => {
  const {sandbox, docker} = open();
  expect(await sandbox.probe()).toMatchObject({ok: true, value: {sandbox: 'docker'}});
  expect(await sandbox.run(command)).toMatchObject({ok: true, value: {sandbox: 'docker'}});
  expect(docker.calls('info')).toHaveLength(1);
  await sandbox.close();
  expect(docker.calls('rm')).toHaveLength(1);
});

test('review R4: the workspace is that which lay there when the session began, not with the first command', async () => {
  const {sandbox, docker, replace} = open();
  replace();
  expect(await sandbox.run(command)).toMatchObject({ok: false});
  expect(docker.calls('run')).toEqual([]);
});

test('review R4: or that of which the caller says so', async () => {
  const place = temporaryDirectory();
  const {sandbox} = open({root: rootIdentity(place)});
  expect(await sandbox.run(command)).toMatchObject({ok: false});
});
