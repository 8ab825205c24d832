// What a newcomer waits for: `npx` of the packed tarball with an empty cache, up to the version; and what it leaves on disk.
// Beside it, what npx takes by itself: for a package that is empty, and for one that only depends on ripgrep's.
import {spawnSync} from 'node:child_process';
import {lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pack} from '../../scripts/release/unpack-package.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {alternate, wallTime} from '../measure.js';

const MEGABYTE = 1_000_000;
const COLD = 'npx, cache empty';
const WARM = 'npx, again';
const EMPTY_COLD = 'npx of an empty package, cache empty';
const EMPTY_WARM = 'npx of an empty package, again';
const RIPGREP_COLD = 'npx of an empty package with ripgrep, cache empty';
/** Behind a name, npx would ask the registry for the package itself, which is not published. */
const argvOf = tarball => ['--yes', '--package', tarball, '--', 'forge-tools', '--version'];

export function measure({rounds}) {
  return inTemporaryDirectory(directory => measureIn(directory, rounds));
}

async function measureIn(directory, rounds) {
  const tarball = await tarballIn(directory);
  const {dependencies} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const empty = emptyTarballIn(directory, 'empty', {});
  const withRipgrep = emptyTarballIn(directory, 'with-ripgrep', dependencies);
  const kept = join(directory, 'kept');
  for (const warmed of [tarball, empty]) runNpx(warmed, kept, directory);
  const cold = () => mkdtempSync(join(directory, 'cold-'));
  const costs = await alternate(
    {
      [COLD]: () => runNpx(tarball, cold(), directory),
      [WARM]: () => runNpx(tarball, kept, directory),
      [EMPTY_COLD]: () => runNpx(empty, cold(), directory),
      [EMPTY_WARM]: () => runNpx(empty, kept, directory),
      [RIPGREP_COLD]: () => runNpx(withRipgrep, cold(), directory),
    },
    Math.min(rounds, 5),
    {clock: wallTime, sampleMs: 0},
  );
  const installed = join(directory, 'installed');
  const {status} = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', installed, tarball], {
    cwd: directory,
  });
  if (status !== 0) throw new Error(`npm install of the tarball ended with ${status}.`);
  const all = bytesBelow(join(installed, 'node_modules'));
  const ripgrep = bytesBelow(join(installed, 'node_modules/@vscode'));
  return {
    tables: [
      {title: 'the first start', rows: Object.entries(costs).map(([name, ms]) => ({name, costs: ms}))},
    ],
    bars: [
      {text: 'seconds of a cold npx', values: costs[COLD].map(ms => ms / 1000), atMost: 4},
      {text: 'MB installed, without ripgrep', values: [(all - ripgrep) / MEGABYTE], atMost: 12},
    ],
    remarks: [
      `Installed ${(all / MEGABYTE).toFixed(1)} MB, of which ${(ripgrep / MEGABYTE).toFixed(1)} are ripgrep and its package.`,
      'A cold start downloads that package, so it is also a measure of the registry and of the way to it.',
    ],
  };
}

/** `pack` takes the build of this checkout. */
function tarballIn(directory) {
  if (process.env.FORGE_BENCH_DIST)
    throw new Error('The suite "install" packs this checkout; leave --dist out.');
  return pack(directory);
}

/** A package with the same command, which does nothing. */
function emptyTarballIn(directory, name, dependencies) {
  const folder = join(directory, name);
  mkdirSync(folder);
  const manifest = {name, version: '1.0.0', bin: {'forge-tools': 'main.js'}, dependencies};
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'main.js'), '#!/usr/bin/env node\n');
  const {status} = spawnSync('npm', ['pack', '--pack-destination', directory], {cwd: folder});
  if (status !== 0) throw new Error(`npm pack ended with ${status}.`);
  return join(directory, `${name}-1.0.0.tgz`);
}

function runNpx(tarball, cache, cwd) {
  const env = {...process.env, npm_config_cache: cache, npm_config_update_notifier: 'false'};
  const {status, stderr} = spawnSync('npx', argvOf(tarball), {cwd, env, encoding: 'utf8'});
  if (status !== 0) throw new Error(`npx ended with ${status}: ${stderr.slice(0, 400)}`);
}

function bytesBelow(directory) {
  return readdirSync(directory, {recursive: true})
    .map(name => lstatSync(join(directory, name)))
    .reduce((sum, info) => sum + (info.isFile() ? info.size : 0), 0);
}
