// The tool read_output: shows lines of the output of an earlier command.
import {z} from 'zod';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {defineTool, type OpenArtifact, type Tool, type ToolContext} from '../../core/tool.ts';
import {outputLimit, READING, readingIntent, schemaOf} from '../define-tool.ts';
import type {WorkspaceSession} from '../files/session.ts';
import {type BackgroundCommands, stateOfCommand} from './background.ts';
import {type BackgroundCommand, followOutput} from './background-command.ts';
import {
  ARTIFACTS,
  artifactPath,
  MAX_KEPT_BYTES,
  type OutputSource,
  outputRange,
  READ_OUTPUT,
  type Stream,
  stepsOf,
  WHOLES,
  wholePath,
} from './output-keeper.ts';
import {type OutputData, outputData, renderOutput} from './render-run.ts';
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
  {ripgrep}: Pick<WorkspaceSession, 'ripgrep'>,
  background?: BackgroundCommands,
): Tool {
  return defineTool<z.output<typeof params>, OutputData>({
    name: READ_OUTPUT,
    title: 'Read output',
    description: 'Reads or searches the whole output of a run; of one in the background, what is new.',
    ...READING,
    params: schemaOf(params as z.ZodType<z.output<typeof params>>),
    data: schemaOf(outputData),
    timeoutMs: () => TIMEOUT_MS,
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
        const range = {start, end, maxBytes, deadline: context.deadline};
        const read =
          query !== undefined
            ? await searchOutput(source, {...range, text: query, isRegex, contextLines}, ripgrep)
            : request.start_line === undefined && follow?.nothingNew !== undefined
              ? follow.nothingNew
              : await outputRange(follow?.source ?? source, range);
        if (!read.ok) return read;
        follow?.shown(read.value);
        return ok({step, stream, ...read.value, ...(command && stateIn(command, stream))});
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
  {artifacts, isOwnStep}: ToolContext,
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
  const own = steps.filter(isOwnStep);
  const step = asked ?? own.at(-1);
  if (step === undefined && steps.length > 0) return noOwnRun();
  if (step === undefined || !steps.includes(step)) return noSuchRun(asked, own);
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
  if (artifact.value === undefined) return noSuchRun(step, own);
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

/** A client that the protocol lets nobody recognize has none either: it has to name what it means. */
function noOwnRun(): Err<Failure> {
  const reason = 'No run is known to be yours. Name it with step, as the answer of the run says.';
  return fail('invalid_params', reason, {field: 'step', reason});
}

function noSuchRun(step: number | undefined, steps: readonly number[]): Err<Failure> {
  const known =
    steps.length === 0 ? 'No command has run yet.' : `Runs are ${steps.slice(-MOST_NAMED).join(', ')}.`;
  const reason = step === undefined ? known : `Step ${step} is no run with an output. ${known}`;
  return fail('invalid_params', reason, {field: 'step', reason});
}
