// Runs the verbs of `crawl` against the shared queue of a job.
import {open, rename, rm} from 'node:fs/promises';
import {resolve} from 'node:path';
import {randomHex, randomShare, systemClock} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import {workQueue} from '../batch/worker.ts';
import {type CommandContext, EXIT, type ExitCode} from '../command.ts';
import {integerFlag, listFlag, UsageError} from '../flags.ts';
import {renderFailure} from '../print-result.ts';
import {readSettings} from '../read-settings.ts';
import type {Frontier} from '../toolbox-services.ts';
import type {CrawlCall, CrawlValues} from './crawl-flags.ts';
import {
  crawlRecord,
  type ExportCounts,
  exportResults,
  fitForLine,
  ResultsFile,
  resultFiles,
} from './export-results.ts';
import {runStart} from './start-crawl.ts';
import {CrawlProgress, renderStatus} from './status.ts';

/** `forge-tools crawl VERB`, with flags that go with it. */
export async function runCrawl(
  verb: string,
  rest: readonly string[],
  values: CrawlValues,
  context: CommandContext,
): Promise<ExitCode> {
  if (verb === 'export') return exportJob(rest, values, context);
  if (rest.length > (verb === 'start' ? 1 : 0)) {
    throw new UsageError(
      verb === 'start' ? 'crawl start takes one FILE.' : `crawl ${verb} takes no arguments.`,
    );
  }
  // Looked at before anything is opened.
  const act = verbs(values, rest)[verb];
  if (act === undefined) throw new UsageError(`crawl has no ${verb}.`);
  const settings = await readSettings(values, context);
  const {console, environment} = context;
  const {openFrontier} = await context.services();
  const opened = await openFrontier(settings.resolved.config, values.job, {
    env: environment.env,
    log: settings.log,
  });
  if (!opened.ok) {
    console.err(renderFailure(opened.error, undefined, console));
    return EXIT.failed;
  }
  const {frontier, close} = opened.value;
  try {
    const done = await act({job: values.job, frontier, settings, context});
    if (done.ok) return context.signal.aborted ? EXIT.interrupted : done.value;
    console.err(renderFailure(done.error, undefined, console));
    return context.signal.aborted ? EXIT.interrupted : EXIT.failed;
  } finally {
    await close();
  }
}

type Act = (call: CrawlCall) => Promise<Result<ExitCode>>;

function verbs(values: CrawlValues, [file]: readonly string[]): Readonly<Record<string, Act>> {
  const {out, concurrency} = values;
  const ownHosts = listFlag('own-hosts', values['own-hosts']);
  const atOnce = integerFlag('concurrency', concurrency, 1, 256) ?? 16;
  return {
    start: call => runStart(file, values, call),
    work: call => {
      if (out === undefined) throw new UsageError('crawl work needs --out, the directory for its results.');
      return runWork({out, concurrency: atOnce, ownHosts}, call);
    },
    status: ({frontier, job, context}) => showStatus(frontier, job, values.json === true, context),
    pause: call => setState('paused', call),
    resume: call => setState('running', call),
    cancel: async ({frontier, job, context}) => {
      const state = await frontier.cancel();
      if (!state.ok) return state;
      if (state.value === 'gone') return noJob(job);
      context.console.err(
        `Job ${job} is cancelled, and the engine holds nothing more of it. Results are kept.\n`,
      );
      return ok(EXIT.ok);
    },
  };
}

async function setState(
  wanted: 'running' | 'paused',
  {frontier, job, context}: CrawlCall,
): Promise<Result<ExitCode>> {
  const state = await frontier.setState(wanted);
  if (!state.ok) return state;
  if (state.value === 'gone') return noJob(job);
  if (state.value === 'cancelled') {
    return fail('invalid_params', `Job "${job}" was cancelled. Start it again.`, {
      field: 'job',
      reason: 'cancelled',
    });
  }
  const said =
    wanted === 'paused' ? 'is paused: what is under way is finished, and nothing more is taken' : 'goes on';
  context.console.err(`Job ${job} ${said}.\n`);
  return ok(EXIT.ok);
}

async function showStatus(
  frontier: Frontier,
  job: string,
  json: boolean,
  {console}: CommandContext,
): Promise<Result<ExitCode>> {
  const status = await frontier.status();
  if (!status.ok) return status;
  if (status.value === undefined) return noJob(job);
  await console.out(
    json ? `${JSON.stringify({job, ...status.value})}\n` : renderStatus(job, status.value, console),
  );
  return ok(EXIT.ok);
}

function noJob(job: string): Result<never> {
  return fail('invalid_params', `The engine has no job "${job}". Make it with "forge-tools crawl start".`, {
    field: 'job',
    reason: 'not found',
  });
}

async function exportJob(
  directories: readonly string[],
  {job, to}: CrawlValues,
  {console, environment}: CommandContext,
): Promise<ExitCode> {
  if (directories.length === 0)
    throw new UsageError('crawl export needs the directories that workers wrote into.');
  const {cwd} = environment;
  try {
    const files = await resultFiles(
      directories.map(directory => resolve(cwd, directory)),
      job,
    );
    const counts =
      to === undefined
        ? await exportResults(files, line => console.out(line.toString('utf8')))
        : await exportToFile(files, resolve(cwd, to));
    console.err(`${JSON.stringify({exported: counts})}\n`);
    return files.length > 0 ? EXIT.ok : EXIT.failed;
  } catch (error) {
    const failed = fail('io_error', `The results cannot be exported: ${expectedErrorCode(error)}.`);
    console.err(renderFailure(failed.error, undefined, console));
    return EXIT.failed;
  }
}

/** The name holds a whole export or what was there before. */
async function exportToFile(files: readonly string[], path: string): Promise<ExportCounts> {
  const partial = `${path}.${randomHex(4)}.partial`;
  const output = await open(partial, 'wx');
  try {
    const counts = await exportResults(files, line => output.appendFile(line));
    await output.datasync();
    await output.close();
    await rename(partial, path);
    return counts;
  } catch (error) {
    await output.close();
    await rm(partial, {force: true});
    throw error;
  }
}

const SAID = {
  paused: 'The job is paused. What is under way is finished; "crawl resume" goes on.',
  gone: 'The engine has lost the job. "crawl start" with the same list and --results brings back what is left of it.',
  unreachable:
    'The engine cannot be reached. What is under way is finished, and nothing more is taken until it answers.',
} as const;

/** `crawl work`: one worker, until nothing is left. */
export async function runWork(
  {
    out,
    concurrency,
    ownHosts,
  }: {readonly out: string; readonly concurrency: number; readonly ownHosts: readonly string[]},
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
    // Whoever writes to the engine chooses the addresses. The rights at hosts are the operator's.
    ownHosts,
    log: event => {
      progress.clear();
      settings.log(event);
    },
  });
  let said = 'working';
  try {
    const end = await workQueue({
      queue: frontier,
      read: async (url, ended) => fitForLine(await reader.read({url}, ended)),
      retries: 'what may pass',
      links: pageLinks,
      keep: async outcomes => {
        const records = outcomes.map(crawlRecord);
        const kept = await results.value.append(records);
        if (kept.ok) for (const record of records) progress.add(record);
        return kept;
      },
      concurrency,
      clock: systemClock,
      random: randomShare,
      signal,
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
