import {z} from 'zod';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {defineTool, type OpenArtifact, type Tool, type ToolContext} from '../../core/tool.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import {READING} from '../annotations.ts';
import {readingIntent} from '../files/reading-intent.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';
import {OUTER_MS} from '../outer-bound.ts';
import {outputLimit} from '../output-limit.ts';
import {schemaOf} from '../schema.ts';
import type {BackgroundCommand} from './background/background-command.ts';
import type {BackgroundCommands} from './background/background-commands.ts';
import {stateOfCommand} from './background/background-data.ts';
import {followOutput} from './background/follow-output.ts';
import {
  ARTIFACTS,
  artifactPath,
  MAX_KEPT_BYTES,
  READ_OUTPUT,
  type Stream,
  stepsOf,
  WHOLES,
  wholePath,
} from './kept-output.ts';
import {type OutputData, outputData} from './output-data.ts';
import {type OutputSource, outputRange} from './output-range.ts';
import {renderOutput} from './render-output.ts';
import {searchOutput} from './search-output.ts';

const TIMEOUT_MS = 20_000;
/** The answer without its lines. */
const FRAME_BYTES = 400;
/** Of lines in one answer: hosts cut or refuse longer texts. */
const PAGE_BYTES = 32_000;
const MOST_NAMED = 20;

const params = z.strictObject({
  step: z.int().optional().describe('Which run; the last by default.'),
  stream: z.enum(['stdout', 'stderr']).default('stdout'),
  query: z
    .string()
    .min(1)
    .refine(query => query.length <= 10_000, 'must have at most 10,000 characters')
    .refine(query => !/[\0\r\n]/.test(query), 'must be a single line, as lines are searched one by one')
    .optional()
    .describe('Matching lines only, in any case.'),
  is_regex: z.boolean().optional(),
  context_lines: z.int().min(0).max(10).optional(),
  start_line: z.int().optional(),
  end_line: z.int().optional(),
});

/** W18: what a command wrote, to be asked again: ruling W9 keeps its head and tail, and a second run is dear. */
export function readOutputTool(
  {clock, ripgrep}: Pick<WorkspaceSession, 'clock' | 'ripgrep'>,
  background?: BackgroundCommands,
): Tool {
  return defineTool<z.output<typeof params>, OutputData>({
    name: READ_OUTPUT,
    title: 'Read output',
    description: 'Reads or searches the whole output of a run; of one in the background, what is new.',
    annotations: READING,
    params: schemaOf(params as z.ZodType<z.output<typeof params>>),
    data: schemaOf(outputData),
    badParams: 'invalid_params',
    action: undefined,
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    intend: async ({step, stream, query}) =>
      readingIntent(
        '.',
        `${READ_OUTPUT} ${stream} of ${step === undefined ? 'the last run' : `step ${step}`}${query === undefined ? '' : ` for ${JSON.stringify(query)}`}`,
      ),
    execute: async (request, context) => {
      const found = await openOutput(request, context, background);
      if (!found.ok) return found;
      const {step, source, command} = found.value;
      const {stream, query, is_regex: isRegex = false, context_lines: contextLines = 0} = request;
      const follow = command && query === undefined ? followOutput(command, stream, source) : undefined;
      const {start_line: start = follow?.start ?? 1, end_line: end = Number.MAX_SAFE_INTEGER} = request;
      const maxBytes = Math.max(1, Math.min(PAGE_BYTES, outputLimit(context) - FRAME_BYTES));
      try {
        return await limitCall(
          {tool: READ_OUTPUT, timeoutMs: TIMEOUT_MS, clock, signal: context.signal},
          async (deadline): Promise<Result<OutputData>> => {
            const range = {start, end, maxBytes, deadline};
            const read =
              query !== undefined
                ? await searchOutput(source, {...range, text: query, isRegex, contextLines}, ripgrep)
                : request.start_line === undefined && follow?.nothingNew !== undefined
                  ? follow.nothingNew
                  : await outputRange(follow?.source ?? source, range);
            if (!read.ok) return read;
            follow?.shown(read.value);
            return ok({step, stream, ...read.value, ...(command && stateIn(command, stream))});
          },
        );
      } finally {
        await source.file.close();
      }
    },
    renderText: renderOutput,
  });
}

interface FoundOutput {
  readonly step: number;
  readonly source: OutputSource;
  /** There if it was started in the background by this process. */
  readonly command: BackgroundCommand | undefined;
}

async function openOutput(
  {step: asked, stream}: {readonly step?: number | undefined; readonly stream: Stream},
  {artifacts}: ToolContext,
  background: BackgroundCommands | undefined,
): Promise<Result<FoundOutput>> {
  const listed = await artifacts.list(ARTIFACTS);
  if (!listed.ok) return listed;
  // W21: a command that runs, or whose host was killed, has no artifacts yet.
  const wholes = await artifacts.list(WHOLES);
  if (!wholes.ok) return wholes;
  const running = background?.running.map(({step}) => step) ?? [];
  const kept = stepsOf([...listed.value, ...wholes.value]);
  const steps = [...new Set([...kept, ...running])].sort((a, b) => a - b);
  const step = asked ?? steps.at(-1);
  if (step === undefined || !steps.includes(step)) return noSuchRun(asked, steps);
  const command = background?.find(step);
  const whole = await artifacts.open(wholePath(step, stream));
  if (!whole.ok) return whole;
  if (whole.value?.bytes === 0) {
    await whole.value.close();
    return noLongerKept(step, stream);
  }
  if (whole.value !== undefined) {
    const isCut = whole.value.bytes > MAX_KEPT_BYTES;
    return ok({step, command, source: {file: upTo(whole.value, MAX_KEPT_BYTES), isCut, mayBeMarked: false}});
  }
  // All that such a command writes is there, from its first byte on.
  const isBehind = command !== undefined || !stepsOf(listed.value).includes(step);
  if (isBehind) return ok({step, command, source: {file: NOTHING, isCut: false, mayBeMarked: false}});
  const artifact = await artifacts.open(artifactPath(step, stream));
  if (!artifact.ok) return artifact;
  if (artifact.value === undefined) return noSuchRun(step, steps);
  return ok({step, command, source: {file: artifact.value, isCut: false, mayBeMarked: true}});
}

const NOTHING: OpenArtifact = {bytes: 0, blocks: async function* () {}, close: async () => {}};

function stateIn(command: BackgroundCommand, stream: Stream) {
  const other = stream === 'stdout' ? 'stderr' : 'stdout';
  const unseen = command.linesOf(other) - command.shown[other];
  return {background: stateOfCommand(command), ...(unseen > 0 && {unseen})};
}

function upTo(file: OpenArtifact, maxBytes: number): OpenArtifact {
  return {
    ...file,
    blocks: async function* () {
      let left = maxBytes;
      for await (const block of file.blocks()) {
        yield block.subarray(0, left);
        left -= block.length;
        if (left <= 0) return;
      }
    },
  };
}

function noLongerKept(step: number, stream: Stream): Err<Failure> {
  const reason = `The ${stream} of step ${step} is no longer kept: outputs of later commands took its place (tools.run.kept_output_mb). Run the command again if you need more of it than its answer showed.`;
  return fail('invalid_params', reason, {field: 'step', reason});
}

function noSuchRun(step: number | undefined, steps: readonly number[]): Err<Failure> {
  const known =
    steps.length === 0 ? 'No command has run yet.' : `Runs are ${steps.slice(-MOST_NAMED).join(', ')}.`;
  const reason = step === undefined ? known : `Step ${step} is no run with an output. ${known}`;
  return fail('invalid_params', reason, {field: 'step', reason});
}
