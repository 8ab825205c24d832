// What a newcomer waits for: `npx` of the package with an empty cache, up to the version; and what it leaves on disk. It comes
// from a registry on loopback, as it is not published: npx of a tarball unpacks it twice, and again at every start.
// Beside it, what npx takes by itself: for a package that is empty, and for one that only depends on ripgrep's.
import {execFile, execFileSync, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:http';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {pack} from '../../scripts/release/unpack-package.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {alternate, wallTime} from '../measure.js';

const MEGABYTE = 1_000_000;
const COLD = 'npx, cache empty';
const WARM = 'npx, again';
const EMPTY_COLD = 'npx of an empty package, cache empty';
const EMPTY_WARM = 'npx of an empty package, again';
const RIPGREP_COLD = 'npx of an empty package with ripgrep, cache empty';
const argvOf = name => ['--yes', '--package', `${name}@latest`, '--', 'forge-tools', '--version'];

export function measure({rounds}) {
  return inTemporaryDirectory(directory => measureIn(directory, rounds));
}

async function measureIn(directory, rounds) {
  const tarball = await tarballIn(directory);
  const {dependencies} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const empty = emptyTarballIn(directory, 'empty', {});
  const withRipgrep = emptyTarballIn(directory, 'with-ripgrep', dependencies);
  const registry = await startRegistry({'forge-tools': tarball, empty, 'with-ripgrep': withRipgrep});
  const npx = npxFrom(registry.url, directory);
  const kept = join(directory, 'kept');
  for (const warmed of ['forge-tools', 'empty']) await npx(warmed, kept);
  const cold = () => mkdtempSync(join(directory, 'cold-'));
  const costs = await alternate(
    {
      [COLD]: () => npx('forge-tools', cold()),
      [WARM]: () => npx('forge-tools', kept),
      [EMPTY_COLD]: () => npx('empty', cold()),
      [EMPTY_WARM]: () => npx('empty', kept),
      [RIPGREP_COLD]: () => npx('with-ripgrep', cold()),
    },
    Math.min(rounds, 5),
    {clock: wallTime, sampleMs: 0},
  );
  registry.stop();
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
      'A cold start downloads that package from where npm does, so it is also a measure of that registry and of the way to it.',
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

/** Has these packages and no others: those of the scope that ours depends on are asked for where npm asks otherwise. */
async function startRegistry(tarballs) {
  const server = createServer((request, response) => {
    const [, tar, name] = /^\/(tar\/)?([\w-]+)$/.exec(request.url) ?? [];
    const tarball = tarballs[name];
    if (tarball === undefined) response.writeHead(404).end('{}');
    else if (tar !== undefined) response.end(readFileSync(tarball));
    else response.end(JSON.stringify(packument(tarball, `${url}tar/${name}`)));
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return {url, stop: () => server.close().closeAllConnections()};
}

/** What a registry says of a package. */
function packument(tarball, address) {
  const manifest = JSON.parse(
    execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], {encoding: 'utf8'}),
  );
  const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64');
  const version = {...manifest, dist: {tarball: address, integrity: `sha512-${hash}`}};
  const {name} = manifest;
  return {name, 'dist-tags': {latest: manifest.version}, versions: {[manifest.version]: version}};
}

function npxFrom(registry, directory) {
  const usual = execFileSync('npm', ['config', 'get', 'registry'], {cwd: directory, encoding: 'utf8'}).trim();
  const own = join(homedir(), '.npmrc');
  const lines = [
    existsSync(own) ? readFileSync(own, 'utf8') : '',
    `registry=${registry}`,
    `@vscode:registry=${usual}`,
  ];
  const userconfig = join(directory, 'npmrc');
  writeFileSync(userconfig, `${lines.join('\n')}\n`);
  return async (name, cache) => {
    const settings = {
      npm_config_cache: cache,
      // A tarball of another registry is fetched from there.
      npm_config_replace_registry_host: 'never',
      npm_config_update_notifier: 'false',
      npm_config_userconfig: userconfig,
    };
    const {npm_config_registry: _, ...inherited} = process.env;
    await promisify(execFile)('npx', argvOf(name), {cwd: directory, env: {...inherited, ...settings}});
  };
}

function bytesBelow(directory) {
  return readdirSync(directory, {recursive: true})
    .map(name => lstatSync(join(directory, name)))
    .reduce((sum, info) => sum + (info.isFile() ? info.size : 0), 0);
}
