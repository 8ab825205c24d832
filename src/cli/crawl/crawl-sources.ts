import {open} from 'node:fs/promises';
import {resolve} from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {expectedErrorCode} from '../../system/error-code.ts';
import {readListedLines} from '../batch/read-listed-lines.ts';
import type {CommandContext} from '../command.ts';
import {UsageError} from '../flags/usage-error.ts';
import type {SitemapEntry} from '../toolbox-services.ts';
import type {Listed} from './start-crawl.ts';

/** The lines of a list; `-` is standard input. Throws `UsageError` where it cannot be read. */
export async function openList(
  file: string,
  {console, environment, signal}: CommandContext,
): Promise<AsyncGenerator<Listed>> {
  const input = file === '-' ? console.input : await openFile(resolve(environment.cwd, file));
  return listedLines(addAbortSignal(signal, input), signal);
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
export async function* sitemapEntries(
  entries: AsyncIterable<SitemapEntry>,
  onProblem: (file: string, problem: string) => void,
): AsyncGenerator<Listed> {
  for await (const entry of entries) {
    if ('url' in entry) yield {text: entry.url, from: 'A sitemap'};
    else onProblem(entry.file, 'cut' in entry ? entry.cut : entry.failure.message);
  }
}

async function openFile(path: string): Promise<Readable> {
  try {
    const file = await open(path, 'r');
    // A directory can be opened, and fails only when it is read.
    if (!(await file.stat()).isDirectory()) return file.createReadStream();
    await file.close();
  } catch (error) {
    throw new UsageError(
      `The list ${path} cannot be read: ${expectedErrorCode(error)}. Name a file with an address a line, or - for standard input.`,
    );
  }
  throw new UsageError(`${path} is a directory. Name a file with an address a line.`);
}
