// Opens and closes one run: its directory, its log, its steps and its clients.
import {setMaxListeners} from 'node:events';
import {constants} from 'node:fs';
import {open, truncate} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/errors.ts';
import {PendingApprovals} from './approvals/pending.ts';
import {Client, Grants} from './client.ts';
import {INITIAL_HASH, ioFailure, JsonlLog, type LogCheck, verifyLog} from './event-log.ts';
import {redactPayload} from './redact.ts';
import {openRunDirectory, type RunDirectory} from './run-directory.ts';
import type {EventPayload, RunEvent} from './run-event.ts';
import {TAINT_OFF, type TaintOptions} from './taint/options.ts';
import {RunTaint, TaintReader, UNKNOWN} from './taint/run-taint.ts';

/** Format of the lines, for whoever reads old runs. */
const LOG_VERSION = 1;

export interface SessionOptions {
  /** Created where it is missing; one that holds a log is resumed. */
  readonly directory: string;
  /** Ruling W10: must not contain the run directory. */
  readonly workspace: string | undefined;
  readonly clock: Clock;
  /** T1. Default: nothing is followed. */
  readonly taint?: TaintOptions | undefined;
}

/** One run directory in use: its log, the numbers of its calls, and its clients. */
export interface Session {
  readonly directory: RunDirectory;
  readonly pending: PendingApprovals;
  /** T1: what passed through the tools. */
  readonly taint: RunTaint;
  /** Ruling W7: 1, 2, 3 …, going on where an earlier process ended. */
  readonly nextStep: () => number;
  /** Redacts and appends. The line is in the file when this returns. */
  readonly emit: (event: string, payload: EventPayload) => Result<undefined>;
  /** Ruling H7: true once, for the first call that no approver could be asked about. */
  readonly isFirstUnanswered: () => boolean;
  /** The same client for the same key. Calls without one are of one client, to whom the whole run belongs. */
  readonly client: (key?: object) => Client;
  /** Ends the run; a failure says what of the log may not be on disk. The second time does nothing. */
  readonly close: () => Promise<Result<undefined>>;
}

interface Past {
  readonly taint: TaintReader;
  steps: number;
  readonly unfinished: Set<number>;
}

/** Opens a run. A log that was changed is refused; half a line that a crash left is put aside. */
export async function openSession({
  directory,
  workspace,
  clock,
  taint = TAINT_OFF,
}: SessionOptions): Promise<Result<Session>> {
  const opened = await openRunDirectory(directory, workspace, clock);
  if (!opened.ok) return opened;
  const session = await resume(opened.value, clock, taint).catch((error: unknown) =>
    ioFailure(error, opened.value.path, 'open the run directory'),
  );
  if (!session.ok) await opened.value.release();
  return session;
}

async function resume(
  directory: RunDirectory,
  clock: Clock,
  options: TaintOptions,
): Promise<Result<Session>> {
  const path = join(directory.path, 'events.jsonl');
  const past: Past = {steps: 0, unfinished: new Set(), taint: new TaintReader()};
  const check = await readPast(path, past);
  if (!check.ok) return check;
  const end = check.value;
  if (end.state === 'tampered') {
    const {line = 0, reason = ''} = end.problem ?? {};
    return fail(
      'io_error',
      `Line ${line} of ${path} ${reason}: the log was changed after it was written. Use another run directory.`,
      {path, error: 'log_tampered', operation: 'resume'},
    );
  }
  const keptIn = end.state === 'torn' ? await putPartialLineAside(path, end) : undefined;
  const log = new JsonlLog(path, end, clock);
  const begun = [
    keptIn === undefined ? ok() : log.append('log_repaired', {torn_bytes: end.tornBytes, kept_in: keptIn}),
    end.events === 0
      ? log.append('session_started', {version: LOG_VERSION})
      : log.append('session_resumed', {steps: past.steps, unfinished: [...past.unfinished].slice(0, 100)}),
  ].find(result => !result.ok);
  if (begun !== undefined && !begun.ok) {
    log.close();
    return begun;
  }

  const emit: Session['emit'] = (event, payload) => log.append(event, redactPayload(payload));
  const known = past.taint.taint();
  const taint = new RunTaint(options, known, emit);
  // T1: written down, so that the sessions after this one know it too.
  if (known.isUnknown || end.state === 'torn' || (await hasLaterSteps(directory, past.steps))) {
    const about = {request_id: '', step: Math.max(1, past.steps), tool: ''};
    for (const kind of ['untrusted', 'private'] as const) taint.assume(kind, UNKNOWN, about);
  }
  let {steps} = past;
  const controller = new AbortController();
  // One listener for each client that has commands in the background.
  setMaxListeners(0, controller.signal);
  const kept = new Grants();
  const alone = new Client(controller.signal, kept, true);
  // Who has gone leaves nothing.
  const clients = new WeakMap<object, Client>();
  let closed = false;
  let unanswered = 0;
  return ok({
    directory,
    pending: new PendingApprovals(directory.path, clock),
    nextStep: () => {
      steps += 1;
      return steps;
    },
    isFirstUnanswered: () => {
      unanswered += 1;
      return unanswered === 1;
    },
    taint,
    emit,
    client: key => {
      if (key === undefined) return alone;
      const known = clients.get(key) ?? new Client(controller.signal, kept, false);
      clients.set(key, known);
      return known;
    },
    close: async () => {
      if (closed) return ok();
      closed = true;
      controller.abort();
      const ended = log.append('session_ended', {steps});
      const put = log.close();
      await directory.release();
      return ended.ok ? put : ended;
    },
  });
}

async function readPast(path: string, past: Past): Promise<Result<LogCheck>> {
  const check = await verifyLog(path, ({event, payload}: RunEvent) => {
    past.taint.add(event, payload);
    const step = payload['step'];
    if (typeof step !== 'number') return;
    past.steps = Math.max(past.steps, step);
    if (event === 'tool_call_started') past.unfinished.add(step);
    if (event === 'tool_call_finished') past.unfinished.delete(step);
  });
  const isNew = !check.ok && check.error.details['error'] === 'ENOENT';
  return isNew ? ok({state: 'intact', events: 0, head: INITIAL_HASH, bytes: 0, tornBytes: 0}) : check;
}

/** T1: records of calls that the log does not have any more say that lines of it are missing at its end. */
async function hasLaterSteps(directory: RunDirectory, steps: number): Promise<boolean> {
  const names = await directory.artifacts.list('calls');
  if (!names.ok) return true;
  return names.value.some(name => Number(/^step_(\d+)\.json$/.exec(name)?.[1] ?? 0) > steps);
}

/** The bytes are safe beside the log before they are cut off it. The value is the name of their file. */
async function putPartialLineAside(path: string, {bytes, tornBytes, events}: LogCheck): Promise<string> {
  const partial = Buffer.alloc(tornBytes);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.read(partial, 0, tornBytes, bytes);
  } finally {
    await file.close();
  }
  const name = await keepPartial(path, events, partial);
  await truncate(path, bytes);
  return name;
}

async function keepPartial(path: string, events: number, partial: Buffer): Promise<string> {
  // A repair that was itself cut off has left its file; it is written again under the next name.
  for (let attempt = 0; ; attempt++) {
    const suffix = attempt === 0 ? '' : `.${attempt}`;
    const name = `torn-line-${events + 1}${suffix}.txt`;
    try {
      const file = await open(join(path, '..', name), 'wx', 0o600);
      try {
        await file.writeFile(partial);
        await file.sync();
      } finally {
        await file.close();
      }
      return name;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}
