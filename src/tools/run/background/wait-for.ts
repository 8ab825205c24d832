import {z} from 'zod';
import type {Clock} from '../../../core/clock.ts';
import {ok} from '../../../core/result.ts';
import {defineTool, type Tool} from '../../../core/tool.ts';
import {READING} from '../../annotations.ts';
import {readingIntent} from '../../files/reading-intent.ts';
import {OUTER_MS} from '../../outer-bound.ts';
import {schemaOf} from '../../schema.ts';
import type {BackgroundCommands} from './background-commands.ts';
import {backgroundState, describeRemains, describeState, stateOfCommand} from './background-data.ts';
import {nameCommand} from './name-command.ts';
import {waitForCommand} from './wait-for-command.ts';

export const WAIT_FOR = 'wait_for';

const DEFAULT_SEC = 60;

const params = z
  .strictObject({
    step: z.int().optional().describe('Default: the one that runs.'),
    text: z
      .string()
      .min(1)
      .max(1000)
      .regex(/^[^\r\n]*$/, 'must be within one line')
      .optional(),
    port: z.int().min(1).max(65_535).optional(),
    timeout_sec: z.int().min(1).max(600).default(DEFAULT_SEC),
  })
  .refine(({text, port}) => text === undefined || port === undefined, {
    path: ['port'],
    message: 'cannot be waited for together with text; give one of them',
  });

const waitData = z.object({
  step: z.int(),
  outcome: z.enum(['text', 'port', 'ended', 'time_out']),
  stream: z.enum(['stdout', 'stderr']).exactOptional(),
  line: z.string().exactOptional(),
  waited_sec: z.number(),
  background: backgroundState,
  last_words: z.string().exactOptional(),
});

type WaitData = z.output<typeof waitData>;
type WaitParams = z.output<typeof params>;

/** Ruling W21: waits until a command in the background has come so far. */
export function waitForTool(background: BackgroundCommands, clock: Clock): Tool {
  return defineTool<WaitParams, WaitData>({
    name: WAIT_FOR,
    title: 'Wait for a command',
    description: 'Waits until a background run prints text, listens on port (its own network), or ends.',
    annotations: READING,
    params: schemaOf(params as z.ZodType<WaitParams>),
    data: schemaOf(waitData),
    badParams: 'invalid_params',
    action: undefined,
    timeoutMs: ({timeout_sec}) => timeout_sec * 1000 + OUTER_MS,
    intend: async request => readingIntent('.', `${WAIT_FOR} ${describeAim(request)}`),
    execute: async ({step, text, port, timeout_sec}, {artifacts, signal}) => {
      const found = nameCommand(step, background);
      if (!found.ok) return found;
      const command = found.value;
      const startedAt = clock.monotonic();
      const aim = {text, port, timeoutMs: timeout_sec * 1000};
      const waited = await waitForCommand(command, aim, {artifacts, clock, signal});
      if (!waited.ok) return waited;
      const lastWords = command.end?.lastWords ?? '';
      return ok({
        step: command.step,
        ...waited.value,
        waited_sec: Math.round(clock.monotonic() - startedAt) / 1000,
        background: stateOfCommand(command),
        ...(waited.value.outcome === 'ended' && lastWords !== '' && {last_words: lastWords}),
      });
    },
    renderText: renderWait,
  });
}

function describeAim({step, text, port}: WaitParams): string {
  const what = text !== undefined ? JSON.stringify(text) : port !== undefined ? `port ${port}` : 'the end';
  return `${what} of ${step === undefined ? 'the last run in the background' : `step ${step}`}`;
}

function renderWait({step, outcome, stream, line, background, last_words, waited_sec}: WaitData): string {
  const state = describeState(background);
  switch (outcome) {
    case 'text':
      return `Step ${step} (${state}) has printed, to ${stream}: ${line}`;
    case 'port':
      return `Step ${step} (${state}) listens on the port, which only what runs inside of it can reach.`;
    case 'time_out':
      return `Not yet, after ${Math.round(waited_sec)} s: step ${step} is still ${state}. Look with read_output step=${step}, wait again, or end it with stop_run.`;
    case 'ended':
      return [
        `Step ${step} ${state}.`,
        ...describeRemains(background),
        ...(last_words === undefined
          ? []
          : [`End of its output (read_output step=${step} has all):\n${last_words}`]),
      ].join('\n');
  }
}
