// The tool stop_run: ends a background command.
import {z} from 'zod';
import {ok} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import {readingIntent, schemaOf} from '../define-tool.ts';
import {
  type BackgroundCommands,
  backgroundState,
  describeRemains,
  describeState,
  nameCommand,
  stateOfCommand,
} from './background.ts';

export const STOP_RUN = 'stop_run';

/** More than it takes to kill everything, and to see that it is gone. */
const TIMEOUT_MS = 30_000;

const params = z.strictObject({
  step: z.int().optional().describe('Default: the one that runs.'),
});

const stopData = z.object({
  step: z.int(),
  was_running: z.boolean(),
  background: backgroundState,
  last_words: z.string().exactOptional(),
});

/** Ruling W21: ends a command in the background. It only takes back what was allowed before, so nobody is asked. */
export function stopRunTool(background: BackgroundCommands): Tool {
  return defineTool<z.output<typeof params>, z.output<typeof stopData>>({
    name: STOP_RUN,
    title: 'Stop a command',
    description: 'Ends a background run and all it started.',
    annotations: {readOnly: false, destructive: true, idempotent: true, openWorld: false},
    params: schemaOf(params as z.ZodType<z.output<typeof params>>),
    data: schemaOf(stopData),
    badParams: 'invalid_params',
    action: undefined,
    timeoutMs: () => TIMEOUT_MS,
    intend: async ({step}) => readingIntent('.', `${STOP_RUN}${step === undefined ? '' : ` step ${step}`}`),
    execute: async ({step}, {isOwnStep}) => {
      const found = nameCommand(step, background, isOwnStep);
      if (!found.ok) return found;
      const command = found.value;
      const was_running = command.end === undefined;
      const {lastWords} = await command.stop();
      return ok({
        step: command.step,
        was_running,
        background: stateOfCommand(command),
        ...(lastWords !== '' && {last_words: lastWords}),
      });
    },
    renderText: ({step, was_running, background: state, last_words}) =>
      [
        `Step ${step} ${was_running ? '' : 'had ended before: it '}${describeState(state)}.`,
        ...describeRemains(state),
        ...(last_words === undefined ? [] : [`End of its output:\n${last_words}`]),
      ].join('\n'),
  });
}
