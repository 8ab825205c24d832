import type {Clock} from '../../../core/clock.ts';
import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';
import {takeStart} from '../../../core/text/take-start.ts';
import type {ArtifactStore} from '../../../core/tool.ts';
import {cleanLine} from '../../../sandbox/clean-line.ts';
import {type Stream, wholePath} from '../kept-output.ts';
import type {BackgroundCommand} from './background-command.ts';
import {LineFinder} from './line-finder.ts';

/** Between two looks at the ports: what listens does so for long. */
const PORT_PAUSE_MS = 200;
const LONGEST_LINE = 500;
const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

export interface Aim {
  readonly text: string | undefined;
  readonly port: number | undefined;
  readonly timeoutMs: number;
}

export interface Waited {
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
