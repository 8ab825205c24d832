import type {CallToolResult} from '@modelcontextprotocol/server';
import type {Json} from '../../core/json.ts';
import type {ToolResult} from '../../core/tool.ts';
import type {ToolHost} from '../../core/tool-host.ts';
import type {TaskContext, TaskPlan} from './task-store.ts';

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
