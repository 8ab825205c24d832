// The background commands of a session. They end with it.
import {z} from 'zod';
import type {Clock} from '../../core/clock.ts';
import {fail, internalFailure, ok, type Result} from '../../core/result.ts';
import {takeEnd} from '../../core/text/cut.ts';
import type {ToolContext} from '../../core/tool.ts';
import type {RunOptions} from '../../sandbox/options.ts';
import type {RunOutcome, Sandbox, SandboxCommand, StartedCommand} from '../../sandbox/sandbox.ts';
import {BackgroundCommand, commandEnd, type EndedCommand} from './background-command.ts';
import {EgressLog} from './egress-log.ts';
import {OutputKeeper} from './output-keeper.ts';
import {describeRepositories, sayRepositories} from './run-data.ts';

const MIB = 1_048_576;
const LAST_WORDS_CHARS = 1500;
/** Of commands that have ended, whose output is asked about as that of any other afterwards. */
const MOST_ENDED = 100;

interface BackgroundPlan {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** Below the workspace; its root where there is none. */
  readonly directory: string | undefined;
  readonly lifeMs: number;
}

/** W21: the commands of a session that outlive their calls. They end with it. */
export class BackgroundCommands {
  readonly #sandbox: Sandbox;
  readonly #limits: RunOptions['background'];
  readonly #keptBytes: number;
  readonly #clock: Clock;
  readonly #commands = new Map<number, BackgroundCommand>();
  #closed = false;

  constructor(sandbox: Sandbox, options: Pick<RunOptions, 'background' | 'kept_output_mb'>, clock: Clock) {
    this.#sandbox = sandbox;
    this.#limits = options.background;
    this.#keptBytes = options.kept_output_mb * MIB;
    this.#clock = clock;
  }

  get running(): readonly BackgroundCommand[] {
    return this.all.filter(({end}) => end === undefined);
  }

  find(step: number): BackgroundCommand | undefined {
    return this.#commands.get(step);
  }

