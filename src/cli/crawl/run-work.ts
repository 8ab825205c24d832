import {resolve} from 'node:path';
import {systemClock} from '../../core/clock.ts';
import {randomShare} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import type {CrawlCall} from './crawl-call.ts';
import {CrawlProgress} from './crawl-progress.ts';
import {workCrawl} from './crawl-worker.ts';
import {ResultsFile} from './results-file.ts';

const SAID = {
  paused: 'The job is paused. What is under way is finished; "crawl resume" goes on.',
  gone: 'The engine has lost the job. "crawl start" with the same list and --results brings back what is left of it.',
  unreachable:
    'The engine cannot be reached. What is under way is finished, and nothing more is taken until it answers.',
} as const;

/** `crawl work`: one worker, until nothing is left. */
export async function runWork(
  {out, concurrency}: {readonly out: string; readonly concurrency: number},
  {job, frontier, settings, context}: CrawlCall,
): Promise<Result<ExitCode>> {
  const {console, environment, signal} = context;
  const {openPageReader, pageLinks} = await context.services();
  const results = await ResultsFile.create(resolve(environment.cwd, out), job);
  if (!results.ok) return results;
  const status = async () => {
    const answer = await frontier.status();
    return answer.ok ? answer.value : undefined;
  };
  const progress = new CrawlProgress({console, clock: systemClock, status});
  const reader = openPageReader(settings.resolved, {
    environment,
    log: event => {
      progress.clear();
      settings.log(event);
    },
  });
  let said = 'working';
  try {
    const end = await workCrawl({
      frontier,
      read: (url, ended) => reader.read({url}, ended),
      links: pageLinks,
      append: records => results.value.append(records),
      concurrency,
      clock: systemClock,
      random: randomShare,
      signal,
      onRecord: record => progress.add(record),
      onState: state => {
        if (state === said) return;
        said = state;
        progress.clear();
        if (state !== 'working') console.err(`${SAID[state]}\n`);
      },
    });
    const {fetched, cached, failed, errors, bytes, tokens, duration_ms} = await progress.end();
    if (!end.ok) return end;
    const own = {fetched, cached, failed, errors, bytes, tokens, duration_ms, ...end.value};
    await console.out(`${JSON.stringify({job, results: results.value.path, ...own})}\n`);
    return ok(end.value.state === 'interrupted' ? EXIT.interrupted : EXIT.ok);
  } finally {
    await progress.end();
    await Promise.all([reader.close(), results.value.close()]);
  }
}
