import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {nodeProcessRunner} from '../workspace/process-runner.ts';
import {type ProbeDeps, probeDependencies} from './probe-dependencies.ts';

function program(directory: string, name: string, script: string): void {
  mkdirSync(directory, {recursive: true});
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

async function probe(deps: Partial<ProbeDeps>) {
  const probes = await probeDependencies({
    processes: nodeProcessRunner(systemClock),
    programDirectories: [],
    standardDirectories: [],
    untrustedTrees: [],
    protectedPaths: [],
    browser: {enabled: true, chromium_path: ''},
    signal: new AbortController().signal,
    ...deps,
  });
  return new Map(probes.map(found => [found.name, found]));
}

test('policy: doctor names each version, and a remedy for what is missing', async () => {
  const bin = temporaryDirectory();
  program(bin, 'patch', 'echo "GNU patch 2.7.6"');
  program(bin, 'chromium', 'echo "Chromium 156.0.7000.1 built on Debian"');
  const found = await probe({programDirectories: [bin]});
  expect(found.get('GNU patch')).toMatchObject({state: 'ok', version: '2.7.6', detail: join(bin, 'patch')});
  expect(found.get('Chromium')).toMatchObject({state: 'ok', version: '156.0.7000.1'});
  expect(found.get('Node.js')).toMatchObject({state: 'ok', version: process.versions.node});
  for (const {neededFor, remedy} of found.values()) {
    expect(neededFor).not.toBe('');
    expect(remedy).not.toBe('');
  }
});

test('review R17: doctor names an init where Node is process 1 and renders pages', async () => {
  const detailOf = async (enabled: boolean, pid: number) =>
    (await probe({browser: {enabled, chromium_path: ''}, pid})).get('Node.js')?.detail;
  expect(await detailOf(true, 1)).toContain('docker run --init');
  expect(await detailOf(false, 1)).toBe(process.execPath);
  expect(await detailOf(true, 2)).toBe(process.execPath);
});

test('policy: a program that is there and does not work is broken, in its own words', async () => {
  const bin = temporaryDirectory();
  program(bin, 'chromium', 'echo "No usable sandbox" >&2; exit 1');
  program(bin, 'patch', 'echo "busybox"');
  const found = await probe({programDirectories: [bin]});
  expect(found.get('Chromium')).toMatchObject({
    state: 'broken',
    detail: expect.stringContaining('No usable sandbox'),
  });
  expect(found.get('GNU patch')).toMatchObject({state: 'broken', detail: expect.stringContaining('busybox')});
});

test('policy: a browser that is switched off is not missed', async () => {
  const found = await probe({browser: {enabled: false, chromium_path: ''}});
  expect(found.get('Chromium')).toMatchObject({state: 'unused'});
});

test('policy: remedies are those of the system', async () => {
  const found = await probe({platform: 'darwin'});
  for (const {remedy} of found.values()) expect(remedy).not.toContain('apt-get');
});

test('policy: nothing is run from the workspace or from a relative directory', async () => {
  const root = temporaryDirectory();
  const bin = join(root, 'bin');
  program(bin, 'patch', 'echo "GNU patch 6.6.6"');
  const found = await probe({programDirectories: [bin, '.', ''], untrustedTrees: [root]});
  expect(found.get('GNU patch')).toMatchObject({state: 'missing'});
});

test('policy: the configured Chromium is the one that is probed', async () => {
  const bin = temporaryDirectory();
  program(bin, 'mine', 'echo "Chromium 120.0.0.1"');
  const path = join(bin, 'mine');
  expect((await probe({browser: {enabled: true, chromium_path: path}})).get('Chromium')).toMatchObject({
    state: 'ok',
    detail: path,
  });
});

test('review B9: doctor finds every Chromium that a fetch finds', async () => {
  const bin = temporaryDirectory();
  program(bin, 'chrome-headless-shell', 'echo "HeadlessShell 156.0.7000.1"');
  const found = await probe({programDirectories: [bin]});
  expect(found.get('Chromium')).toMatchObject({state: 'ok', detail: join(bin, 'chrome-headless-shell')});
});
