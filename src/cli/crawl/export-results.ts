import {type FileHandle, open as openFile} from 'node:fs/promises';
import {urlDigest} from '../batch/page-file-name.ts';
import {readLine, readResults, type WrittenLine} from './read-results.ts';

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
