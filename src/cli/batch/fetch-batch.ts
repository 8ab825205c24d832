import {open} from 'node:fs/promises';
import {resolve} from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {systemClock} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import type {WebFetchArgs} from '../../index.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import type {CommandContext} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {UsageError} from '../flags/usage-error.ts';
import {readSettings, type SettingFlags} from '../read-settings.ts';
import {renderFailure} from '../render/render-failure.ts';
import type {PageReader} from '../toolbox-services.ts';
import {type BatchSummary, BatchTally} from './batch-tally.ts';
import {FinishedUrls} from './finished-urls.ts';
import {Manifest} from './manifest.ts';
import type {PageFormat} from './page-file-name.ts';
import {PageFiles} from './page-files.ts';
import {PoliteQueue} from './polite-queue.ts';
import {ProgressLine} from './progress-line.ts';
import {readListedLines} from './read-listed-lines.ts';
import {renderSummary} from './render-summary.ts';
import {type BatchItem, runBatch} from './run-batch.ts';

export interface BatchRequest {
  /** A file, or `-` for standard input. */
  readonly from: string;
  readonly out: string;
  readonly format: PageFormat;
  readonly concurrency: number;
  readonly perHost: number;
  readonly delayMs: number;
  readonly args: Omit<WebFetchArgs, 'url'>;
  readonly settings: SettingFlags;
}

/** Addresses that are read ahead; the list itself may be of any length. */
const ROOM = 10_000;

/** `fetch --from LIST --out DIR`: opens what a batch needs, runs it, and says how it went. */
export async function fetchBatch(request: BatchRequest, context: CommandContext): Promise<ExitCode> {
  const {console, environment, signal} = context;
  const start = systemClock.monotonic();
  const tally = new BatchTally();
  const queue = new PoliteQueue<BatchItem>({...request, room: ROOM, clock: systemClock});
  const progress = console.interactive ? new ProgressLine(tally, queue, console, systemClock) : undefined;
  const {resolved, log} = await readSettings(request.settings, context);
  const input = await openList(request.from, context);
  const {openPageReader} = await context.services();
  const reader = openPageReader(resolved, {
    environment,
    log: event => {
      progress?.clear();
      log(event);
    },
  });
  let run: Result<undefined>;
  try {
    run = await withOutput(request, {input, reader, tally, progress, queue}, context);
  } finally {
    progress?.end();
    input.destroy();
    await reader.close();
  }
  if (!run.ok) console.err(renderFailure(run.error, undefined, console));
  const summary = tally.summary(systemClock.monotonic() - start);
  await console.out(
    console.interactive
      ? renderSummary(summary, {out: request.out, interrupted: signal.aborted}, console)
      : `${JSON.stringify({summary})}\n`,
  );
  if (signal.aborted) return EXIT.interrupted;
  return run.ok && isComplete(summary) ? EXIT.ok : EXIT.failed;
}

interface Opened {
  readonly input: Readable;
  readonly reader: PageReader;
  readonly tally: BatchTally;
  readonly progress: ProgressLine | undefined;
  readonly queue: PoliteQueue<BatchItem>;
}

async function withOutput(
  request: BatchRequest,
  {input, reader, tally, progress, queue}: Opened,
  {console, environment, signal, services}: CommandContext,
): Promise<Result<undefined>> {
  const out = resolve(environment.cwd, request.out);
  const {parseListedUrl: parse} = await services();
  const files = await PageFiles.open(out, systemClock);
  if (!files.ok) return files;
  const manifest = await Manifest.open(out);
  if (!manifest.ok) return manifest;
  try {
    const finished = new FinishedUrls(parse, request.format);
    for await (const entry of manifest.value.finished()) finished.note(entry);
    progress?.update();
    return await runBatch({
      ...request,
      lines: ended => readListedLines(addAbortSignal(ended, input)),
      parse,
      read: (url, ended) => reader.read({...request.args, url}, ended),
      finished,
      files: files.value,
      manifest: manifest.value,
      tally,
      report: async record => {
        progress?.update();
        if (!console.interactive) await console.out(`${JSON.stringify(record)}\n`);
      },
      queue,
      clock: systemClock,
      signal,
    });
  } finally {
    await manifest.value.close();
    await files.value.close();
  }
}

function isComplete({failed, left, list_read}: BatchSummary): boolean {
  return failed === 0 && left === 0 && list_read;
}

async function openList(from: string, {console, environment}: CommandContext): Promise<Readable> {
  if (from === '-') return console.input;
  const path = resolve(environment.cwd, from);
  const advice = 'Name a file with an address a line, or - for standard input.';
  try {
    const file = await open(path, 'r');
    // A directory can be opened, and fails only when it is read.
    if (!(await file.stat()).isDirectory()) return file.createReadStream();
    await file.close();
  } catch (error) {
    throw new UsageError(`--from ${path} cannot be read: ${expectedErrorCode(error)}. ${advice}`);
  }
  throw new UsageError(`--from ${path} is a directory. ${advice}`);
}
