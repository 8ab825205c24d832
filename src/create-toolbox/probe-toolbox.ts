// Opens each part of a toolbox as a call would, and says what holds (`doctor`).
import {constants} from 'node:fs';
import {access} from 'node:fs/promises';
import {PassThrough} from 'node:stream';
import type {Config} from '../config/config-schema.ts';
import {type Environment, programDirectories} from '../config/environment.ts';
import {systemClock} from '../core/clock.ts';
import {ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import type {Sandbox} from '../sandbox/sandbox.ts';
import {errorReason} from '../system/errors.ts';
import {type Probe, probeDependencies} from '../tools/probe-dependencies.ts';
import {openDirectory} from '../web/cache/files.ts';
import type {LazyWeb} from '../web/open-web.ts';
import {nodeProcessRunner} from '../workspace/process-runner.ts';
import {tryEgress} from './open-egress.ts';
import {tryHub} from './open-hub.ts';

/** The parts of an open toolbox that its calls use. */
export interface ToolboxParts {
  readonly config: Config;
  readonly environment: Environment;
  /** Trees of which no program is run. */
  readonly untrustedTrees: readonly string[];
  readonly protectedPaths: readonly string[];
  /** That of `run`; `undefined` where `run` is not offered. */
  readonly sandbox: Sandbox | undefined;
  readonly web: LazyWeb;
}

export async function probeToolbox(parts: ToolboxParts, signal: AbortSignal): Promise<readonly Probe[]> {
  const {config, environment, sandbox} = parts;
  const {run, webfetch, hub} = config.tools;
  const programs = await probeDependencies({
    processes: nodeProcessRunner(systemClock),
    programDirectories: programDirectories(environment),
    untrustedTrees: parts.untrustedTrees,
    protectedPaths: parts.protectedPaths,
    browser: webfetch.browser,
    signal,
  });
  const found = await Promise.all(
    programs.map(probe =>
      probe.name === 'Chromium' && probe.state === 'ok' && webfetch.browser.enabled
        ? tryBrowser(probe, parts.web, signal)
        : probe,
    ),
  );
  const contained = await trySandbox(sandbox);
  return [
    ...found,
    contained,
    await tryCache(webfetch),
    ...(contained.state === 'ok' && sandbox !== undefined ? await tryEgress(run, sandbox, signal) : []),
    ...(await tryHub(hub, environment.env)),
    ...(await trySearch(config, parts.web, signal)),
  ];
}

async function trySandbox(sandbox: Sandbox | undefined): Promise<Probe> {
  const about = {name: 'Sandbox', version: undefined, neededFor: 'run answers sandbox_error', remedy: ''};
  if (sandbox === undefined) return {...about, state: 'unused', detail: 'run is not offered'};
  const report = await sandbox.probe();
  if (report.ok) {
    const {sandbox: kind, description} = report.value;
    return {...about, state: 'ok', detail: `${kind}: ${description}`};
  }
  const {message, details} = report.error;
  const {remedy, tried} = details;
  return {
    ...about,
    state: 'broken',
    detail: Array.isArray(tried) ? tried.join(' ') : message,
    remedy: typeof remedy === 'string' ? remedy : 'see docs/sandbox.md',
  };
}

async function tryCache({
  enabled,
  cache_dir: directory,
  max_cache_entries: most,
}: Config['tools']['webfetch']): Promise<Probe> {
  const about = {
    name: 'Page cache',
    version: undefined,
    neededFor: 'no page is kept, so each is fetched again',
    remedy: 'set tools.webfetch.cache_dir to a directory of your own, or to "" for no cache',
  };
  const unused = (detail: string): Probe => ({...about, state: 'unused', detail});
  if (!enabled) return unused('no web tool is offered');
  if (directory === '') return unused('tools.webfetch.cache_dir is ""');
  if (most === 0) return unused('tools.webfetch.max_cache_entries is 0');
  const opened = await openDirectory(directory);
  const problem = 'problem' in opened ? opened.problem : await unwritable(opened.path);
  return problem === undefined
    ? {...about, state: 'ok', detail: directory}
    : {...about, state: 'broken', detail: `${directory} is not used: ${problem}`};
}

/** Asks the engines as a call would. */
async function trySearch(
  {tools: {websearch}}: Config,
  web: LazyWeb,
  signal: AbortSignal,
): Promise<readonly Probe[]> {
  if (websearch.engines.length === 0) return [];
  const about = {
    name: 'Search engine',
    version: undefined,
    neededFor: 'web_search fails',
    remedy: 'correct tools.websearch.engines',
  };
  const request = {query: 'web search', max_results: 1, page: 1, max_age: 0};
  const found = await web.search(
    {...request, site: undefined, since: undefined, language: undefined},
    {signal, mayReach: undefined},
  );
  if (!found.ok) return [{...about, state: 'broken', detail: found.error.message}];
  const {engines, failed} = found.value;
  const silent = failed.map(({message}) => message).join(' ');
  return [
    {
      ...about,
      state: failed.length > 0 ? 'broken' : 'ok',
      detail: silent || `${engines.join(', ')} answered`,
    },
  ];
}

async function unwritable(directory: string): Promise<string | undefined> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `it cannot be written (${errorReason(error)})`;
  }
}

