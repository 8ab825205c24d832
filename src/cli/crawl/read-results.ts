import {type FileHandle, open, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {readLines} from '../jsonl/read-lines.ts';
import {readCrawlRecord, type WrittenRecord} from './crawl-record.ts';
import {MOST_LINE_BYTES} from './results-file.ts';

export interface WrittenLine extends WrittenRecord {
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
export async function readLine(handle: FileHandle, {offset, length}: WrittenLine): Promise<Buffer> {
  const {buffer, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
