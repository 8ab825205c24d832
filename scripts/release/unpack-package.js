// The package as somebody has it who installed it: from the tarball, with what it depends on beside it.
import {execFile} from 'node:child_process';
import {cp, mkdir, readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Packs dist/ as it is, without building it anew. The value is the path of the tarball. */
export async function pack(destination) {
  await mkdir(destination, {recursive: true});
  const argv = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const {stdout} = await run('npm', argv, {cwd: ROOT, shell: process.platform === 'win32'});
  return join(destination, JSON.parse(stdout)[0].filename);
}

/**
 * Unpacks the tarball to `modules/forge-tools`, and copies what it depends on from our own node_modules: the versions of
 * the lock file, and the programs of this platform.
 */
export async function unpackPackage(tarball, modules) {
  const target = join(modules, 'forge-tools');
  await mkdir(target, {recursive: true});
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  const {dependencies} = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) await copyPackage(name, modules);
  return target;
}

async function copyPackage(name, modules) {
  const from = join(ROOT, 'node_modules', name);
  await cp(from, join(modules, name), {recursive: true});
  const {dependencies = {}, optionalDependencies = {}} = JSON.parse(
    await readFile(join(from, 'package.json'), 'utf8'),
  );
  for (const needed of Object.keys({...dependencies, ...optionalDependencies})) {
    // Of the packages of other platforms none is installed.
    const isThere = await readdir(join(ROOT, 'node_modules', needed)).then(
      () => true,
      () => false,
    );
    if (isThere) await copyPackage(needed, modules);
    else if (needed in dependencies) throw new Error(`${name} needs ${needed}, which is not installed.`);
  }
}