/** Only a start shows which layers hold (ruling G1). */
async function tryBrowser(found: Probe, web: LazyWeb, signal: AbortSignal): Promise<Probe> {
  const tried = await web.probeBrowser(signal);
  if (!tried.ok) return {...found, state: 'broken', detail: tried.error.message};
  const {isolation, sandbox, bounded} = tried.value;
  const layers =
    isolation === 'namespace'
      ? 'an empty network namespace and flags'
      : 'flags alone; install bubblewrap for both layers';
  return {
    ...found,
    detail: `${found.detail}; no network, by ${layers}; its own sandbox is ${sandbox ? 'on' : 'off'}; ${bounded ? 'memory is limited' : 'no memory limit, as no control group can be made here'}`,
  };
}

/** The first start may download the package. */
const START_MS = 60_000;
const LONGEST_OUTPUT = 8_388_608;
const LONGEST_REASON = 300;
const LIST_ID = 2;

const MESSAGES = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: {name: 'forge-tools setup', version: '1'},
    },
  },
  {method: 'notifications/initialized'},
  {id: LIST_ID, method: 'tools/list'},
];

export interface EntryStart {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Starts an MCP server as a client would, and ends it. The value counts its tools; the error is a sentence part. */
export async function tryEntry(
  {command: [program, ...args], cwd, env}: EntryStart,
  signal: AbortSignal,
): Promise<Result<number, string>> {
  const input = new PassThrough();
  for (const message of MESSAGES) input.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
  let tools: number | undefined;
  const late = new AbortController();
  const cancel = systemClock.after(START_MS, () => late.abort());
  let buffered = '';
  const decoder = new TextDecoder();
  const end = await nodeProcessRunner(systemClock).run({
    command: program,
    args,
    cwd,
    env: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    stdin: input,
    onStdout: part => {
      const lines = (buffered + decoder.decode(part, {stream: true})).split('\n');
      buffered = lines.pop() ?? '';
      tools ??= lines.map(toolsIn).find(count => count !== undefined);
      // A server ends when its client closes its end.
      if (tools !== undefined) input.end();
      return true;
    },
    maxStdoutBytes: LONGEST_OUTPUT,
    signal: AbortSignal.any([signal, late.signal]),
  });
  cancel();
  if (tools !== undefined) return ok(tools);
  switch (end.end) {
    case 'exited': {
      const said = end.stderr.trim().split('\n').at(-1) ?? '';
      return {ok: false, error: said === '' ? 'it ended without an answer' : takeStart(said, LONGEST_REASON)};
    }
    case 'not_started':
      return {ok: false, error: `${program} cannot be started (${end.error})`};
    default:
      return {ok: false, error: `it gave no answer (${end.end})`};
  }
}

function toolsIn(line: string): number | undefined {
  try {
    const {id, result} = JSON.parse(line) as {id?: unknown; result?: {tools?: unknown}};
    return id === LIST_ID && Array.isArray(result?.tools) ? result.tools.length : undefined;
  } catch {
    // A line that is no message answers nothing.
    return undefined;
  }
}
