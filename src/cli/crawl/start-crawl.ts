import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ParseListed} from '../batch/finished-urls.ts';
import {urlDigest} from '../batch/page-file-name.ts';
import type {Added, Frontier, FrontierUrl, JobSettings} from '../toolbox-services.ts';

/** Of one step of the engine. */
const MOST_AT_ONCE = 200;
/** Steps under way: the engine is never waited for with nothing to do. */
const MOST_STEPS = 8;
const FULL_WAIT_MS = 1000;
/** Longer outages are somebody's to look at; the same command goes on where this one ended. */
const LONGEST_OUTAGE_MS = 60_000;

/** A line of a list or an entry of a sitemap, and where it stands. */
export interface Listed {
  readonly text: string;
  readonly from: string;
}

export interface StartCounts {
  readonly listed: number;
  readonly added: number;
  /** That the job had, or the list had twice. */
  readonly known: number;
  /** That the results hold. */
  readonly finished: number;
  readonly invalid: number;
}

export interface StartCrawlDeps {
  readonly frontier: Frontier;
  readonly settings: JobSettings;
  readonly lists: AsyncIterable<Listed>;
  readonly parse: ParseListed;
  /** Digests of what is not to be fetched again. */
  readonly finished: ReadonlySet<string>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onInvalid: (listed: Listed, failure: Failure) => void;
  /** The job is full: it goes on when workers have taken something. */
  readonly onFull: () => void;
}

/**
 * Adds lists to a job, and says at the end that they are whole. Adding again what is there changes nothing, so that a
 * start that was interrupted is started again.
 */
export async function startCrawl(deps: StartCrawlDeps): Promise<Result<StartCounts>> {
  const {frontier, settings, finished, signal} = deps;
  const started = await patient(() => frontier.start(settings), deps);
  if (!started.ok) return started;
  const {epoch, listed: sayListed} = started.value;
  const counts = {listed: 0, added: 0, known: 0, finished: 0, invalid: 0};
  const steps = new Set<Promise<void>>();
  let problem: Failure | undefined;
  let batch: FrontierUrl[] = [];
  const send = async (): Promise<void> => {
    const urls = batch;
    batch = [];
    while (steps.size >= MOST_STEPS) await Promise.race(steps);
    const step = addAll(epoch, urls, counts, deps).then(added => {
      if (!added.ok) problem ??= added.error;
      steps.delete(step);
    });
    steps.add(step);
  };
  try {
    for await (const listed of deps.lists) {
      if (signal.aborted || problem !== undefined) break;
      counts.listed += 1;
      const url = deps.parse(listed.text);
      if (!url.ok) {
        counts.invalid += 1;
        deps.onInvalid(listed, url.error.failure);
      } else if (finished.has(urlDigest(url.value.canonical))) {
        counts.finished += 1;
      } else {
        batch.push({url: url.value.canonical, host: url.value.host, depth: 0});
        if (batch.length === MOST_AT_ONCE) await send();
      }
    }
    if (batch.length > 0 && problem === undefined && !signal.aborted) await send();
  } finally {
    await Promise.all(steps);
  }
  if (problem !== undefined) return {ok: false, error: problem};
  if (signal.aborted) return fail('cancelled', 'Interrupted. The same command goes on from here.');
  const said = await patient(sayListed, deps);
  return said.ok ? ok(counts) : said;
}

async function addAll(
  epoch: string,
  urls: readonly FrontierUrl[],
  counts: {added: number; known: number},
  deps: StartCrawlDeps,
): Promise<Result<undefined>> {
  for (let rest = urls; rest.length > 0; ) {
    const added: Result<Added> = await patient(() => deps.frontier.add(epoch, rest), deps);
    if (!added.ok) return added;
    const {state, read} = added.value;
    counts.added += added.value.added;
    counts.known += added.value.known;
    rest = rest.slice(read);
    if (state === 'gone' || state === 'cancelled') {
      const why = state === 'gone' ? 'The engine has lost the job' : 'The job was cancelled';
      return fail('invalid_params', `${why} while its list was read. Start it again.`, {
        field: 'job',
        reason: state,
      });
    }
    if (state === 'full') {
      deps.onFull();
      await pause(FULL_WAIT_MS * (0.5 + deps.random()), deps);
      if (deps.signal.aborted) return ok();
    }
  }
  return ok();
}

/** Again while the engine is away, for a time. */
async function patient<Value>(
  step: () => Promise<Result<Value>>,
  deps: Pick<StartCrawlDeps, 'clock' | 'random' | 'signal'>,
): Promise<Result<Value>> {
  const {clock, random, signal} = deps;
  const since = clock.monotonic();
  for (let wait = 200; ; wait = Math.min(2 * wait, 5000)) {
    const done = await step();
    if (done.ok || done.error.code !== 'hub_unavailable' || !done.error.retryable) return done;
    if (signal.aborted || clock.monotonic() - since > LONGEST_OUTAGE_MS) return done;
    await pause(wait * (0.5 + random()), deps);
  }
}

function pause(ms: number, {clock, signal}: Pick<StartCrawlDeps, 'clock' | 'signal'>): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, {once: true});
    if (signal.aborted) end();
  });
}
