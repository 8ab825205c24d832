// Makes a job from lists and sitemaps (`crawl start`). It adds their addresses in steps, and goes on where an
// earlier start ended.
import {resolve} from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {randomShare, systemClock} from '../../core/clock.ts';
import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import {openList, type ParseListed, readListedLines} from '../batch/list.ts';
import {urlDigest} from '../batch/page-files.ts';
import {type CommandContext, EXIT, type ExitCode} from '../command.ts';
import {printable} from '../console.ts';
import {integerFlag, listFlag, UsageError} from '../flags.ts';
import type {
  Added,
  Frontier,
  FrontierUrl,
  JobSettings,
  PageReader,
  SitemapEntry,
} from '../toolbox-services.ts';
import type {CrawlCall, CrawlValues} from './crawl-flags.ts';
import {readResults, resultFiles} from './export-results.ts';

/** Lines that are no address; further ones are counted. */
const MOST_SHOWN = 20;

/** `crawl start`: lists and sitemaps become a job. */
export async function runStart(
  file: string | undefined,
  values: CrawlValues,
  {job, frontier, settings, context}: CrawlCall,
): Promise<Result<ExitCode>> {
  const {console, environment, signal} = context;
  const sitemaps = listFlag('sitemap', values.sitemap);
  if (file === undefined && sitemaps.length === 0) {
    throw new UsageError('crawl start needs a list of addresses, or --sitemap.');
  }
  const terms = jobSettings(values);
  const {parseListedUrl: parse, openPageReader} = await context.services();
  const finished = await finishedUrls(values, context);
  const input = file === undefined ? undefined : await openList(file, 'The list', context);
  let reader: PageReader | undefined;
  if (sitemaps.length > 0) reader = openPageReader(settings.resolved, {environment, log: settings.log});
  const say = (text: string): void => console.err(`${printable(text)}\n`);
  let problems = 0;
  let shown = 0;
  const note = (text: string): void => {
    shown += 1;
    if (shown <= MOST_SHOWN) say(text);
  };
  async function* everything(): AsyncGenerator<Listed> {
    if (input !== undefined) yield* listedLines(addAbortSignal(signal, input), signal);
    for (const sitemap of sitemaps) {
      if (signal.aborted || reader === undefined) return;
      yield* sitemapEntries(reader.sitemap(sitemap, signal), (at, problem) => {
        problems += 1;
        note(`Sitemap ${at}: ${problem}`);
      });
    }
  }
  let isFull = false;
  try {
    const counts = await startCrawl({
      frontier,
      settings: terms,
      lists: everything(),
      parse,
      finished,
      signal,
      onInvalid: ({from}, {message}) => note(`${from}: ${message}`),
      onFull: () => {
        if (!isFull)
          say(`Job ${job} is full. It goes on as workers take pages: start "forge-tools crawl work".`);
        isFull = true;
      },
    });
    if (!counts.ok) return counts;
    if (shown > MOST_SHOWN) say(`and ${shown - MOST_SHOWN} more like these`);
    await console.out(`${JSON.stringify({job, ...counts.value})}\n`);
    return ok(counts.value.invalid === 0 && problems === 0 ? EXIT.ok : EXIT.failed);
  } finally {
    input?.destroy();
    await reader?.close();
  }
}

function jobSettings(values: CrawlValues): JobSettings {
  const depth = integerFlag('depth', values.depth, 0, 100) ?? 0;
  if (values['same-site'] && depth === 0) throw new UsageError('--same-site goes with --depth.');
  return {
    gapMs: integerFlag('delay', values.delay, 0, 600_000) ?? 1000,
    perHost: integerFlag('per-host', values['per-host'], 1, 64) ?? 1,
    leaseMs: (integerFlag('lease', values.lease, 5, 3600) ?? 120) * 1000,
    maxPending: integerFlag('max-pending', values['max-pending'], 1000, 20_000_000) ?? 1_000_000,
    depth,
    sameSite: values['same-site'] === true,
    tries: integerFlag('tries', values.tries, 1, 10) ?? 3,
  };
}

