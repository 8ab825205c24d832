import {chmodSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import type {ProcessEnd, ProcessRequest} from '../workspace/process/process-runner.ts';
import {type Probe, type ProbeDeps, probeDependencies} from './probe-dependencies.ts';

const EXITED: ProcessEnd = {end: 'exited', exitCode: 0, stderr: ''};

/** What is said by programs that lie in one directory and run as it is pretended. */
async function probed(
  programs: Readonly<Record<string, string | ProcessEnd>>,
  deps: Partial<ProbeDeps> = {},
): Promise<{
  readonly probes: readonly Probe[];
  readonly requests: readonly ProcessRequest[];
  readonly bin: string;
}> {
  const bin = temporaryDirectory();
  for (const name of Object.keys(programs)) {
    writeFileSync(join(bin, name), '');
    chmodSync(join(bin, name), 0o755);
  }
  const requests: ProcessRequest[] = [];
  const probes = await probeDependencies({
    processes: {
      run: async request => {
        requests.push(request);
        const outcome = programs[basename(request.command)] ?? 'ripgrep 14.1.1 (rev 1)\n';
        if (typeof outcome !== 'string') return outcome;
        request.onStdout(Buffer.from(outcome));
        return EXITED;
      },
    },
    programDirectories: [bin, 'relative', ''],
    standardDirectories: [],
    workspaceRoot: '/nonexistent',
    protectedPaths: [],
    browser: {enabled: true, chromium_path: ''},
    signal: new AbortController().signal,
    platform: 'linux',
    pid: 2,
    ...deps,
  });
  return {probes, requests, bin};
}

const NODE = {
  name: 'Node.js',
  state: 'ok',
  version: process.versions.node,
  detail: process.execPath,
  neededFor: 'nothing is tested below 20.19',
  remedy: 'install Node.js 22 from https://nodejs.org/',
};
const NEEDED_FOR = {
  ripgrep: 'search answers ripgrep_unavailable; glob falls back to a slower scan',
  'GNU patch': 'apply_patch works, without its cross-check against GNU patch',
  bubblewrap: 'run cannot use its sandbox without a daemon, and the browser has no empty network of its own',
  Docker: 'run cannot use tools.run.sandbox = "docker"',
  Chromium:
    'web_fetch answers force_browser with browser_unavailable, and cannot render pages made by script',
};
const NAMES = 'chromium, chromium-browser, google-chrome-stable, google-chrome, chrome-headless-shell';

function missing(name: keyof typeof NEEDED_FOR, programs: string, remedy: string) {
  const detail = `${programs} not found in PATH`;
  return {name, state: 'missing', version: undefined, detail, neededFor: NEEDED_FOR[name], remedy};
}

function ripgrepWith(remedy: string) {
  const {ripgrep: neededFor} = NEEDED_FOR;
  return {
    name: 'ripgrep',
    state: 'ok',
    version: '14.1.1',
    detail: expect.stringMatching(/rg(\.exe)?$/),
    neededFor,
    remedy,
  };
}

const NO_BUBBLEWRAP = (platform: string) => ({
  name: 'bubblewrap',
  state: 'unused',
  version: undefined,
  detail: `unsupported_platform: there is none for ${platform}; Docker takes its place`,
  neededFor: NEEDED_FOR.bubblewrap,
  remedy: 'install Docker',
});
const DESKTOP = 'install Docker Desktop from https://docker.com/ and start it';

test('policy: where nothing else is there, all is missing, each with what it is for and how to get it', async () => {
  const {probes} = await probed({});
  expect(probes).toEqual([
    NODE,
    ripgrepWith('apt-get install ripgrep'),
    missing('GNU patch', 'patch', 'apt-get install patch'),
    missing('bubblewrap', 'bwrap', 'apt-get install bubblewrap'),
    missing('Docker', 'docker', 'apt-get install docker.io && systemctl start docker'),
    missing('Chromium', NAMES, 'apt-get install chromium'),
  ]);
  expect((await probed({}, {platform: 'freebsd'})).probes.map(({remedy}) => remedy)).toEqual([
    NODE.remedy,
    'apt-get install ripgrep',
    'apt-get install patch',
    'install Docker',
    'apt-get install docker.io && systemctl start docker',
    'apt-get install chromium',
  ]);
});

test('policy: the remedies of other systems are their own', async () => {
  const {probes: mac} = await probed({}, {platform: 'darwin'});
  expect(mac).toEqual([
    NODE,
    ripgrepWith('brew install ripgrep'),
    missing('GNU patch', 'patch', 'brew install gpatch'),
    NO_BUBBLEWRAP('darwin'),
    missing('Docker', 'docker', DESKTOP),
    {
      ...missing('Chromium', '', 'brew install --cask google-chrome'),
      detail: expect.stringContaining(`${NAMES}, /Applications/`),
    },
  ]);
  const {probes: windows} = await probed({}, {platform: 'win32'});
  expect(windows).toEqual([
    NODE,
    ripgrepWith('winget install BurntSushi.ripgrep.MSVC'),
    missing('GNU patch', 'patch', 'install Git for Windows, which brings it'),
    NO_BUBBLEWRAP('win32'),
    missing('Docker', 'docker', DESKTOP),
    {
      ...missing('Chromium', '', 'winget install Google.Chrome'),
      detail: expect.stringContaining(`${NAMES}, C:\\Program Files`),
    },
  ]);
});

test('policy: what is there is asked for its version, with nothing of the environment but the directories', async () => {
  const {probes, requests, bin} = await probed({
    patch: 'GNU patch 2.7.6\nCopyright\n',
    bwrap: 'bubblewrap 0.8.0\n',
    docker: 'server 27.1.2\n',
    chromium: 'Chromium 156.0.7000.1 built on Debian\n',
  });
  expect(probes.map(({name, state, version, detail}) => [name, state, version, detail])).toEqual([
    ['Node.js', 'ok', process.versions.node, process.execPath],
    ['ripgrep', 'ok', '14.1.1', expect.any(String)],
    ['GNU patch', 'ok', '2.7.6', join(bin, 'patch')],
    ['bubblewrap', 'ok', '0.8.0', join(bin, 'bwrap')],
    ['Docker', 'ok', '27.1.2', join(bin, 'docker')],
    ['Chromium', 'ok', '156.0.7000.1', join(bin, 'chromium')],
  ]);
  expect(
    requests.map(({command, args}) => [basename(command).replace('.exe', ''), ...args].join(' ')).sort(),
  ).toEqual([
    'bwrap --unshare-all --ro-bind / / -- /usr/bin/env bwrap --version',
    'chromium --version',
    'docker version --format server {{.Server.Version}}',
    'patch --version',
    'rg --version',
  ]);
  for (const {cwd, env, maxStdoutBytes, stdin, onStdout} of requests) {
    expect({cwd, env, maxStdoutBytes, stdin}).toEqual({
      cwd: '/',
      env: {PATH: bin, HOME: '/', LC_ALL: 'C'},
      maxStdoutBytes: 65_536,
      stdin: undefined,
    });
    expect(onStdout(Buffer.from(''))).toBe(true);
  }
});

test.each<readonly [string | ProcessEnd, string]>([
  ['', ''],
  ['\n busybox \nmore', 'busybox '],
  ['x'.repeat(201), 'x'.repeat(200)],
  ['not GNU patch 2.7.6', 'not GNU patch 2.7.6'],
  [{end: 'exited', exitCode: 1, stderr: 'It is broken.\nmore'}, 'It is broken.'],
  [{end: 'exited', exitCode: null, stderr: ''}, ''],
  [{end: 'not_started', error: 'EACCES'}, 'cannot be started (EACCES)'],
  [{end: 'broken', error: 'EPIPE'}, 'gave no answer (broken)'],
  [{end: 'aborted'}, 'gave no answer (aborted)'],
])('policy: a program that says %j is broken', async (outcome, words) => {
  const {probes, bin} = await probed({patch: outcome});
  expect(probes.find(({name}) => name === 'GNU patch')).toMatchObject({
    state: 'broken',
    version: undefined,
    detail: `${join(bin, 'patch')}: ${words}`,
  });
});

test('policy: what fails is broken although it says its version', async () => {
  const bin = temporaryDirectory();
  const states = async (exitCode: number) => {
    const {probes} = await probed(
      {},
      {
        processes: {
          run: async ({onStdout}) => {
            onStdout(Buffer.from('ripgrep 14.1.1'));
            return {...EXITED, exitCode};
          },
        },
        programDirectories: [bin],
      },
    );
    return probes.find(({name}) => name === 'ripgrep')?.state;
  };
  expect([await states(0), await states(1)]).toEqual(['ok', 'broken']);
});

test('policy: of the sandboxes one is enough, and nothing else stands for another', async () => {
  const states = async (...args: Parameters<typeof probed>) =>
    (await probed(...args)).probes.map(({state}) => state);
  const docker = 'server 27.1.2\n';
  const bwrap = 'bubblewrap 0.8.0\n';
  expect(await states({docker})).toEqual(['ok', 'ok', 'missing', 'unused', 'ok', 'missing']);
  expect(await states({bwrap})).toEqual(['ok', 'ok', 'missing', 'ok', 'unused', 'missing']);
  expect(await states({bwrap, docker: 'x'})).toEqual(['ok', 'ok', 'missing', 'ok', 'unused', 'missing']);
  const off = {browser: {enabled: false, chromium_path: ''}};
  expect(await states({}, off)).toEqual(['ok', 'ok', 'missing', 'missing', 'missing', 'unused']);
  expect(await states({chromium: 'Chromium 1.2.3.4'}, off)).toEqual([
    ...['ok', 'ok', 'missing', 'missing', 'missing', 'ok'],
  ]);
});

test('policy: the Chromium of the settings is asked alone', async () => {
  const chromium_path = join(temporaryDirectory(), 'mine');
  const {probes} = await probed({chromium: 'Chromium 1.2.3.4'}, {browser: {enabled: true, chromium_path}});
  expect(probes.at(-1)).toMatchObject({state: 'missing', detail: `${chromium_path} not found in PATH`});
});
