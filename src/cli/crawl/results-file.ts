import {type FileHandle, mkdir, open} from 'node:fs/promises';
import {join} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import type {CrawlRecord} from './crawl-record.ts';

/** A line that is longer is not kept: a page has at most `tools.webfetch.max_download_bytes`. */
export const MOST_LINE_BYTES = 64 * 1024 * 1024;

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
      return refused(path, error);
    }
  }

  async append(records: readonly CrawlRecord[]): Promise<Result<undefined>> {
    try {
      await this.#file.appendFile(records.map(record => `${JSON.stringify(record)}\n`).join(''));
      await this.#file.datasync();
      return ok();
    } catch (error) {
      return refused(this.path, error);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

function refused(path: string, error: unknown): Result<never> {
  const code = expectedErrorCode(error);
  return fail('io_error', `${path} cannot be written: ${code}. Check permissions and free space.`, {
    path,
    error: code,
    operation: 'append',
  });
}
