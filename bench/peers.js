import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

const here = import.meta.dirname;

/** Whether the packages to compare with are there, in the versions of the lock; installs them if not. */
export function installPeers() {
  if (missingPeers().length === 0) return true;
  console.log('Installing what is compared with (npm ci in bench/) …');
  const {status} = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  const missing = missingPeers();
  if (status === 0 && missing.length === 0) return true;
  const names = missing.slice(0, 3).join(', ');
  console.log(`The peers cannot be installed (npm ci ended with ${status}; missing: ${names}).`);
  console.log('Run "npm ci" in bench/ where the registry can be reached. Suites without peers run now.');
  return false;
}

function missingPeers() {
  const {dependencies} = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  return Object.entries(dependencies)
    .filter(([name, version]) => installedVersion(name) !== version)
    .map(([name]) => name);
}

function installedVersion(name) {
  const file = join(here, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}