/** About a hundred bytes of memory for each address. */
async function finishedUrls(
  {job, results}: CrawlValues,
  {environment}: CommandContext,
): Promise<ReadonlySet<string>> {
  const finished = new Set<string>();
  const directories = listFlag('results', results).map(directory => resolve(environment.cwd, directory));
  const files = await resultFiles(directories, job).catch(() => {
    throw new UsageError(`--results takes directories that workers wrote into, got "${results}".`);
  });
  for await (const {url, outcome} of readResults(files))
    if (outcome !== 'again') finished.add(urlDigest(url));
  return finished;
}

/** Of one step of the engine. */
const MOST_AT_ONCE = 200;
/** Steps under way: the engine is never waited for with nothing to do. */
const MOST_STEPS = 8;
const FULL_WAIT_MS = 1000;
/** Longer outages are somebody's to look at; the same command goes on where this one ended. */
const LONGEST_OUTAGE_MS = 60_000;

/** A line of a list or an entry of a sitemap, and where it stands. */
interface Listed {
  readonly text: string;
  readonly from: string;
}

interface StartCounts {
  readonly listed: number;
  readonly added: number;
  /** That the job had, or the list had twice. */
  readonly known: number;
  /** That the results hold. */
  readonly finished: number;
  readonly invalid: number;
}

interface StartCrawlDeps {
  readonly frontier: Frontier;
  readonly settings: JobSettings;
  readonly lists: AsyncIterable<Listed>;
  readonly parse: ParseListed;
  /** Digests of what is not to be fetched again. */
  readonly finished: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly onInvalid: (listed: Listed, failure: Failure) => void;
  /** The job is full: it goes on when workers have taken something. */
  readonly onFull: () => void;
}

/**
 * Adds lists to a job, and says at the end that they are whole. Adding again what is there changes nothing, so that a
 * start that was interrupted is started again.
 */
async function startCrawl(deps: StartCrawlDeps): Promise<Result<StartCounts>> {
  const {frontier, settings, finished, signal} = deps;
  const started = await patient(() => frontier.start(settings), signal);
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
  const said = await patient(sayListed, signal);
  return said.ok ? ok(counts) : said;
}

async function addAll(
  epoch: string,
  urls: readonly FrontierUrl[],
  counts: {added: number; known: number},
  {frontier, signal, onFull}: StartCrawlDeps,
): Promise<Result<undefined>> {
  for (let rest = urls; rest.length > 0; ) {
    const added: Result<Added> = await patient(() => frontier.add(epoch, rest), signal);
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
      onFull();
      await pause(FULL_WAIT_MS * (0.5 + randomShare()), signal);
      if (signal.aborted) return ok();
    }
  }
  return ok();
}

/** Again while the engine is away, for a time. */
async function patient<Value>(
  step: () => Promise<Result<Value>>,
  signal: AbortSignal,
): Promise<Result<Value>> {
  const since = systemClock.monotonic();
  for (let wait = 200; ; wait = Math.min(2 * wait, 5000)) {
    const done = await step();
    if (done.ok || done.error.code !== 'hub_unavailable' || !done.error.retryable) return done;
    if (signal.aborted || systemClock.monotonic() - since > LONGEST_OUTAGE_MS) return done;
    await pause(wait * (0.5 + randomShare()), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = systemClock.after(ms, end);
    signal.addEventListener('abort', end, {once: true});
    if (signal.aborted) end();
  });
}

async function* listedLines(input: Readable, signal: AbortSignal): AsyncGenerator<Listed> {
  try {
    for await (const {line, text = ''} of readListedLines(input))
      yield {text, from: `Line ${line} of the list`};
  } catch (error) {
    // A stream that is aborted throws.
    if (!signal.aborted) throw error;
  } finally {
    input.destroy();
  }
}

/** What sitemaps list. `onProblem` is told of each file that lists less than it should. */
async function* sitemapEntries(
  entries: AsyncIterable<SitemapEntry>,
  onProblem: (file: string, problem: string) => void,
): AsyncGenerator<Listed> {
  for await (const entry of entries) {
    if ('url' in entry) yield {text: entry.url, from: 'A sitemap'};
    else onProblem(entry.file, 'cut' in entry ? entry.cut : entry.failure.message);
  }
}
