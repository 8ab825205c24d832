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
import {ARTIFACTS, artifactPath, MAX_KEPT_BYTES, type Stream, stepsOf, wholePath} from './kept-output.ts';
import {type OutputData, outputData} from './output-data.ts';
import {type OutputSource, outputRange} from './output-range.ts';
import {renderOutput} from './render-output.ts';
import {searchOutput} from './search-output.ts';

export const READ_OUTPUT = 'read_output';

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
    .describe('Show matching lines only, in any case.'),
  is_regex: z.boolean().optional(),
  context_lines: z.int().min(0).max(10).optional(),
  start_line: z.int().optional(),
  end_line: z.int().optional(),
});

/** W18: what a command wrote, to be asked again: ruling W9 keeps its head and tail, and a second run is dear. */
export function readOutputTool({clock, ripgrep}: Pick<WorkspaceSession, 'clock' | 'ripgrep'>): Tool {
  return defineTool<z.output<typeof params>, OutputData>({
    name: READ_OUTPUT,
    title: 'Read output',
    description: 'Reads or searches the whole output of an earlier run, by line numbers.',
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
      const found = await openOutput(request, context);
      if (!found.ok) return found;
      const {step, source} = found.value;
      const {stream, query, is_regex: isRegex = false, context_lines: contextLines = 0} = request;
      const {start_line: start = 1, end_line: end = Number.MAX_SAFE_INTEGER} = request;
      const maxBytes = Math.max(1, Math.min(PAGE_BYTES, outputLimit(context) - FRAME_BYTES));
      try {
        return await limitCall(
          {tool: READ_OUTPUT, timeoutMs: TIMEOUT_MS, clock, signal: context.signal},
          async (deadline): Promise<Result<OutputData>> => {
            const range = {start, end, maxBytes, deadline};
            const read =
              query === undefined
                ? await outputRange(source, range)
                : await searchOutput(source, {...range, text: query, isRegex, contextLines}, ripgrep);
            return read.ok ? ok({step, stream, ...read.value}) : read;
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
}

async function openOutput(
  {step: asked, stream}: {readonly step?: number | undefined; readonly stream: Stream},
  {artifacts}: ToolContext,
): Promise<Result<FoundOutput>> {
  const listed = await artifacts.list(ARTIFACTS);
  if (!listed.ok) return listed;
  const steps = stepsOf(listed.value);
  const step = asked ?? steps.at(-1);
  if (step === undefined || !steps.includes(step)) return noSuchRun(asked, steps);
  const whole = await artifacts.open(wholePath(step, stream));
  if (!whole.ok) return whole;
  if (whole.value?.bytes === 0) {
    await whole.value.close();
    return noLongerKept(step, stream);
  }
  if (whole.value !== undefined) {
    const isCut = whole.value.bytes > MAX_KEPT_BYTES;
    return ok({step, source: {file: upTo(whole.value, MAX_KEPT_BYTES), isCut, mayBeMarked: false}});
  }
  const artifact = await artifacts.open(artifactPath(step, stream));
  if (!artifact.ok) return artifact;
  if (artifact.value === undefined) return noSuchRun(step, steps);
  return ok({step, source: {file: artifact.value, isCut: false, mayBeMarked: true}});
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
