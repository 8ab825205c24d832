/**
 * The parts of a machine that tests need, asked once for each run and for the whole run. A part is there when its
 * program answers, not when its name is in PATH. A test says `needs('bubblewrap')` in its options; where the part is
 * not there, the test is left out, and the end of the run says how many and how to install the part.
 */
import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';

interface Description {
  /** How to install it. */
  readonly remedy: string;
  readonly answers: () => Promise<boolean>;
}

const {env} = process;
/** `redis-server` and `haproxy` are not in every user's PATH. */
const DIRECTORIES = [...(env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];
const ENGINE_SOCKET = join(env['FORGE_DOCKER_STATE'] ?? '/tmp/forge-docker-engine', 'docker.sock');
const IS_ROOT = process.getuid?.() === 0;

const PARTS = {
  Linux: part('a Linux machine', async () => process.platform === 'linux'),
  'x86-64': part('a machine of this kind', async () => process.arch === 'x64'),
  root: part('sudo npm test', async () => IS_ROOT),
  bubblewrap: part('apt-get install bubblewrap', () =>
    says('bwrap', ['--unshare-user', '--ro-bind', '/', '/', '--proc', '/proc', 'true']),
  ),
  'control groups': part('root, or a group that systemd delegates to you', async () => {
    const {findGroupPlace} = await import('../../src/system/control-group.ts');
    return (await findGroupPlace()) !== undefined;
  }),
  Docker: part('test/support/docker-engine.sh start (as root, with docker.io installed)', hasDocker),
  Chromium: part('apt-get install chromium', () => says(chromium(), ['--version'], /^Chromium|Chrome/)),
  ripgrep: part('npm ci', async () => (await import('@vscode/ripgrep')).rgPath !== ''),
  'GNU patch': part('apt-get install patch', () => says('patch', ['--version'], /GNU patch/)),
  git: part('apt-get install git', () => says('git', ['--version'])),
  Python: part('apt-get install python3', () => says('/usr/bin/python3', ['--version'])),
  pip: part('apt-get install python3-pip', () => says('/usr/bin/pip3', ['--version'])),
  cargo: part('apt-get install cargo', () => says('/usr/bin/cargo', ['--version'])),
  Perl: part('apt-get install perl-base', () => says('perl', ['-e', '1'])),
  Redis: part('apt-get install redis-server', () => says(program('redis-server'), ['--version'])),
  HAProxy: part('apt-get install haproxy', () => says(program('haproxy'), ['-v'])),
  SearXNG: part(
    'apt-get install searx',
    async () =>
      existsSync(program('searx-run')) &&
      says('/usr/bin/python3', ['-c', 'from importlib import util; assert util.find_spec("searx")']),
  ),
  OpenSSL: part('apt-get install openssl', () => says('openssl', ['version'])),
  curl: part('apt-get install curl', () => says('curl', ['--version'])),
  tcpdump: part('apt-get install tcpdump', () => says(program('tcpdump'), ['--version'])),
  script: part('apt-get install bsdutils', () => says('script', ['--version'])),
} as const satisfies Readonly<Record<string, Description>>;

/** The Chromium of the tests. Empty where there is none: tests that need it are left out. */
export const TEST_CHROMIUM = env['FORGE_TEST_CHROMIUM_PATH'] ?? '';

export type Part = keyof typeof PARTS;

declare module 'vitest' {
  interface TaskMeta {
    needs?: readonly Part[];
  }
}

/** Options of a test or a group that needs these parts. */
export function needs(...parts: readonly Part[]): {readonly skip: boolean; readonly meta: {needs: Part[]}} {
  return {skip: !parts.every(has), meta: {needs: [...parts]}};
}

export function has(name: Part): boolean {
  return !missing().includes(name);
}

/** The parts that this machine lacks, as the setup of the run found them. */
export function missing(): readonly Part[] {
  return JSON.parse(env['FORGE_TEST_MISSING'] ?? '[]');
}

export function remedy(name: Part): string {
  return PARTS[name].remedy;
}

/** Asks for every part, and leaves what was found in the environment of the processes that run tests. */
export async function findParts(): Promise<void> {
  const names = Object.keys(PARTS) as Part[];
  const answers = await Promise.all(names.map(name => PARTS[name].answers()));
  env['FORGE_TEST_MISSING'] = JSON.stringify(names.filter((_, at) => !answers[at]));
  if (has('Chromium')) env['FORGE_TEST_CHROMIUM_PATH'] = chromium();
  else delete env['FORGE_TEST_CHROMIUM_PATH'];
}

/** Where a program lies, or its name where it lies nowhere. */
export function program(name: string): string {
  return DIRECTORIES.map(directory => join(directory, name)).find(existsSync) ?? name;
}

function chromium(): string {
  return env['FORGE_TEST_CHROMIUM_PATH'] ?? program('chromium');
}

/** The engine of `docker-engine.sh`, else the user's own. It needs the image of the tests. */
async function hasDocker(): Promise<boolean> {
  env['FORGE_TEST_DOCKER_IMAGE'] ??= 'forge-test:latest';
  if (existsSync(ENGINE_SOCKET)) env['FORGE_TEST_DOCKER_HOST'] ??= `unix://${ENGINE_SOCKET}`;
  const host = env['FORGE_TEST_DOCKER_HOST'] ?? env['DOCKER_HOST'];
  if (host !== undefined) env['FORGE_TEST_DOCKER_HOST'] = host;
  const DOCKER_HOST = host ?? '';
  return says('docker', ['image', 'inspect', env['FORGE_TEST_DOCKER_IMAGE']], /./, {...env, DOCKER_HOST});
}

function part(remedy: string, answers: () => Promise<boolean>): Description {
  return {remedy, answers};
}

async function says(
  file: string,
  args: readonly string[],
  pattern = /^/,
  environment: NodeJS.ProcessEnv = env,
): Promise<boolean> {
  try {
    const {stdout} = await promisify(execFile)(file, args, {env: environment, timeout: 20_000});
    return pattern.test(stdout);
  } catch {
    return false;
  }
}
