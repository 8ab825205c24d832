// What a newcomer waits for: `npx` of the packed tarball with an empty cache, up to the version; and what it leaves on disk.
import {spawnSync} from 'node:child_process';
import {lstatSync, mkdtempSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {pack} from '../../scripts/release/unpack-package.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {alternate, wallTime} from '../measure.js';

const MEGABYTE = 1_000_000;
const COLD = 'npx, cache empty';
const WARM = 'npx, again';
/** Behind a name, npx would ask the registry for the package itself, which is not published. */
const argvOf = tarball => ['--yes', '--package', tarball, '--', 'forge-tools', '--version'];

export function measure({rounds}) {
  return inTemporaryDirectory(directory => measureIn(directory, rounds));
}

async function measureIn(directory, rounds) {
  const tarball = await tarballIn(directory);
  const kept = join(directory, 'kept');
  runNpx(tarball, kept, directory);
  const costs = await alternate(
    {
      [COLD]: () => runNpx(tarball, mkdtempSync(join(directory, 'cold-')), directory),
      [WARM]: () => runNpx(tarball, kept, directory),
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
