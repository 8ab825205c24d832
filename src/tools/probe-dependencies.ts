// Finds the programs that tools need, with their versions and how to install them.
import {constants} from 'node:fs';
import {access} from 'node:fs/promises';
import {delimiter, isAbsolute} from 'node:path';
import {findProgram} from '../system/find-program.ts';
import {CHROMIUM_NAMES, chromiumPlaces, findChromium} from '../web/browser/start-chromium.ts';
import type {ProcessRunner} from '../workspace/process-runner.ts';
import {findRipgrep} from '../workspace/search/ripgrep.ts';

export interface Probe {
  readonly name: string;
  /** `unused`: it is missing or broken, and this configuration does not need it. */
  readonly state: 'ok' | 'missing' | 'broken' | 'unused';
  readonly version: string | undefined;
  /** Where it is, or what is wrong with it. */
  readonly detail: string;
  /** What fails without it. */
  readonly neededFor: string;
  /** The line that installs or mends it. */
  readonly remedy: string;
}

export interface ProbeDeps {
  readonly processes: ProcessRunner;
  /** The directories of the operator's `PATH`. */
  readonly programDirectories: readonly string[];
  /** Looked at before them. Default: the system's. */
  readonly standardDirectories?: readonly string[];
  /** Nothing in them is run. */
  readonly untrustedTrees: readonly string[];
  /** Below the root: what no tool and no command can change. */
  readonly protectedPaths: readonly string[];
  /** `tools.webfetch.browser`; `chromium_path` is '' for a search in `PATH`. */
  readonly browser: {readonly enabled: boolean; readonly chromium_path: string};
  readonly signal: AbortSignal;
  /** Default: this system. */
  readonly platform?: string | undefined;
  /** Of this process. Default: what the system says. */
  readonly pid?: number;
}

interface Dependency {
  readonly name: string;
  /** An absolute path, or names of which the first one found counts. */
  readonly programs: readonly string[];
  /** A run that succeeds only where it works. */
  readonly args: readonly string[];
  readonly version: RegExp;
  readonly neededFor: string;
  readonly remedy: string;
  /** What stands for `programs` where none is there. Default: that they are not in PATH. */
  readonly lacking?: string | undefined;
  readonly needed: boolean;
}

const NODE_LEAST = [20, 19] as const;
const LONGEST_OUTPUT = 65_536;

/** What the tools need beside themselves: whether it runs, in which version, and how to get it. */
export async function probeDependencies(deps: ProbeDeps): Promise<readonly Probe[]> {
  const {programDirectories, untrustedTrees, standardDirectories, platform = process.platform} = deps;
  const [workspaceRoot = '/nonexistent'] = untrustedTrees;
  const ripgrep = await findRipgrep({
    directories: programDirectories,
    workspaceRoot,
    protectedPaths: deps.protectedPaths,
  });
  const places = {path: programDirectories.join(delimiter), untrustedTrees, standard: standardDirectories};
  const chromium = await findChromium(deps.browser.chromium_path, places, chromiumPlaces(platform));
  const found = {
    ripgrep: ripgrep.ok ? [ripgrep.value] : [],
    chromium: chromium === undefined ? [] : [chromium],
  };
  const probes = await Promise.all(list(deps, found).map(dependency => probe(dependency, deps)));
  return [probeNode(deps), ...probes];
}

function list(
  {browser, platform = process.platform}: ProbeDeps,
  {ripgrep, chromium}: {readonly ripgrep: readonly string[]; readonly chromium: readonly string[]},
): readonly Dependency[] {
  const install = (names: Readonly<Record<string, string>>): string =>
    names[platform] ?? names['linux'] ?? '';
  return [
    {
      name: 'ripgrep',
      programs: ripgrep,
      args: ['--version'],
      version: /^ripgrep (\S+)/,
      neededFor: 'search answers ripgrep_unavailable; glob falls back to a slower scan',
      remedy: install({
        linux: 'apt-get install ripgrep',
        darwin: 'brew install ripgrep',
        win32: 'winget install BurntSushi.ripgrep.MSVC',
      }),
      needed: true,
    },
    {
      name: 'GNU patch',
      programs: ['patch'],
      args: ['--version'],
      version: /^GNU patch (\S+)/,
      neededFor: 'apply_patch works, without its cross-check against GNU patch',
      remedy: install({
        linux: 'apt-get install patch',
        darwin: 'brew install gpatch',
        win32: 'install Git for Windows, which brings it',
      }),
      needed: true,
    },
    {
      name: 'Chromium',
      programs: chromium,
      lacking: lackingChromium(browser.chromium_path, platform),
      args: ['--version'],
      version: /(\d+(?:\.\d+){3})/,
      neededFor:
        'web_fetch answers force_browser with browser_unavailable, and cannot render pages made by script',
      remedy:
        browser.chromium_path === ''
          ? install({
              linux: 'apt-get install chromium',
              darwin: 'brew install --cask google-chrome',
              win32: 'winget install Google.Chrome',
            })
          : 'correct tools.webfetch.browser.chromium_path, or leave it out',
      needed: browser.enabled,
    },
  ];
}

