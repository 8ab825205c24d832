import {resolve} from 'node:path';
import {systemClock} from '../../core/clock.ts';
import {randomShare} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {urlDigest} from '../batch/page-file-name.ts';
import type {CommandContext} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {integerFlag, listFlag} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {printable} from '../terminal/printable.ts';
import type {JobSettings, PageReader} from '../toolbox-services.ts';
import type {CrawlCall, CrawlValues} from './crawl-call.ts';
import {openList, sitemapEntries} from './crawl-sources.ts';
import {readResults, resultFiles} from './read-results.ts';
import {type Listed, startCrawl} from './start-crawl.ts';

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
  const list = file === undefined ? undefined : await openList(file, context);
  const finished = await finishedUrls(values, context);
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
    if (list !== undefined) yield* list;
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
      clock: systemClock,
      random: randomShare,
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
