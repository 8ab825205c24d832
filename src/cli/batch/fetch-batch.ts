// Fetches the addresses of a list into a directory (`fetch --from`). It reads ahead in the list, waits for hosts
// that ask for a pause and keeps a manifest.
import {resolve} from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {systemClock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import type {WebFetchArgs} from '../../index.ts';
import {type CommandContext, EXIT, type ExitCode} from '../command.ts';
import {renderFailure} from '../print-result.ts';
import {readSettings, type SettingFlags} from '../read-settings.ts';
import type {PageReader} from '../toolbox-services.ts';
import {FinishedUrls, listedUrls, openList, type ParseListed, readListedLines} from './list.ts';
import {type BatchRecord, type BatchSummary, BatchTally, failedHead, tokensOf} from './outcome.ts';
import {Manifest, PageFiles, type PageFormat, pageFileName, renderPageFile} from './page-files.ts';
import {PoliteQueue} from './polite-queue.ts';
import {ProgressLine, renderSummary} from './progress.ts';
import {type PageOutcome, workQueue} from './worker.ts';

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
  const onAside = (host: string, pauseMs: number): void => tally.addSetAside(host, pauseMs);
  const queue = new PoliteQueue({...request, room: ROOM, clock: systemClock, onAside});
  const progress = console.interactive ? new ProgressLine(tally, queue, console, systemClock) : undefined;
  const {resolved, log} = await readSettings(request.settings, context);
  const input = await openList(request.from, '--from', context);
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
  readonly queue: PoliteQueue;
}

async function withOutput(
  request: BatchRequest,
  opened: Opened,
  context: CommandContext,
): Promise<Result<undefined>> {
  const out = resolve(context.environment.cwd, request.out);
  const {parseListedUrl: parse} = await context.services();
  const files = await PageFiles.open(out, systemClock);
  if (!files.ok) return files;
  const manifest = await Manifest.open(out);
  if (!manifest.ok) return manifest;
  try {
    const finished = new FinishedUrls(parse, request.format);
    for await (const entry of manifest.value.finished()) finished.note(entry);
    opened.progress?.update();
    const output = {files: files.value, manifest: manifest.value, finished, parse};
    return await runBatch(request, {...opened, ...output}, context);
  } finally {
    await manifest.value.close();
    await files.value.close();
  }
}

interface Batch extends Opened {
  readonly files: PageFiles;
  readonly manifest: Manifest;
  readonly finished: FinishedUrls;
  readonly parse: ParseListed;
}

/**
 * A list of addresses becomes files, a line of the manifest for each. One reader fills the queue, a worker empties it.
 * The error is what keeps files from being written; everything that happens to a page is a record.
 */
async function runBatch(
  {args, format, concurrency}: BatchRequest,
  batch: Batch,
  {console, signal}: CommandContext,
): Promise<Result<undefined>> {
  const {input, reader, tally, progress, queue, files, manifest, parse} = batch;
  const broken = new AbortController();
  const ended = AbortSignal.any([signal, broken.signal]);
  const finish = async (record: BatchRecord): Promise<Result<undefined>> => {
    const written = await manifest.append(record);
    if (!written.ok) return written;
    tally.add(record);
    progress?.update();
    if (!console.interactive) await console.out(`${JSON.stringify(record)}\n`);
    return ok();
  };
  const keep = async ({
    url,
    result,
    attempts,
    time,
    duration_ms,
  }: PageOutcome): Promise<Result<undefined>> => {
    if (!result.ok) return finish({...failedHead(url, result.error), attempts, time, duration_ms});
    const listed = parse(url);
    if (!listed.ok) throw new Error(`Expected an address that was fetched, got ${url}`);
    const file = pageFileName(listed.value.canonical, format);
    const text = renderPageFile(result.value, format);
    const written = await files.write(file, text);
    if (!written.ok) return written;
    const {final_url, title, fetched_at, notes} = result.value.response;
    const head = {url, status: 'ok', file, final_url, ...(title !== undefined && {title})} as const;
    const size = {tokens: tokensOf(result.value.response), bytes: Buffer.byteLength(text)};
    const cached = notes.includes('cache_hit');
    return finish({...head, ...size, cached, fetched_at, time, duration_ms});
  };
  const fill = async (): Promise<Result<unknown>> => {
    try {
      const lines = readListedLines(addAbortSignal(ended, input));
      for await (const listed of listedUrls({...batch, lines, clock: systemClock})) {
        if (ended.aborted) return ok();
        if (!('record' in listed)) await queue.offer(listed.host, listed.text);
        else {
          const written = await finish(listed.record);
          if (!written.ok) return written;
        }
      }
      tally.listRead = true;
    } catch (error) {
      // A stream that is aborted throws.
      if (!ended.aborted) throw error;
    } finally {
      queue.close();
    }
    return ok();
  };
  const work = workQueue({
    queue,
    read: (url, hold) => reader.read({...args, url}, hold),
    retries: 'refusals',
    keep: async outcomes => (await Promise.all(outcomes.map(keep))).find(({ok}) => !ok) ?? ok(),
    concurrency,
    clock: systemClock,
    random: () => 0,
    signal: ended,
    onState: () => {},
  });
  ended.addEventListener('abort', () => queue.close(), {once: true});
  if (ended.aborted) queue.close();
  // Should one of them fail or throw, the other ends before that is passed on.
  const guarded = async (task: Promise<Result<unknown>>): Promise<Result<unknown>> => {
    let done = false;
    try {
      const result = await task;
      done = result.ok;
      return result;
    } finally {
      if (!done) broken.abort();
    }
  };
  const settled = await Promise.allSettled([guarded(fill()), guarded(work)]);
  for (const task of settled) {
    if (task.status === 'rejected') throw task.reason;
    if (!task.value.ok) return task.value;
  }
  return ok();
}

function isComplete({failed, left, list_read}: BatchSummary): boolean {
  return failed === 0 && left === 0 && list_read;
}
