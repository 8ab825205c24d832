// What commands do to runs and machines without a toolbox: approve, undo, verify, report, prune.
import {readdir} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import type {Config} from '../config/config-schema.ts';
import {
  defaultRunsRoot,
  defaultStateDirectory,
  type Environment,
  programDirectories,
  startedIn,
} from '../config/environment.ts';
import {systemClock} from '../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import type {FollowedRun} from '../report/live.ts';
import {findRun, type ListedRun} from '../report/runs.ts';
import type {WrittenReport} from '../report/write-report.ts';
import {type PendingApproval, PendingApprovals} from '../runtime/approvals/pending.ts';
import {type LogCheck, verifyLog} from '../runtime/event-log.ts';
import {type Pruning, pruneRuns as prune} from '../runtime/kept-runs.ts';
import {
  type LaterStep,
  type UndoneStep,
  type UndoOptions,
  undoStep as undoStepOf,
} from '../tools/change/undo-step.ts';
import {openWorkspaceSession} from '../tools/files/session.ts';
import {type BotKey, openBotKey as openKeyFile} from '../web/navigate/bot-key.ts';
import {openOnDesktop} from '../workspace/desktop.ts';
import {renderUnifiedDiff} from '../workspace/patch/unified.ts';
import {retentionOf} from './assemble-host.ts';

export {openFrontier, pageLinks, parseListedUrl} from './crawl.ts';
export {openPageCache} from './open-page-cache.ts';
export {openPageReader} from './open-page-reader.ts';
export {tryEntry} from './probe-toolbox.ts';
export type {BotKey, FollowedRun, ListedRun, LogCheck, PendingApproval, WrittenReport};

/** What changes in a file, for a person; `undefined` stands for no file. */
export function renderDiff(before: string | undefined, after: string, path: string): string {
  const bytes = before === undefined ? undefined : Buffer.from(before);
  // Git writes `a/` in front of a relative path.
  return renderUnifiedDiff(bytes, Buffer.from(after), path.replace(/^\/+/, '')).diff;
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
  const {listRuns: list} = await import('../report/runs.ts');
  const root = defaultRunsRoot(environment);
  return {root, runs: await list(root, most)};
}

export interface PruneLimits {
  /** Default: `runs.keep_days`. */
  readonly olderThanMs: number | undefined;
  /** Default: any number. */
  readonly keep: number | undefined;
  readonly dryRun: boolean;
}

/** Removes runs of the default place that are past the limits of the configuration, or of the caller. */
export async function pruneRuns(
  config: Config,
  {olderThanMs, keep, dryRun}: PruneLimits,
  environment: Environment,
): Promise<Result<Pruning & {readonly root: string}>> {
  const root = defaultRunsRoot(environment);
  const {maxAgeMs, maxBytes} = retentionOf(config);
  const retention = {maxAgeMs: olderThanMs ?? maxAgeMs, maxBytes, maxRuns: keep};
  const pruned = await prune(root, retention, {clock: systemClock, dryRun});
  return pruned.ok ? ok({root, ...pruned.value}) : pruned;
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
  const {serveRun} = await import('../report/live.ts');
  return serveRun(found.value, systemClock);
}

/** Shows a file to the person at the desktop, where there is one. The value says whether it was. */
export function showFile(file: string, {env}: Environment): Promise<boolean> {
  return openOnDesktop(file, {platform: process.platform, env});
}

/** Lets the person at the terminal page through a text. The value says whether there is a pager. */
export async function pageText(text: string, {env, cwd}: Environment): Promise<boolean> {
  const {showInPager} = await import('../workspace/desktop.ts');
  return showInPager(text, {env, untrustedTrees: [cwd]});
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
  /** The value is what is forgotten. */
  readonly dismissAll: () => Promise<Result<readonly PendingApproval[]>>;
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
    dismissAll: async () => {
      const dismissed: PendingApproval[] = [];
      for (const manager of await managers()) {
        const listed = await manager.list();
        if (!listed.ok) return listed;
        for (const {id} of listed.value) {
          const done = await manager.dismiss(id);
          // Somebody else answered it meanwhile.
          if (done.ok) dismissed.push(done.value);
          else if (done.error.code !== 'invalid_params') return done;
        }
      }
      return ok(dismissed);
    },
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
