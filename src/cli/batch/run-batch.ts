import {setMaxListeners} from 'node:events';
import {type Clock, timestamp} from '../../core/clock.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {FAILURE_CODES} from '../../core/failure/failure-codes.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ReadPage} from '../toolbox-services.ts';
import type {BatchRecord} from './batch-record.ts';
import type {BatchTally} from './batch-tally.ts';
import type {FinishedUrls, ParseListed} from './finished-urls.ts';
import {listedUrls} from './listed-urls.ts';
import type {Manifest} from './manifest.ts';
import {type PageFormat, pageFileName} from './page-file-name.ts';
import type {PageFiles} from './page-files.ts';
import type {PoliteQueue} from './polite-queue.ts';
import type {ListedLine} from './read-listed-lines.ts';
import {LONGEST_PAUSE_MS, refusalPause} from './refusal-pause.ts';
import {renderPageFile} from './render-page-file.ts';

/** Tries of one page whose host asks for a pause, before it counts as failed. */
const MOST_ATTEMPTS = 3;
/** Pauses that a host may ask for in a row before it is set aside. */
const MOST_REFUSALS = 6;

export interface BatchDeps {
  /** The list. Reading ends when the signal fires. */
  readonly lines: (signal: AbortSignal) => AsyncIterable<ListedLine>;
  readonly parse: ParseListed;
  readonly read: (url: string, signal: AbortSignal) => Promise<Result<ReadPage>>;
  readonly finished: FinishedUrls;
  readonly files: PageFiles;
  readonly manifest: Manifest;
  readonly format: PageFormat;
  readonly concurrency: number;
  readonly queue: PoliteQueue<BatchItem>;
  readonly tally: BatchTally;
  /** Called with each record once it is in the manifest. */
  readonly report: (record: BatchRecord) => Promise<void>;
  readonly clock: Clock;
  /** Ends the batch: pages under way are dropped, what is finished is kept. */
  readonly signal: AbortSignal;
}

export interface BatchItem {
  /** As it was listed. */
  readonly text: string;
  readonly canonical: string;
  /** From 1. */
  readonly attempt: number;
}

/**
 * The batch: a list of addresses becomes files, a line of the manifest for each. One reader fills the queue,
 * `concurrency` workers empty it. The error is what keeps files from being written; everything that happens
 * to a page is a record.
 */
export async function runBatch(deps: BatchDeps): Promise<Result<undefined>> {
  const {concurrency, queue, signal} = deps;
  const broken = new AbortController();
  const ended = AbortSignal.any([signal, broken.signal]);
  // Every page under way listens to it, which is many and no leak.
  setMaxListeners(0, ended);
  ended.addEventListener('abort', () => queue.stop(), {once: true});
  if (ended.aborted) queue.stop();

  let problem: Failure | undefined;
  const finish = async (record: BatchRecord): Promise<void> => {
    const written = await deps.manifest.append(record);
    if (!written.ok) return stop(written.error);
    deps.tally.add(record);
    await deps.report(record);
  };
  const stop = (failure: Failure): void => {
    problem ??= failure;
    broken.abort();
  };

  const fill = async (): Promise<void> => {
    try {
      for await (const listed of listedUrls({...deps, lines: deps.lines(ended)})) {
        if (ended.aborted) return;
        if ('record' in listed) await finish(listed.record);
        else await queue.offer(listed.host, {...listed, attempt: 1});
      }
      deps.tally.listRead = true;
    } catch (error) {
      // A stream that is aborted throws.
      if (!ended.aborted) throw error;
    }
  };
  const work = async (): Promise<void> => {
    for (let taken = await queue.take(); taken; taken = await queue.take()) {
      await fetchOne(taken.host, taken.item, {deps, ended, finish, stop});
    }
  };
  // Should one of them throw, the others end before the exception is passed on.
  const guarded = (task: Promise<void>): Promise<void> =>
    task.catch((error: unknown) => {
      broken.abort();
      throw error;
    });
  const workers = Array.from({length: concurrency}, () => guarded(work()));
  const tasks = [guarded(fill().finally(() => queue.close())), ...workers];
  const settled = await Promise.allSettled(tasks);
  for (const task of settled) if (task.status === 'rejected') throw task.reason;
  return problem ? {ok: false, error: problem} : ok();
}

interface BatchCall {
  readonly deps: BatchDeps;
  readonly ended: AbortSignal;
  readonly finish: (record: BatchRecord) => Promise<void>;
  readonly stop: (failure: Failure) => void;
}

async function fetchOne(
  host: string,
  item: BatchItem,
  {deps, ended, finish, stop}: BatchCall,
): Promise<void> {
  const {queue, clock, files, format, tally} = deps;
  const start = clock.monotonic();
  const result = await deps.read(item.text, ended);
  const took = () => ({time: timestamp(clock.now()), duration_ms: Math.round(clock.monotonic() - start)});
  if (result.ok) {
    const {response} = result.value;
    const cached = response.notes.includes('cache_hit');
    queue.done(host, !cached);
    const file = pageFileName(item.canonical, format);
    const text = renderPageFile(result.value, format);
    const written = await files.write(file, text);
    if (!written.ok) return stop(written.error);
    const {final_url, title, fetched_at, chunks} = response;
    const tokens = chunks.reduce((sum, chunk) => sum + chunk.token_count, 0);
    await finish({
      url: item.text,
      status: 'ok',
      file,
      final_url,
      ...(title !== undefined && {title}),
      tokens,
      bytes: Buffer.byteLength(text),
      cached,
      fetched_at,
      ...took(),
    });
    return;
  }
  const failure = result.error;
  // Interrupted: nothing is known of the page, and the next run fetches it.
  if (failure.code === 'cancelled' && ended.aborted) return queue.done(host, true);

  const pause = refusalPause(failure, item.attempt, clock.now());
  if (pause !== undefined) {
    const tooLong = pause > LONGEST_PAUSE_MS;
    const again = !tooLong && item.attempt < MOST_ATTEMPTS && !queue.hasSetAside(host);
    const next = again ? {...item, attempt: item.attempt + 1} : undefined;
    const refusals = queue.refused(host, Math.min(pause, LONGEST_PAUSE_MS), next);
    if (tooLong || refusals >= MOST_REFUSALS) {
      queue.setAside(host);
      tally.addSetAside(host, pause);
    }
    if (again) return;
  } else {
    queue.done(host, wasAsked(failure));
  }
  const {code, message, retryable, details} = failure;
  const {text: url, attempt: attempts} = item;
  await finish({url, status: 'failed', code, message, retryable, details, attempts, ...took()});
}

/** What the guard, robots.txt or the arguments refuse sends nothing to the page's host. */
function wasAsked({code}: Failure): boolean {
  const {blame} = FAILURE_CODES[code];
  return blame === 'remote' || blame === 'host';
}
