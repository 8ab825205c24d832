// Reads the addresses of a list, one a line. It leaves out what earlier runs have finished and reports lines that
// are no address.
import {open} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Readable} from 'node:stream';
import {type Clock, timestamp} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import type {CommandContext} from '../command.ts';
import {UsageError} from '../flags.ts';
import {readLines} from '../jsonl.ts';
import type {ListedUrl, NoUrl} from '../toolbox-services.ts';
import {
  type BatchTally,
  type FailureRecord,
  type FinishedUrl,
  failedHead,
  type UnfinishedUrl,
} from './outcome.ts';
import {type PageFormat, pageFileName, urlDigest} from './page-files.ts';

interface ListDeps {
  readonly lines: AsyncIterable<ListedLine>;
  readonly parse: ParseListed;
  readonly finished: FinishedUrls;
  readonly tally: BatchTally;
  readonly clock: Clock;
}

/** What of a list is to be fetched now, and a record of each line that is no address. Counts the rest. */
export async function* listedUrls(
  deps: ListDeps,
): AsyncGenerator<{readonly text: string; readonly host: string} | {readonly record: FailureRecord}> {
  const {finished, tally, parse} = deps;
  const seen = new Set<string>();
  for await (const listed of deps.lines) {
    const {line, text = `line ${line} is too long`} = listed;
    const url = parse(text);
    const digest = urlDigest(url.ok ? url.value.canonical : text);
    if (seen.has(digest)) {
      tally.duplicates += 1;
      continue;
    }
    seen.add(digest);
    tally.listed += 1;
    if (!url.ok) yield {record: notAnAddress(line, url.error, deps.clock)};
    else if (finished.has(digest)) tally.skipped += 1;
    else yield {text, host: url.value.host};
  }
}

function notAnAddress(line: number, {failure, shown}: NoUrl, clock: Clock): FailureRecord {
  const message = `Line ${line} of the list: ${failure.message}`;
  const time = timestamp(clock.now());
  return {...failedHead(shown, {...failure, message}), attempts: 0, line, time, duration_ms: 0};
}

export interface ListedLine {
  /** From 1. */
  readonly line: number;
  /** Without blanks around it; `undefined` for a line that is longer than any address. */
  readonly text: string | undefined;
}

/** A list; `-` is standard input. Throws `UsageError`, which begins with `called`, where it cannot be read. */
export async function openList(
  from: string,
  called: string,
  {console, environment}: CommandContext,
): Promise<Readable> {
  if (from === '-') return console.input;
  const path = resolve(environment.cwd, from);
  const advice = 'Name a file with an address a line, or - for standard input.';
  try {
    const file = await open(path, 'r');
    // A directory can be opened, and fails only when it is read.
    if (!(await file.stat()).isDirectory()) return file.createReadStream();
    await file.close();
  } catch (error) {
    throw new UsageError(`${called} ${path} cannot be read: ${expectedErrorCode(error)}. ${advice}`);
  }
  throw new UsageError(`${called} ${path} is a directory. ${advice}`);
}

const MAX_LINE_BYTES = 16_384;
const COMMENT = '#';

/** The lines of a list of addresses, as they come; empty ones and comments (`# …`) are passed over. */
export async function* readListedLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<ListedLine> {
  const decoder = new TextDecoder();
  let line = 0;
  for await (const read of readLines(input, MAX_LINE_BYTES)) {
    line += 1;
    // The decoder drops a byte order mark; trim takes the carriage return of another system's lines.
    const text = read.ok ? decoder.decode(read.value).trim() : undefined;
    if (text === '' || text?.startsWith(COMMENT)) continue;
    yield {line, text};
  }
}

export type ParseListed = (text: string) => Result<ListedUrl, NoUrl>;

/** What earlier runs have finished, by digest: about a hundred bytes of memory for each address. */
export class FinishedUrls {
  readonly #digests = new Set<string>();
  readonly #parse: ParseListed;
  readonly #format: PageFormat;

  constructor(parse: ParseListed, format: PageFormat) {
    this.#parse = parse;
    this.#format = format;
  }

  /** One line of the manifest, in the order of the file. */
  note(entry: FinishedUrl | UnfinishedUrl): void {
    const url = this.#parse(entry.url);
    if (!url.ok) return;
    const {canonical} = url.value;
    const digest = urlDigest(canonical);
    // A page that was kept in the other format is not the file that is wanted now.
    const wanted = 'file' in entry && (entry.file ?? pageFileName(canonical, this.#format));
    if (wanted === pageFileName(canonical, this.#format)) this.#digests.add(digest);
    else this.#digests.delete(digest);
  }

  has(digest: string): boolean {
    return this.#digests.has(digest);
  }
}
