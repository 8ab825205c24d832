/**
 * Surrounds a whole run of tests. It finds the parts of the machine, and gives the run a temporary directory, a home,
 * and an environment without the user's taste. It removes both directories. At the end it compares the machine with
 * its state before: a run that leaves a file, a process or a mount is red.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import {homedir, tmpdir, userInfo} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import type {Reporter, TestModule} from 'vitest/node';
import {findParts, missing, type Part, remedy} from './parts.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
/** What builds and test runners write there, and what nobody lists to the end. */
const NOT_COMPARED = new Set(['.git', 'node_modules', 'dist', 'schemas', 'vocabulary', 'coverage']);

/** As they were before the run has its own. */
const [HOME, TEMPORARY] = [homedir(), tmpdir()];
let directory: string;
let before: ReadonlySet<string>;

export async function setup(): Promise<void> {
  const {env} = process;
  before = placesOfTheMachine();
  directory = realpathSync(mkdtempSync(join(TEMPORARY, 'forge-tests-')));
  // Some tests are other users.
  chmodSync(directory, 0o1777);
  // What npm and cargo know of their registries lies in the user's own home.
  env['npm_config_userconfig'] ??= join(HOME, '.npmrc');
  env['npm_config_cache'] ??= join(directory, 'npm');
  env['TMPDIR'] = directory;
  env['HOME'] = join(directory, 'home');
  mkdirSync(env['HOME']);
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'FORCE_COLOR', 'NO_COLOR']) {
    delete env[name];
  }
  for (const name of Object.keys(env).filter(name => name.startsWith('LC_'))) delete env[name];
  env['LANG'] = 'C.UTF-8';
  env['PYTHONDONTWRITEBYTECODE'] = '1';
  process.umask(0o022);
  await findParts();
  const lacking = missing().filter(part => !(env['FORGE_TEST_MAY_LACK'] ?? '').split(',').includes(part));
  if (env['CI'] === 'true' && lacking.length > 0)
    throw new Error(`CI lacks parts:\n${lacking.map(line).join('\n')}`);
}

export async function teardown(): Promise<void> {
  const running = await processesOfTheRun();
  const mounts = mountsOfTheRun();
  rmSync(directory, {recursive: true, force: true});
  const files = [...placesOfTheMachine()].filter(place => !before.has(place));
  const left = [...running, ...mounts, ...files];
  if (left.length === 0) return;
  // Vitest prints what is thrown here, and goes on.
  process.exitCode = 1;
  throw new Error(`The tests left behind:\n${left.map(one => `  ${one}`).join('\n')}`);
}

/** Says at the end of a run which tests needed a second try, and which were left out for want of which part. */
export class PartsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const unsteady = modules.flatMap(module =>
      [...module.children.allTests('passed')].filter(test => (test.diagnostic()?.retryCount ?? 0) > 0),
    );
    if (unsteady.length > 0) {
      const names = unsteady.map(test => `  ${test.module.relativeModuleId}: ${test.fullName}`);
      console.log(`Passed at the second try only, which is a defect:\n${names.join('\n')}\n`);
    }
    const counts = new Map<Part, number>();
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const part = test.meta().needs?.find(one => missing().includes(one));
        if (part !== undefined) counts.set(part, (counts.get(part) ?? 0) + 1);
      }
    }
    const rows = [...counts].map(
      ([part, count]) => `${line(part)} (${count} ${count === 1 ? 'test' : 'tests'})`,
    );
    if (rows.length > 0) console.log(`Left out, as this machine lacks the part:\n${rows.join('\n')}\n`);
  }
}

function line(part: Part): string {
  return `  ${part}: ${remedy(part)}`;
}

/** Every name that a run could leave: in the home, the temporary directory, the checkout and `/nonexistent`. */
function placesOfTheMachine(): ReadonlySet<string> {
  const homes = new Set([HOME, userInfo().homedir]);
  return new Set([
    ...[...homes].flatMap(home => [
      ...namesIn(home),
      ...['.config', '.cache', '.local/state', '.local/share'].flatMap(name => namesIn(join(home, name))),
    ]),
    // Other programs, and other runs of these tests, write there too.
    ...[TEMPORARY, '/tmp', '/dev/shm']
      .flatMap(namesIn)
      .filter(name => /forge-(?:tools|demo)[^/]*$/.test(name) && isOurs(name)),
    ...filesBelow(CHECKOUT),
    ...(existsSync('/nonexistent') ? ['/nonexistent'] : []),
  ]);
}

/** Another user can run these tests, too. */
function isOurs(path: string): boolean {
  return lstatSync(path, {throwIfNoEntry: false})?.uid === process.getuid?.();
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).map(name => join(directory, name));
  } catch {
    return [];
  }
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, {withFileTypes: true}).flatMap(entry => {
    if (NOT_COMPARED.has(entry.name)) return [];
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
  });
}

/** Processes that have the temporary directory of this run in their environment or arguments, once they had time to end. */
async function processesOfTheRun(): Promise<readonly string[]> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    const running = process.platform === 'linux' ? findProcesses() : [];
    if (running.length === 0 || performance.now() > deadline) return running;
    await wait(50);
  }
}

function findProcesses(): readonly string[] {
  const text = (path: string) => {
    try {
      return readFileSync(path, 'latin1').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter(id => /^\d+$/.test(id) && Number(id) !== process.pid)
    .filter(id => ['environ', 'cmdline'].some(name => text(`/proc/${id}/${name}`).includes(directory)))
    .map(id => `process ${id}: ${text(`/proc/${id}/cmdline`).trim().slice(0, 200)}`);
}

function mountsOfTheRun(): readonly string[] {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.filter(mount => mount.includes(directory)).map(mount => `mount ${mount.split(' ')[4]}`);
  } catch {
    return [];
  }
}
