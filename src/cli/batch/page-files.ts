// Names and writes the files of a batch. A name holds a whole page or nothing, whatever kills the process.
import {createHash} from 'node:crypto';
import {type FileHandle, lstat, mkdir, open, readdir, rm, rmdir} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {type Clock, randomHex} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import {replaceFile} from '../../system/replace-file.ts';
import {readLines} from '../jsonl.ts';
import type {ReadPage} from '../toolbox-services.ts';
import {type BatchRecord, type FinishedUrl, readRecord, tokensOf, type UnfinishedUrl} from './outcome.ts';

/** Unfinished files, below the output directory. A write lasts milliseconds; what is this old was left by a crash. */
const PARTIAL = '.partial';
const STALE_MS = 3_600_000;

/** The files of a batch. A name holds a whole page or nothing, whatever happens in between. */
export class PageFiles {
  readonly #out: string;
  readonly #made = new Set<string>();

  private constructor(out: string) {
    this.#out = out;
  }

  /** Makes the directory, and clears away what runs that were killed left in it. */
  static async open(out: string, clock: Clock): Promise<Result<PageFiles>> {
    const partial = join(out, PARTIAL);
    try {
      await mkdir(partial, {recursive: true});
      for (const name of await readdir(partial)) {
        const path = join(partial, name);
        if (clock.now() - (await lstat(path)).mtimeMs > STALE_MS) await rm(path, {force: true});
      }
      return ok(new PageFiles(out));
    } catch (error) {
      return cannotWrite(partial, error, 'write');
    }
  }

  /** Writes or replaces one file; `name` is relative, with `/`. */
  async write(name: string, text: string): Promise<Result<undefined>> {
    const path = join(this.#out, name);
    const temporary = join(this.#out, PARTIAL, randomHex(8));
    try {
      await this.#makeDirectory(dirname(path));
      await replaceFile(path, text, {mode: 0o666, temporary});
      return ok();
    } catch (error) {
      return cannotWrite(path, error, 'write');
    }
  }

  async close(): Promise<void> {
    // Another run may be writing into the same directory; then it stays.
    await rmdir(join(this.#out, PARTIAL)).catch(() => {});
  }

  async #makeDirectory(path: string): Promise<void> {
    if (this.#made.has(path)) return;
    await mkdir(path, {recursive: true});
    this.#made.add(path);
  }
}

/** A page or a record could not be written. */
export function cannotWrite(path: string, error: unknown, operation: 'write' | 'append'): Result<never> {
  const code = expectedErrorCode(error);
  const message = `${path} cannot be written: ${code}. Check permissions and free space.`;
  return fail('io_error', message, {path, error: code, operation});
}

export type PageFormat = 'md' | 'json';

const LONGEST_HOST = 100;
const LONGEST_SLUG = 60;
/** Names that some systems keep for devices, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** 80 bits that stand for an address, in a string of its own. */
export function urlDigest(url: string): string {
  return createHash('sha256').update(url, 'utf8').digest().toString('hex', 0, 10);
}

/**
 * Where a page is kept below the output directory: `host/path-of-the-page-DIGEST.md`. The digest of the
 * canonical address makes the name unique; all else is there to be read, and is made of lower-case letters,
 * digits, dots, `-` and `_` alone, so that no address leads elsewhere or to another's file on any system.
 */
export function pageFileName(canonicalUrl: string, format: PageFormat): string {
  const {host, pathname} = new URL(canonicalUrl);
  return `${directoryName(host)}/${slugOf(pathname)}${urlDigest(canonicalUrl)}.${format}`;
}

function directoryName(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '_')
    .slice(0, LONGEST_HOST)
    // Hidden on one system, dropped by another.
    .replace(/^\.+|\.+$/g, '');
  return name === '' || DEVICE.test(name) ? `_${name}` : name;
}

function slugOf(pathname: string): string {
  const slug = decoded(pathname)
    .toLowerCase()
    .replace(/\.(?:html?|php|aspx?|md|txt)$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? '' : `${slug}-`;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

/** A page as it is kept: its Markdown below what is known of it, or the response of `web_fetch` as it is. */
export function renderPageFile({response, markdown}: ReadPage, format: PageFormat): string {
  if (format === 'json') return `${JSON.stringify(response)}\n`;
  const {final_url, title, language, fetched_at, rendering_method, notes} = response;
  const facts = {
    url: final_url,
    title,
    language,
    fetched_at,
    rendering_method,
    tokens: tokensOf(response),
    notes: notes.length > 0 ? notes : undefined,
  };
  // JSON is YAML: what a page calls itself cannot end the line or the block.
  const lines = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${JSON.stringify(value)}`,
  );
  return `---\n${lines.join('\n')}\n---\n\n${markdown.replace(/\n+$/, '')}\n`;
}

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
      return cannotWrite(path, error, 'append');
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
        return cannotWrite(this.#path, error, 'append');
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