  /** Those that have ended included, in the order in which they began. */
  get all(): readonly BackgroundCommand[] {
    return [...this.#commands.values()];
  }

  /** Answers when the command is under way. A failure means that nothing was run. */
  async start(plan: BackgroundPlan, context: ToolContext): Promise<Result<BackgroundCommand>> {
    const refused = this.#refusal();
    if (refused !== undefined) return refused;
    const command = new BackgroundCommand({step: context.step, command: plan.command, clock: this.#clock});
    this.#commands.set(command.step, command);
    const stop = (): void => void command.stop();
    context.signal.addEventListener('abort', stop, {once: true});
    context.sessionSignal.addEventListener('abort', stop, {once: true});
    if (context.signal.aborted || context.sessionSignal.aborted) stop();
    let onStart = (): void => {};
    const begun = new Promise<'begun'>(resolve => {
      onStart = () => resolve('begun');
    });
    const keeper = new OutputKeeper(context, this.#keptBytes, command);
    const hasBegun = (started: StartedCommand): void => {
      // A sandbox that was gone is replaced, and the command handed over again.
      if (command.started === undefined) {
        void context.emit('background_started', {
          sandbox: started.sandbox,
          max_life_sec: plan.lifeMs / 1000,
        });
      }
      command.started = started;
      onStart();
    };
    const ended = this.#run(
      plan,
      command,
      {spill: keeper.spill, egress: new EgressLog(context)},
      hasBegun,
    ).then(async ran => {
      await finish(command, ran, keeper, context);
      context.sessionSignal.removeEventListener('abort', stop);
      this.#forgetOldest();
      return ran;
    });
    const first = await Promise.race([begun, ended]);
    context.signal.removeEventListener('abort', stop);
    if (first === 'begun') return ok(command);
    // It may have been over before anybody looked; only one that never began is no command.
    if (first.ok && command.started !== undefined) return ok(command);
    this.#commands.delete(command.step);
    return first.ok ? fail('cancelled', 'The command was not started, as its call was cancelled.') : first;
  }

  /** Ends all of them, and waits until each has its end in the log. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.running.map(command => command.stop()));
  }

  #run(
    {command, env, directory, lifeMs}: BackgroundPlan,
    background: BackgroundCommand,
    parts: Pick<SandboxCommand, 'spill' | 'egress'>,
    onStart: (started: StartedCommand) => void,
  ): Promise<Result<RunOutcome>> {
    const {signal} = background;
    return this.#sandbox
      .run({command, env, directory, ...parts, timeoutMs: lifeMs, signal, onStart})
      .catch(internalFailure);
  }

  #refusal(): Result<never> | undefined {
    const {max_commands: most} = this.#limits;
    const {running} = this;
    if (this.#closed) return fail('cancelled', 'The session ends. Nothing more is started.');
    if (running.length < most) return undefined;
    const reason =
      most === 0
        ? 'Commands in the background are switched off (tools.run.background.max_commands = 0). Run it without background.'
        : `${running.length} ${running.length === 1 ? 'command runs' : 'commands run'} in the background (step ${running.map(({step}) => step).join(', ')}), and no more may (tools.run.background.max_commands). End one with stop_run, or run it without background.`;
    return fail('invalid_params', reason, {field: 'background', reason});
  }

  #forgetOldest(): void {
    const ended = this.all.filter(({end}) => end !== undefined);
    for (const {step} of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#commands.delete(step);
  }
}

/** Ruling W21: its end is an event, and what it wrote is kept as that of every command. */
async function finish(
  command: BackgroundCommand,
  ran: Result<RunOutcome>,
  keeper: OutputKeeper,
  context: ToolContext,
): Promise<void> {
  const end = commandEnd(ran);
  const durationMs = ran.ok ? ran.value.durationMs : command.runningMs;
  keeper.close();
  let lastWords = '';
  if (ran.ok && command.started !== undefined) {
    const saved = await keeper.save(ran.value);
    if (saved.ok) lastWords = lastWordsOf(saved.value.stdout.text, saved.value.stderr.text, end.exitCode);
    else context.log({level: 'warn', event: 'output_not_kept', message: saved.error.message});
  }
  const all: EndedCommand = {
    ...end,
    durationMs,
    lastWords,
    leftRunning: ran.ok ? ran.value.leftRunning : [],
    repositories: ran.ok ? ran.value.repositories.paths : [],
    gitSettings: ran.ok ? ran.value.gitSettings.paths : [],
  };
  if (command.started !== undefined) {
    await context.emit('background_ended', {
      ended: end.ended,
      exit_code: end.exitCode ?? null,
      signal: end.signal ?? null,
      duration_sec: Math.round(durationMs) / 1000,
      sandbox: ran.ok ? ran.value.sandbox : null,
      stdout_bytes: ran.ok ? ran.value.stdout.totalBytes : null,
      stderr_bytes: ran.ok ? ran.value.stderr.totalBytes : null,
    });
    if (ran.ok) await sayRepositories(ran.value, context);
  }
  command.finish(all);
}

/** Where it failed, what it said of that. */
function lastWordsOf(stdout: string, stderr: string, exitCode: number | undefined): string {
  const text = exitCode !== 0 && stderr.trim() !== '' ? stderr : stdout;
  return takeEnd(text.trimEnd(), LAST_WORDS_CHARS);
}

/** A command in the background, as the answers of `read_output`, `wait_for` and `stop_run` have it. */
export const backgroundState = z.object({
  running: z.boolean(),
  duration_sec: z.number(),
  ended: z.enum(['exited', 'killed', 'out_of_memory', 'out_of_time', 'stopped', 'failed']).exactOptional(),
  exit_code: z.int().exactOptional(),
  signal: z.string().exactOptional(),
  error: z.string().exactOptional(),
  left_running: z.array(z.string()).readonly().exactOptional(),
  repositories: z.array(z.string()).readonly().exactOptional(),
  git_settings: z.array(z.string()).readonly().exactOptional(),
});

type BackgroundState = z.output<typeof backgroundState>;

export function stateOfCommand({end, runningMs}: BackgroundCommand): BackgroundState {
  if (end === undefined) return {running: true, duration_sec: seconds(runningMs)};
  return {
    running: false,
    duration_sec: seconds(end.durationMs),
    ended: end.ended,
    ...(end.exitCode !== undefined && {exit_code: end.exitCode}),
    ...(end.signal !== undefined && {signal: end.signal}),
    ...(end.failure !== undefined && {error: end.failure.message}),
    ...(end.leftRunning.length > 0 && {left_running: end.leftRunning}),
    ...(end.repositories.length > 0 && {repositories: end.repositories}),
    ...(end.gitSettings.length > 0 && {git_settings: end.gitSettings}),
  };
}

/** `running for 3 s`, `ended with exit code 1 after 3 s` */
export function describeState({
  running,
  duration_sec,
  ended,
  exit_code,
  signal,
  error,
}: BackgroundState): string {
  const time = `${Math.round(duration_sec * 10) / 10} s`;
  if (running) return `running for ${time}`;
  switch (ended) {
    case 'exited':
      return `ended with exit code ${exit_code} after ${time}`;
    case 'out_of_memory':
      return `ran out of memory after ${time} (tools.run.memory_mb)`;
    case 'out_of_time':
      return `was ended after ${time}, as long as it may run`;
    case 'stopped':
      return `was stopped after ${time}`;
    case 'failed':
      // It goes on in a sentence of ours.
      return `failed after ${time}: ${error?.replace(/\.$/, '')}`;
    default:
      return `was killed by ${signal} after ${time}`;
  }
}

/** What is to be known when it has ended, beside how. */
export function describeRemains({left_running = [], ...state}: BackgroundState): readonly string[] {
  return [
    ...describeRepositories(state),
    ...(left_running.length > 0 ? [`killed at its end: ${left_running.join(', ')}`] : []),
  ];
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** A client that the protocol lets nobody recognize has none either: it has to name what it means. */
const NO_OWN_COMMAND =
  'No command in the background is known to be yours. Name it with step, as the answer of its run says.';

/** The command that a step names, or the one of the same client that is meant where none is named. */
export function nameCommand(
  step: number | undefined,
  background: BackgroundCommands,
  isOwnStep: ToolContext['isOwnStep'],
): Result<BackgroundCommand> {
  const running = background.running.filter(command => isOwnStep(command.step));
  const steps = running.map(command => command.step).join(', ');
  const found =
    step !== undefined
      ? background.find(step)
      : running.length > 1
        ? undefined
        : (running[0] ?? background.all.findLast(command => isOwnStep(command.step)));
  if (found !== undefined) return ok(found);
  const which = running.length === 0 ? 'None runs now.' : `Those that run are ${steps}.`;
  const reason =
    step === undefined
      ? running.length > 1
        ? `Several commands run in the background: name one with step. ${which}`
        : background.all.length === 0
          ? 'No command was started in the background.'
          : NO_OWN_COMMAND
      : `Step ${step} is no command in the background of this session. ${which}`;
  return fail('invalid_params', reason, {field: 'step', reason});
}
