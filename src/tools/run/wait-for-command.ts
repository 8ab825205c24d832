// The tool wait_for: waits until a background command prints a text, listens on a port, or ends.
import {z} from 'zod';
import type {Clock} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/cut.ts';
import {type ArtifactStore, defineTool, type Tool} from '../../core/tool.ts';
import {cleanLine} from '../../sandbox/preview-output.ts';
import {READING, readingIntent, schemaOf} from '../define-tool.ts';
import {
  type BackgroundCommands,
  backgroundState,
  describeRemains,
  describeState,
  nameCommand,
  stateOfCommand,
} from './background.ts';
import {type BackgroundCommand, LineFinder} from './background-command.ts';
import {type Stream, wholePath} from './output-keeper.ts';

/** Between two looks at the ports: what listens does so for long. */
const PORT_PAUSE_MS = 200;
const LONGEST_LINE = 500;
const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

interface Aim {
  readonly text: string | undefined;
  readonly port: number | undefined;
  readonly timeoutMs: number;
}

interface Waited {
  readonly outcome: 'text' | 'port' | 'ended' | 'time_out';
  readonly stream?: Stream;
  readonly line?: string;
}

interface WaitDeps {
  readonly artifacts: ArtifactStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Until the aim is reached, the command has ended, or time is up: whichever comes first. */
export async function waitForCommand(
  command: BackgroundCommand,
  {text, port, timeoutMs}: Aim,
  {artifacts, clock, signal}: WaitDeps,
): Promise<Result<Waited>> {
  const over = new AbortController();
  let finish: (waited: Result<Waited>) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const answer = new Promise<Result<Waited>>((resolve, fails) => {
    finish = resolve;
    reject = fails;
  });
  const onAbort = (): void => finish(fail('cancelled', 'The call of wait_for was cancelled.'));
  const cancelTimer = clock.after(timeoutMs, () => finish(ok({outcome: 'time_out'})));
  signal.addEventListener('abort', onAbort, {once: true});
  if (signal.aborted) onAbort();
  const search =
    text === undefined ? undefined : findText(command, text, {artifacts, finish, over: over.signal});
  if (port !== undefined) findPort(command, port, {clock, finish, over: over.signal}).catch(reject);
  // What it wrote last is looked through before its end is the answer.
  Promise.all([command.whenEnded, search])
    .then(() => finish(ok({outcome: 'ended'})))
    .catch(reject);
  try {
    return await answer;
  } finally {
    over.abort();
    cancelTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

interface Search {
  readonly finish: (waited: Result<Waited>) => void;
  readonly over: AbortSignal;
}

/** Looks through what it wrote before, and from then on at what it writes. */
async function findText(
  command: BackgroundCommand,
  text: string,
  {artifacts, finish, over}: Search & {readonly artifacts: ArtifactStore},
): Promise<void> {
  const finders = {stdout: new LineFinder(text), stderr: new LineFinder(text)};
  const look = (stream: Stream, bytes: Uint8Array): void => {
    const line = finders[stream].find(bytes);
    if (line !== undefined) {
      finish(ok({outcome: 'text', stream, line: takeStart(cleanLine(line), LONGEST_LINE)}));
    }
  };
  const later: (readonly [Stream, Uint8Array])[] = [];
  let hear = (stream: Stream, bytes: Uint8Array): void => void later.push([stream, Uint8Array.from(bytes)]);
  // From here on nothing is missed; what lies before is on the disk.
  const before = {stdout: command.bytesOf('stdout'), stderr: command.bytesOf('stderr')};
  over.addEventListener(
    'abort',
    command.listen((stream, bytes) => hear(stream, bytes)),
    {once: true},
  );
  for (const stream of STREAMS) {
    const read = await readUpTo(before[stream], wholePath(command.step, stream), artifacts, bytes =>
      look(stream, bytes),
    );
    if (!read.ok) finish(read);
  }
  for (const [stream, bytes] of later) look(stream, bytes);
  hear = look;
}

async function readUpTo(
  bytes: number,
  path: string,
  artifacts: ArtifactStore,
  look: (bytes: Uint8Array) => void,
): Promise<Result<undefined>> {
  if (bytes === 0) return ok();
  const opened = await artifacts.open(path);
  if (!opened.ok) return opened;
  if (opened.value === undefined) return ok();
  try {
    let left = bytes;
    for await (const block of opened.value.blocks()) {
      look(block.subarray(0, left));
      left -= block.length;
      if (left <= 0) break;
    }
    return ok();
  } finally {
    await opened.value.close();
  }
}

async function findPort(
  {started}: BackgroundCommand,
  port: number,
  {clock, finish, over}: Search & {readonly clock: Clock},
): Promise<void> {
  while (!over.aborted) {
    const ports = await started?.listeningPorts();
    if (ports === undefined && !over.aborted) {
      const reason = 'the ports of a command cannot be seen here';
      finish(
        fail('invalid_params', `"port" cannot be waited for: ${reason}. Wait for a text.`, {
          field: 'port',
          reason,
        }),
      );
      return;
    }
    if (ports?.includes(port)) return finish(ok({outcome: 'port'}));
    await pause(PORT_PAUSE_MS, clock, over);
  }
}

/** Or until it is over. */
function pause(ms: number, clock: Clock, over: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      cancel();
      over.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    over.addEventListener('abort', end, {once: true});
  });
}

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
    ...READING,
    params: schemaOf(params as z.ZodType<WaitParams>),
    data: schemaOf(waitData),
    // The wait answers first.
    timeoutMs: ({timeout_sec}) => timeout_sec * 1000 + 2000,
    intend: async request => readingIntent('.', `${WAIT_FOR} ${describeAim(request)}`),
    execute: async ({step, text, port, timeout_sec}, {artifacts, signal, isOwnStep}) => {
      const found = nameCommand(step, background, isOwnStep);
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
