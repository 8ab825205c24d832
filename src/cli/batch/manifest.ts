import {type FileHandle, open} from 'node:fs/promises';
import {join} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/error-code.ts';
import {readLines} from '../jsonl/read-lines.ts';
import {type BatchRecord, type FinishedUrl, readRecord, type UnfinishedUrl} from './batch-record.ts';

const NAME = 'manifest.jsonl';
const MAX_LINE_BYTES = 1_048_576;
const NEWLINE = 0x0a;

/**
 * `OUT/manifest.jsonl`: one appended line for each address that is finished, which is what a later run goes
 * on from. A line that a crash cut off is closed by the next one and counts for nothing, so that its address
 * is fetched again; nothing that was written is ever changed.
 */
export class Manifest {
  readonly #path: string;
  readonly #file: FileHandle;
  #torn: boolean;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, file: FileHandle, torn: boolean) {
    this.#path = path;
    this.#file = file;
    this.#torn = torn;
  }

  static async open(out: string): Promise<Result<Manifest>> {
    const path = join(out, NAME);
    try {
      const file = await open(path, 'a+');
      const {size} = await file.stat();
      const {buffer, bytesRead} = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      return ok(new Manifest(path, file, bytesRead === 1 && buffer[0] !== NEWLINE));
    } catch (error) {
      return refused(path, error);
    }
  }

  /** What earlier runs have finished, in the order of the file: a later line takes back what an earlier one says. */
  async *finished(): AsyncGenerator<FinishedUrl | UnfinishedUrl> {
    const input = this.#file.createReadStream({start: 0, autoClose: false});
    for await (const line of readLines(input, MAX_LINE_BYTES)) {
      const record = line.ok ? readRecord(line.value.toString('utf8')) : undefined;
      if (record) yield record;
    }
  }

  /** One after another, each in one write. */
  append(record: BatchRecord): Promise<Result<undefined>> {
    const line = `${JSON.stringify(record)}\n`;
    const written = this.#last.then(async (): Promise<Result<undefined>> => {
      try {
        await this.#file.appendFile(this.#torn ? `\n${line}` : line);
        this.#torn = false;
        return ok();
      } catch (error) {
        // How much of the line got there is unknown.
        this.#torn = true;
        return refused(this.#path, error);
      }
    });
    this.#last = written;
    return written;
  }

  async close(): Promise<void> {
    await this.#last;
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
