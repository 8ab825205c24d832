import {readdir} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import type {Config} from '../config/config-schema.ts';
import type {Environment} from '../config/environment.ts';
import {defaultRunsRoot, defaultStateDirectory, programDirectories} from '../config/state-directories.ts';
import {systemClock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {silentLog} from '../core/log.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import {findRun} from '../report/find-run.ts';
import type {ListedRun} from '../report/list-runs.ts';
import type {FollowedRun} from '../report/live/serve-run.ts';
import type {WrittenReport} from '../report/write-report.ts';
import {type PendingApproval, PendingApprovals} from '../runtime/approvals/pending-approvals.ts';
import {type LogCheck, verifyLog} from '../runtime/events/verify-log.ts';
import {
  type LaterStep,
  type UndoneStep,
  type UndoOptions,
  undoStep as undoStepOf,
} from '../tools/change/undo-step.ts';
import {openWorkspaceSession} from '../tools/files/workspace-session.ts';
import {type Probe, probeDependencies} from '../tools/probe-dependencies.ts';
import {type BotKey, openBotKey as openKeyFile} from '../web/identity/key-file.ts';
import {openWeb} from '../web/open-web.ts';
import {renderUnifiedDiff} from '../workspace/patch/diff/render-unified.ts';
import {nodeProcessRunner} from '../workspace/process/node-process-runner.ts';
import {openOnDesktop} from '../workspace/process/open-on-desktop.ts';
import {protectedPaths} from './protected-paths.ts';
import {startedIn} from './started-in.ts';
import {tryEgress} from './try-egress.ts';
import {tryHub} from './try-hub.ts';

export {openFrontier} from './crawl/open-frontier.ts';
export {pageLinks} from './crawl/page-links.ts';
export {openPageCache} from './open-page-cache.ts';
export {openPageReader} from './open-page-reader.ts';
export {parseListedUrl} from './parse-listed-url.ts';
export type {BotKey, FollowedRun, ListedRun, LogCheck, PendingApproval, Probe, WrittenReport};

/** Acts on runs that may belong to no open toolbox: what the commands beside `call` and `mcp` do. */

/** What changes in a file, for a person; `undefined` stands for no file. */
export function renderDiff(before: string | undefined, after: string, path: string): string {
  const bytes = before === undefined ? undefined : Buffer.from(before);
  return renderUnifiedDiff(bytes, Buffer.from(after), path).diff;
}

/** A run is named by a path, by its name below the default place, or as `latest`. */
export function locateRun(run: string, environment: Environment): Promise<Result<string>> {
  return findRun(run, {cwd: environment.cwd, runsRoot: defaultRunsRoot(environment)});
}

/** The runs of the default place, the one that was written to last first. */
export async function listRuns(
  most: number,
  environment: Environment,
): Promise<{readonly root: string; readonly runs: readonly ListedRun[]}> {
  const {listRuns: list} = await import('../report/list-runs.ts');
  const root = defaultRunsRoot(environment);
  return {root, runs: await list(root, most)};
}

/** Checks the hash chain of a run's log. */
export function verifyRun(runDirectory: string): Promise<Result<LogCheck>> {
  return verifyLog(join(runDirectory, 'events.jsonl'));
}

export interface UndoRequest {
  readonly runDirectory: string;
  readonly workspace: string;
  readonly step: number;
}

/** Reverses what one step of a run changed, and only that. Paths are absolute. */
export async function undoStep(
  {runDirectory, workspace, step}: UndoRequest,
  environment: Environment,
): Promise<Result<UndoneStep>> {
  const session = openWorkspaceSession({
    root: workspace,
    stateDirectory: defaultStateDirectory(environment, workspace),
    programDirectories: programDirectories(environment),
    clock: systemClock,
  });
  if (!session.ok) return session;
  try {
    const recovered = await session.value.recover();
    if (!recovered.ok) return recovered;
    const logged = await loggedChange(runDirectory, step);
    return logged.ok ? await undoStepOf(session.value, runDirectory, step, logged.value) : logged;
  } finally {
    await session.value.close();
  }
}

/** review R18: what the log says of the record that undo works with, and of what came after it. */
async function loggedChange(runDirectory: string, step: number): Promise<Result<UndoOptions>> {
  const path = join(runDirectory, 'events.jsonl');
  let recordHash: string | undefined;
  const later: LaterStep[] = [];
  let hasFailed = false;
  const check = await verifyLog(path, ({event, payload}) => {
    const {step: of, undo_record_sha256: hash} = payload;
    if (event === 'PATCH_APPLIED' && typeof of === 'number' && of > step && typeof hash === 'string')
      later.push({step: of, recordHash: hash});
    if (of !== step) return;
    if (event === 'PATCH_APPLIED' && typeof hash === 'string') recordHash = hash;
    if (event === 'tool_call_finished') hasFailed = payload['status'] === 'error';
  });
  if (!check.ok) return check.error.details['error'] === 'ENOENT' ? ok({}) : check;
  if (check.value.state === 'tampered') {
    return fail(
      'io_error',
      `${path} was changed after it was written, so what it says of step ${step} cannot be trusted. Nothing was undone.`,
      {path, error: 'log_tampered', operation: 'undo'},
    );
  }
  // W19: the record is written before the change, so there may be one of a change that was not made. A later step,
  // or a person, may have left the files as it would have.
  if (hasFailed && recordHash === undefined) {
    return fail(
      'file_not_found',
      `Step ${step} of this run failed and changed no files, so there is nothing to undo.`,
      {path},
    );
  }
  return ok({recordHash, later});
}

/** Makes one HTML page of a run (a path, a name or `latest`), where the caller does not say otherwise beside its log. */
export async function writeReport(
  run: string,
  out: string | undefined,
  environment: Environment,
): Promise<Result<WrittenReport>> {
  const found = await locateRun(run, environment);
  if (!found.ok) return found;
  const {writeReport: write} = await import('../report/write-report.ts');
  return write(found.value, out);
}

/** Serves the page of a run on loopback, where it follows what the run does. */
export async function followRun(run: string, environment: Environment): Promise<Result<FollowedRun>> {
  const found = await locateRun(run, environment);
  if (!found.ok) return found;
  const {serveRun} = await import('../report/live/serve-run.ts');
  return serveRun(found.value, systemClock);
}

/** Shows a file to the person at the desktop, where there is one. The value says whether it was. */
export function showFile(file: string, {env}: Environment): Promise<boolean> {
  return openOnDesktop(file, {platform: process.platform, env});
}

/** Lets the person at the terminal page through a text. The value says whether there is a pager. */
export async function pageText(text: string, {env, cwd}: Environment): Promise<boolean> {
  const {showInPager} = await import('../workspace/process/show-in-pager.ts');
  return showInPager(text, {env, untrustedTrees: [cwd]});
}

/** What the tools need on this machine, whether it is there, how Chromium is kept from the network, and what commands reach. */
export async function probe(
  config: Config,
  {environment, signal}: {readonly environment: Environment; readonly signal: AbortSignal},
): Promise<readonly Probe[]> {
  const probes = await probeDependencies({
    processes: nodeProcessRunner(systemClock),
    programDirectories: programDirectories(environment),
    workspaceRoot: environment.cwd,
    protectedPaths: protectedPaths({root: environment.cwd, named: [], state: []}),
    browser: config.tools.webfetch.browser,
    signal,
  });
  const chromium = probes.findIndex(({name, state}) => name === 'Chromium' && state === 'ok');
  const found = probes[chromium];
  const tried = [
    ...(await tryEgress(config, environment, {found: probes, signal})),
    ...(await tryHub(config.tools.hub, environment.env)),
  ];
  return found === undefined
    ? [...probes, ...tried]
    : [...probes.with(chromium, await tryBrowser(found, config, environment, signal)), ...tried];
}

/** Starts it as a fetch would: only that shows which layers hold (ruling G1). */
async function tryBrowser(
  found: Probe,
  config: Config,
  {env, cwd}: Environment,
  signal: AbortSignal,
): Promise<Probe> {
  const web = openWeb(config.tools.webfetch, config.tools.webread, {
    log: silentLog,
    clock: systemClock,
    env,
    resolver: undefined,
    certificateAuthorities: [],
    untrustedTrees: cwd === '/' ? [] : [cwd],
  });
  if (!web.ok) return found;
  try {
    const tried = await web.value.probeBrowser(signal);
    if (!tried.ok) return {...found, state: 'broken', detail: tried.error.message};
    const {isolation, sandbox, bounded} = tried.value;
    const layers =
      isolation === 'namespace'
        ? 'empty network namespace and flags'
        : 'flags alone; install bubblewrap for both layers';
    return {
      ...found,
      detail: `${found.detail}; kept from the network by ${layers}; own sandbox ${sandbox ? 'on' : 'off'}; memory ${bounded ? 'bounded' : 'not bounded, for want of a control group'}`,
    };
  } finally {
    await web.value.close();
  }
}

/** The key that signs requests where an origin asks for it; it is made where the file is not there. */
export function openBotKey(file: string, environment: Environment): Result<BotKey, string> {
  return openKeyFile(resolve(environment.cwd, file), startedIn(environment));
}

export interface ApprovalManager {
  /** Oldest first. */
  readonly list: () => Promise<Result<readonly PendingApproval[]>>;
  readonly approve: (id: string) => Promise<Result<PendingApproval>>;
  readonly dismiss: (id: string) => Promise<Result<PendingApproval>>;
}

/** The approvals that wait in one run or, where none is named, in all runs of the default place. */
export function openApprovals(runDirectory: string | undefined, environment: Environment): ApprovalManager {
  const managers = async (): Promise<readonly PendingApprovals[]> => {
    const runs = runDirectory === undefined ? await runsBelow(defaultRunsRoot(environment)) : [runDirectory];
    return runs.map(run => new PendingApprovals(run, systemClock));
  };
  const first = async (
    id: string,
    act: (manager: PendingApprovals) => Promise<Result<PendingApproval>>,
  ): Promise<Result<PendingApproval>> => {
    let refusal: Err<Failure> = fail('file_not_found', `No approval ${JSON.stringify(id)} waits in any run.`);
    for (const manager of await managers()) {
      const done = await act(manager);
      if (done.ok) return done;
      if (done.error.code !== 'file_not_found') refusal = done;
    }
    return refusal;
  };
  return {
    list: async () => {
      const waiting: PendingApproval[] = [];
      for (const manager of await managers()) {
        const listed = await manager.list();
        if (!listed.ok) return listed;
        waiting.push(...listed.value);
      }
      return ok(waiting.sort((a, b) => a.created_at.localeCompare(b.created_at)));
    },
    approve: id => first(id, manager => manager.approve(id)),
    dismiss: id => first(id, manager => manager.dismiss(id)),
  };
}

async function runsBelow(root: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(root, {withFileTypes: true});
    return entries.filter(entry => entry.isDirectory()).map(({name}) => join(root, name));
  } catch {
    // Nobody has run anything yet.
    return [];
  }
}
