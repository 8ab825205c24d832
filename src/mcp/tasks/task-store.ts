import type {CallToolResult, InputRequests, InputResponses} from '@modelcontextprotocol/server';
import {type Clock, timestamp} from '../../core/clock.ts';
import {randomHex} from '../../core/random.ts';

/** Asked more often, it tells nothing new; asked less often, a client learns of the end late. */
const POLL_INTERVAL_MS = 1000;
/** At a time. Where there are more, calls are answered as without tasks. */
const MOST_TASKS = 1000;

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The error of a JSON-RPC answer. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
}

/** SEP-2663: a task as `tools/call` hands it out. */
export type Task = {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** How long it can be asked for, from its creation. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
};

/** The same as `tasks/get` has it. */
export type DetailedTask = Task & {
  readonly result?: CallToolResult;
  readonly error?: TaskError;
  readonly inputRequests?: InputRequests;
};

export interface TaskContext {
  /** Fires when the task is cancelled. */
  readonly signal: AbortSignal;
  /** Parks the task until its client has answered all of them through `tasks/update`. */
  readonly ask: (requests: InputRequests) => Promise<InputResponses>;
}

export interface TaskPlan {
  readonly ttlMs: number;
  readonly statusMessage?: string;
  /** What it does. What it throws is a failure of the protocol. */
  readonly work: (context: TaskContext) => Promise<CallToolResult>;
}

interface Entry {
  task: DetailedTask;
  readonly expiresAt: number;
  readonly controller: AbortController;
  readonly answers: {[key: string]: unknown};
  answered: (responses: InputResponses) => void;
}

/** W21, SEP-2663: calls whose answer a client asks for later. */
export class TaskStore {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The task, which `get` knows from now on; `undefined` where there are too many. */
  create({ttlMs, statusMessage, work}: TaskPlan): Task | undefined {
    this.#forgetExpired();
    if (this.#entries.size >= MOST_TASKS) return undefined;
    const now = this.#clock.now();
    const task: Task = {
      taskId: randomHex(16),
      status: 'working',
      ...(statusMessage !== undefined && {statusMessage}),
      createdAt: timestamp(now),
      lastUpdatedAt: timestamp(now),
      ttlMs,
      pollIntervalMs: POLL_INTERVAL_MS,
    };
    const controller = new AbortController();
    const entry: Entry = {task, expiresAt: now + ttlMs, controller, answers: {}, answered: () => {}};
    this.#entries.set(task.taskId, entry);
    const context: TaskContext = {signal: controller.signal, ask: requests => this.#park(entry, requests)};
    work(context).then(
      result => this.#change(entry, {status: 'completed', result}),
      (error: unknown) => this.#change(entry, {status: 'failed', error: errorOf(error)}),
    );
    return task;
  }

  get(taskId: string): DetailedTask | undefined {
    this.#forgetExpired();
    return this.#entries.get(taskId)?.task;
  }

  /** False where there is no such task. One that has ended stays as it is. */
  cancel(taskId: string): boolean {
    const entry = this.#entries.get(taskId);
    if (entry === undefined) return false;
    this.#change(entry, {status: 'cancelled'});
    entry.controller.abort();
    return true;
  }

  /** Takes the answers that are asked for, and no others. False where there is no such task. */
  update(taskId: string, responses: {readonly [key: string]: unknown}): boolean {
    const entry = this.#entries.get(taskId);
    if (entry === undefined) return false;
    const {inputRequests} = entry.task;
    if (inputRequests === undefined) return true;
    const open = {...inputRequests};
    for (const [key, response] of Object.entries(responses)) {
      if (!Object.hasOwn(open, key)) continue;
      entry.answers[key] = response;
      delete open[key];
    }
    if (Object.keys(open).length > 0) {
      this.#change(entry, {status: 'input_required', inputRequests: open});
      return true;
    }
    this.#change(entry, {status: 'working'});
    entry.answered(entry.answers as InputResponses);
    return true;
  }

  /** Cancels all that work. */
  close(): void {
    for (const taskId of this.#entries.keys()) this.cancel(taskId);
  }

  #park(entry: Entry, inputRequests: InputRequests): Promise<InputResponses> {
    this.#change(entry, {status: 'input_required', inputRequests});
    return new Promise(resolve => {
      entry.answered = resolve;
    });
  }

  #change(entry: Entry, change: Pick<DetailedTask, 'status' | 'result' | 'error' | 'inputRequests'>): void {
    const {result: _result, error: _error, inputRequests: _open, ...task} = entry.task;
    if (['completed', 'failed', 'cancelled'].includes(task.status)) return;
    entry.task = {...task, ...change, lastUpdatedAt: timestamp(this.#clock.now())};
  }

  #forgetExpired(): void {
    const now = this.#clock.now();
    for (const [taskId, {expiresAt, controller}] of this.#entries) {
      if (expiresAt > now) continue;
      controller.abort();
      this.#entries.delete(taskId);
    }
  }
}

function errorOf(error: unknown): TaskError {
  const message = error instanceof Error ? error.message : String(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return {code: typeof code === 'number' ? code : -32_603, message};
}
