import {chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {findProgram, isProgramToTrust} from './find-program.ts';

const isRoot = process.geteuid?.() === 0;

function place(...names: readonly string[]): string {
  const directory = join(temporaryDirectory(), ...names);
  mkdirSync(directory, {recursive: true});
  return directory;
}

function plant(directory: string, name = 'tool', mode = 0o755): string {
  const path = join(directory, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

describe('findProgram', () => {
  test('takes the first directory of PATH that has the program', async () => {
    const [one, two] = [place('one'), place('two')];
    plant(two);
    const path = [one, two].join(delimiter);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBe(join(two, 'tool'));
    plant(one);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBe(join(one, 'tool'));
  });

  test('R3: the directories of the system come before PATH', async () => {
    const [early, system] = [place('early'), place('system')];
    plant(early);
    plant(system);
    expect(await findProgram('tool', {path: early, untrustedTrees: [], standard: [system]})).toBe(
      join(system, 'tool'),
    );
  });

  test('R3: nothing in the workspace is run, by its own name or by a link into it', async () => {
    const workspace = place('work');
    const bin = join(workspace, 'node_modules', '.bin');
    mkdirSync(bin, {recursive: true});
    const planted = plant(bin);
    const linked = place('linked');
    symlinkSync(planted, join(linked, 'tool'));
    const linkedDirectory = join(place('links'), 'bin');
    symlinkSync(bin, linkedDirectory);
    // A link in the workspace that leads out can be pointed elsewhere at any time.
    const outside = plant(place('outside'), 'other');
    symlinkSync(outside, join(bin, 'other'));
    // A link outside that passes through one in the workspace.
    const chained = place('chained');
    symlinkSync(join(bin, 'other'), join(chained, 'other'));
    const path = [bin, linked, linkedDirectory, chained].join(delimiter);
    const places = {path, untrustedTrees: [workspace], standard: []};
    expect(await findProgram('tool', places)).toBeUndefined();
    expect(await findProgram('other', places)).toBeUndefined();
    // Without the bar each of them would be found.
    expect(await findProgram('tool', {...places, untrustedTrees: []})).toBe(planted);
  });

  test('skips relative and empty entries, directories and files that cannot be executed', async () => {
    const directory = place('bin');
    mkdirSync(join(directory, 'tool'));
    const flat = place('flat');
    plant(flat, 'tool', 0o644);
    const path = ['', '.', 'bin', directory, flat].join(delimiter);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBeUndefined();
  });

  test('R3: skips what everybody may replace', async () => {
    const open = place('open');
    plant(open);
    chmodSync(open, 0o777);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(false);
    chmodSync(open, 0o755);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(true);
    chmodSync(join(open, 'tool'), 0o777);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(false);
  });

  test.runIf(isRoot)('R3: as root, skips what another user or group may replace', async () => {
    const directory = place('bin');
    const path = plant(directory);
    chownSync(path, 1000, 1000);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(path, 0, 0);
    chownSync(directory, 1000, 1000);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(directory, 0, 1000);
    chmodSync(directory, 0o775);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(directory, 0, 50);
    expect(await isProgramToTrust(path, [])).toBe(true);
  });
});
