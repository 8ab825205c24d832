// Serves tasks (SEP-2663): a client asks later for the end of a command that runs in the background.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequests,
  type InputResponses,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {z} from 'zod';
import {type Clock, randomHex, timestamp} from '../core/clock.ts';
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

/** SEP-2663 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const named = z.looseObject({taskId: z.string()});

/** Whether the client of a request (revision 2026-07-28) can be given a task instead of an answer. */
export function canTakeTasks({mcpReq}: ServerContext): boolean {
  const envelope = mcpReq.envelope as {readonly [key: string]: unknown} | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as {extensions?: object} | undefined;
  return declared?.extensions !== undefined && Object.hasOwn(declared.extensions, TASKS_EXTENSION);
}

/** SEP-2663 over the seam that the SDK has for extensions: `tasks/get`, `tasks/update`, `tasks/cancel`. */
export function serveTasks(server: Server, tasks: TaskStore): void {
  server.setRequestHandler('tasks/get', {params: named}, ({taskId}, context) => {
    requireTasks(context);
    return {...(tasks.get(taskId) ?? unknownTask())};
  });
  server.setRequestHandler('tasks/update', {params: named}, ({taskId, ...params}, context) => {
    requireTasks(context);
    // The SDK takes them out of the parameters, as it does where a call is made again.
    const responses = params['inputResponses'] ?? context.mcpReq.inputResponses;
    return tasks.update(taskId, isObject(responses) ? responses : {}) ? {} : unknownTask();
  });
  server.setRequestHandler('tasks/cancel', {params: named}, ({taskId}, context) => {
    requireTasks(context);
    return tasks.cancel(taskId) ? {} : unknownTask();
  });
}

function requireTasks(context: ServerContext): void {
  if (canTakeTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: {extensions: {[TASKS_EXTENSION]: {}}},
  });
}

function unknownTask(): never {
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'There is no task with this taskId, or its time to live is over. Call the tool again.',
  );
}

function isObject(value: unknown): value is {readonly [key: string]: unknown} {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Asked more often, it tells nothing new; asked less often, a client learns of the end late. */
const POLL_INTERVAL_MS = 1000;
/** At a time. Where there are more, calls are answered as without tasks. */
const MOST_TASKS = 1000;

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The error of a JSON-RPC answer. */
interface TaskError {
  readonly code: number;
  readonly message: string;
}

/** SEP-2663: a task as `tools/call` hands it out. */
type Task = {
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
type DetailedTask = Task & {
  readonly result?: CallToolResult;
  readonly error?: TaskError;
  readonly inputRequests?: InputRequests;
};

interface TaskContext {
  /** Fires when the task is cancelled. */
  readonly signal: AbortSignal;
  /** Parks the task until its client has answered all of them through `tasks/update`. */
  readonly ask: (requests: InputRequests) => Promise<InputResponses>;
}

interface TaskPlan {
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

/** Of one look; the next one follows at once. */
const LOOK_SEC = 600;
/** Its result can be asked for that long after the longest life that the command may have. */
const KEPT_MS = 3_600_000;

interface RunsOn {
  readonly step: number;
  readonly max_life_sec: number;
}

interface TaskDeps {
  readonly host: ToolHost;
  readonly present: (result: ToolResult, text: string) => CallToolResult;
}

/** W21: a command that was started in the background, as a task; `undefined` for every other result. */
export function backgroundTask(started: ToolResult, deps: TaskDeps): TaskPlan | undefined {
  const runsOn = runsOnOf(started.data);
  if (started.tool !== 'run' || runsOn === undefined) return undefined;
  return {
    ttlMs: runsOn.max_life_sec * 1000 + KEPT_MS,
    statusMessage: deps.host.renderText(started),
    work: context => untilEnded(started, runsOn.step, context, deps),
  };
}

/** The result is that of `run`, with what was not known when it began. */
async function untilEnded(
  started: ToolResult,
  step: number,
  {signal}: TaskContext,
  {host, present}: TaskDeps,
): Promise<CallToolResult> {
  const call = (tool: string, params: {[name: string]: Json}) =>
    host.call(
      {tool, params, request_id: `${started.request_id}-${tool}`},
      tool === 'stop_run' ? {} : {signal},
    );
  for (;;) {
    const waited = await call('wait_for', {step, timeout_sec: LOOK_SEC});
    if (signal.aborted) {
      const stopped = await call('stop_run', {step});
      return present(stopped, host.renderText(stopped));
    }
    const {data, error} = waited;
    if (error !== null) return present({...waited, tool: started.tool}, host.renderText(waited));
    if (fieldOf(data, 'outcome') !== 'time_out') {
      return present(endedResult(started, waited), host.renderText(waited));
    }
  }
}

function endedResult(started: ToolResult, waited: ToolResult): ToolResult {
  const state = fieldOf(waited.data, 'background') ?? null;
  const exitCode = fieldOf(state, 'exit_code');
  const duration = fieldOf(state, 'duration_sec');
  const lastWords = fieldOf(waited.data, 'last_words');
  return {
    ...started,
    ended_at: waited.ended_at,
    duration_sec: typeof duration === 'number' ? duration : started.duration_sec,
    exit_code: typeof exitCode === 'number' ? exitCode : null,
    data: {
      ...(started.data as {[name: string]: Json}),
      exit_code: typeof exitCode === 'number' ? exitCode : null,
      duration_sec: typeof duration === 'number' ? duration : 0,
      stdout: typeof lastWords === 'string' ? lastWords : '',
      left_running: fieldOf(state, 'left_running') ?? [],
      ended: fieldOf(state, 'ended') ?? null,
    },
  };
}

function runsOnOf(data: Json): RunsOn | undefined {
  const runsOn = fieldOf(data, 'background') ?? null;
  const step = fieldOf(runsOn, 'step');
  const life = fieldOf(runsOn, 'max_life_sec');
  return typeof step === 'number' && typeof life === 'number' ? {step, max_life_sec: life} : undefined;
}

function fieldOf(value: Json, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as {readonly [name: string]: Json})[name]
    : undefined;
}
