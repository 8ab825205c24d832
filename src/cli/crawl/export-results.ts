// Joins the files that workers wrote into one list of results. An address is there once, and a page comes before a
// failure.
import {type FileHandle, mkdir, open, open as openFile, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {type FailureRecord, failedHead, type PageRecord, readRecord, tokensOf} from '../batch/outcome.ts';
import {cannotWrite, urlDigest} from '../batch/page-files.ts';
import type {PageOutcome} from '../batch/worker.ts';
import {readLines} from '../jsonl.ts';
import type {ReadPage} from '../toolbox-services.ts';

export interface ExportCounts {
  readonly files: number;
  readonly pages: number;
  readonly failed: number;
  /** Lines beyond one for each address: somebody fetched it twice. */
  readonly repeated: number;
}

const NEWLINE = Buffer.from('\n');

interface Best {
  readonly file: number;
  readonly offset: number;
  readonly length: number;
  readonly outcome: WrittenLine['outcome'];
}

/**
 * Each address once: a page before a failure, and the first before the last of a kind. About two hundred bytes of memory
 * for each address.
 */
export async function exportResults(
  files: readonly string[],
  write: (line: Buffer) => Promise<void>,
): Promise<ExportCounts> {
  const best = new Map<string, Best>();
  let lines = 0;
  for await (const line of readResults(files)) {
    lines += 1;
    const digest = urlDigest(line.url);
    const known = best.get(digest);
    if (known !== undefined && (known.outcome === 'ok' || line.outcome !== 'ok')) continue;
    const {offset, length, outcome} = line;
    best.set(digest, {file: files.indexOf(line.file), offset, length, outcome});
  }
  let pages = 0;
  const chosen = [...best.values()].sort((a, b) => a.file - b.file || a.offset - b.offset);
  let open: {readonly at: number; readonly handle: FileHandle} | undefined;
  try {
    for (const line of chosen) {
      const file = files[line.file];
      if (file === undefined) continue;
      if (open?.at !== line.file) {
        await open?.handle.close();
        open = {at: line.file, handle: await openFile(file, 'r')};
      }
      if (line.outcome === 'ok') pages += 1;
      const bytes = await readLine(open.handle, {url: '', ...line, file});
      await write(Buffer.concat([bytes, NEWLINE]));
    }
  } finally {
    await open?.handle.close();
  }
  return {files: files.length, pages, failed: best.size - pages, repeated: lines - best.size};
}

interface WrittenLine extends WrittenRecord {
  readonly file: string;
  /** In bytes. */
  readonly offset: number;
  readonly length: number;
}

/** The result files of a job in some directories, in an order that is always the same. */
export async function resultFiles(directories: readonly string[], job: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const directory of directories) {
    const names = await readdir(directory);
    for (const name of names.sort()) {
      const [, worker] = /^(.*)\.[0-9a-f]{12}\.jsonl$/.exec(name) ?? [];
      if (worker === job) files.push(join(directory, name));
    }
  }
  return files;
}

/** What workers wrote. A line that a kill cut off is passed over. */
export async function* readResults(files: readonly string[]): AsyncGenerator<WrittenLine> {
  for (const file of files) {
    let offset = 0;
    const handle = await open(file, 'r');
    try {
      for await (const line of readLines(handle.createReadStream({autoClose: false}), MOST_LINE_BYTES)) {
        const length = line.ok ? line.value.length : line.error;
        const record = line.ok ? readCrawlRecord(line.value.toString('utf8')) : undefined;
        if (record) yield {...record, file, offset, length};
        offset += length + 1;
      }
    } finally {
      await handle.close();
    }
  }
}

/** The bytes of lines that were found, by file. */
async function readLine(handle: FileHandle, {offset, length}: WrittenLine): Promise<Buffer> {
  const {buffer, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

/** A line that is longer is not kept: a page has at most `tools.webfetch.max_download_bytes`. */
const MOST_LINE_BYTES = 64 * 1024 * 1024;

/**
 * `DIR/JOB.WORKER.jsonl`: what one worker has finished, a line each. It is the worker's own, so that a line which a kill
 * cut off is the last one. What was appended is on the disk before the engine is told that it is done.
 */
export class ResultsFile {
  readonly path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(directory: string, job: string): Promise<Result<ResultsFile>> {
    const path = join(directory, `${job}.${randomHex(6)}.jsonl`);
    try {
      await mkdir(directory, {recursive: true});
      return ok(new ResultsFile(path, await open(path, 'ax')));
    } catch (error) {
      return cannotWrite(path, error, 'append');
    }
  }

  async append(records: readonly CrawlRecord[]): Promise<Result<undefined>> {
    try {
      await this.#file.appendFile(records.map(record => `${JSON.stringify(record)}\n`).join(''));
      await this.#file.datasync();
      return ok();
    } catch (error) {
      return cannotWrite(this.path, error, 'append');
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

interface Crawled {
  /** Links between it and the list. */
  readonly depth: number;
  /** From 1; leases that ended count. */
  readonly attempts: number;
}

/** A page that was fetched, with its text. */
interface CrawledPage extends Omit<PageRecord, 'file' | 'bytes'>, Crawled {
  readonly notes: readonly string[];
  readonly markdown: string;
}

/** One line of the results of a worker: what became of an address, which is canonical. */
export type CrawlRecord = CrawledPage | (Omit<FailureRecord, 'line'> & Crawled);

export function crawlRecord({url, result, ...facts}: PageOutcome): CrawlRecord {
  if (!result.ok) return {...failedHead(url, result.error), ...facts};
  const {response, markdown} = result.value;
  const {final_url, title, fetched_at, notes} = response;
  const head = {url, status: 'ok', final_url, ...(title !== undefined && {title})} as const;
  const cached = notes.includes('cache_hit');
  return {...head, tokens: tokensOf(response), cached, fetched_at, notes, ...facts, markdown};
}

/** A page that no line of results holds is a failure that says so. */
export function fitForLine(read: Result<ReadPage>): Result<ReadPage> {
  if (!read.ok) return read;
  const {markdown} = read.value;
  // JSON may double what it escapes, and more; no page that is read comes near.
  const isLong =
    markdown.length * 6 > MOST_LINE_BYTES && JSON.stringify(markdown).length * 3 > MOST_LINE_BYTES;
  if (!isLong) return read;
  const message = `The text of the page is longer than a line of results may be (${MOST_LINE_BYTES} bytes). Fetch it alone.`;
  return fail('response_too_large', message);
}

/** What is needed of a line that was written earlier. */
interface WrittenRecord {
  readonly url: string;
  /** `again`: a failure that may end otherwise next time. */
  readonly outcome: 'ok' | 'failed' | 'again';
}

/** `undefined` for a line that a killed worker cut off, and for what is no record. */
function readCrawlRecord(text: string): WrittenRecord | undefined {
  // A page of a batch names its file, and a page of a crawl holds its text.
  const start = /^\{"url":("(?:[^"\\]|\\.)*"),"status":"ok",/.exec(text.slice(0, MOST_HEAD));
  if (start?.[1] !== undefined) {
    return isWhole(text) ? {url: JSON.parse(start[1]), outcome: 'ok'} : undefined;
  }
  const record = readRecord(text);
  if (record === undefined || 'file' in record === false) {
    return record && {url: record.url, outcome: 'again'};
  }
  return {url: record.url, outcome: 'failed'};
}

/** A URL has 65,536 characters at most, and each may be escaped. */
const MOST_HEAD = 400_000;

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