function lackingChromium(written: string, platform: string): string {
  if (written !== '')
    return `tools.webfetch.browser.chromium_path is ${written}, which is not an executable file`;
  return `${[...CHROMIUM_NAMES, ...chromiumPlaces(platform)].join(', ')} not found in PATH`;
}

async function probe(dependency: Dependency, deps: ProbeDeps): Promise<Probe> {
  const {name, programs, args, version, neededFor, remedy} = dependency;
  const about = {name, neededFor, remedy};
  const missing = dependency.needed ? 'missing' : 'unused';
  const program = await firstOf(programs, deps);
  if (program === undefined) {
    const searched = programs.length === 0 ? name : programs.join(', ');
    return {
      ...about,
      state: missing,
      version: undefined,
      detail: dependency.lacking ?? `${searched} not found in PATH`,
    };
  }
  const run = await output(program, args, deps);
  const found = run.ok ? version.exec(run.text)?.[1] : undefined;
  if (found !== undefined) return {...about, state: 'ok', version: found, detail: program};
  const [line = ''] = run.text.trim().split('\n', 1);
  const state = dependency.needed ? 'broken' : 'unused';
  return {...about, state, version: undefined, detail: `${program}: ${line.slice(0, 200)}`};
}

function probeNode({browser, pid = process.pid}: ProbeDeps): Probe {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [leastMajor, leastMinor] = NODE_LEAST;
  const isNewEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return {
    name: 'Node.js',
    state: isNewEnough ? 'ok' : 'broken',
    version: process.versions.node,
    // review R17: a browser without namespaces leaves processes that only process 1 can reap, which Node does not.
    detail:
      pid === 1 && browser.enabled
        ? `${process.execPath}, as process 1: start the container with an init (docker run --init), or what browsers leave piles up`
        : process.execPath,
    neededFor: `nothing is tested below ${NODE_LEAST.join('.')}`,
    remedy: 'install Node.js 22 from https://nodejs.org/',
  };
}

async function firstOf(programs: readonly string[], deps: ProbeDeps): Promise<string | undefined> {
  const {programDirectories, standardDirectories, untrustedTrees} = deps;
  const places = {path: programDirectories.join(delimiter), untrustedTrees, standard: standardDirectories};
  for (const program of programs) {
    // What the operator names is taken as it is.
    if (isAbsolute(program)) {
      if (await isExecutable(program)) return program;
      continue;
    }
    const found = await findProgram(program, places);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function output(
  command: string,
  args: readonly string[],
  {processes, programDirectories, signal}: ProbeDeps,
): Promise<{readonly ok: boolean; readonly text: string}> {
  const stdout: Uint8Array[] = [];
  const end = await processes.run({
    command,
    args,
    cwd: '/',
    env: {PATH: programDirectories.filter(isAbsolute).join(':'), HOME: '/', LC_ALL: 'C'},
    onStdout: part => {
      stdout.push(part);
      return true;
    },
    maxStdoutBytes: LONGEST_OUTPUT,
    signal,
  });
  const text = Buffer.concat(stdout).toString('utf8');
  switch (end.end) {
    case 'exited':
      return {ok: end.exitCode === 0, text: end.exitCode === 0 ? text : `${end.stderr}\n${text}`};
    case 'not_started':
      return {ok: false, text: `cannot be started (${end.error})`};
    default:
      return {ok: false, text: `gave no answer (${end.end})`};
  }
}
