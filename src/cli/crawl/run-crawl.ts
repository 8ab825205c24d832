import {open, rename, rm} from 'node:fs/promises';
import {resolve} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import type {CommandContext} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {integerFlag} from '../flags/parse-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {readSettings} from '../read-settings.ts';
import {renderFailure} from '../render/render-failure.ts';
import type {Frontier} from '../toolbox-services.ts';
import type {CrawlCall, CrawlValues} from './crawl-call.ts';
import {type ExportCounts, exportResults} from './export-results.ts';
import {resultFiles} from './read-results.ts';
import {renderStatus} from './render-status.ts';
import {runStart} from './run-start.ts';
import {runWork} from './run-work.ts';

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
  const atOnce = integerFlag('concurrency', concurrency, 1, 256) ?? 16;
  return {
    start: call => runStart(file, values, call),
    work: call => {
      if (out === undefined) throw new UsageError('crawl work needs --out, the directory for its results.');
      return runWork({out, concurrency: atOnce}, call);
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
