// Reads and writes artifacts of a run: whole files, and streams that grow while a command runs.
import {createHash} from 'node:crypto';
import {closeSync, constants, mkdirSync, openSync, unlinkSync, writeSync} from 'node:fs';
import {type FileHandle, lstat, open, readdir, unlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {ok, type Result} from '../core/result.ts';
import type {ArtifactStore, OpenArtifact} from '../core/tool.ts';
import {errorCode, ifRefusedLater} from '../system/errors.ts';
import {ioFailure} from './event-log.ts';
import type {Artifact} from './redact.ts';

const BLOCK_BYTES = 65_536;

/**
 * What lies in a run directory, for the tools of its run. Paths are ours: no caller has a say in them. What is
 * `growing` is somebody's running command, whose output is not taken from under it.
 */
export function artifactStore(root: string, growing: ReadonlySet<string>): ArtifactStore {
  return {
    list: async folder => {
      try {
        return ok(await readdir(join(root, folder)));
      } catch (error) {
        return errorCode(error) === 'ENOENT' ? ok([]) : ioFailure(error, folder, 'list the artifacts');
      }
    },
    open: async path => {
      try {
        // Where commands have no sandbox they reach the run directory: no link, and no FIFO that keeps us waiting.
        const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
        const handle = await open(join(root, path), flags);
        const info = await handle.stat();
        if (info.isFile()) return ok(openArtifact(handle, info.size));
        await handle.close();
        return ok(undefined);
      } catch (error) {
        return errorCode(error) === 'ENOENT' ? ok(undefined) : ioFailure(error, path, 'read the artifact');
      }
    },
    trim: async (folder, maxBytes) => {
      try {
        await trim(join(root, folder), maxBytes, name => growing.has(`${folder}/${name}`));
        return ok(undefined);
      } catch (error) {
        return errorCode(error) === 'ENOENT' ? ok(undefined) : ioFailure(error, folder, 'trim the artifacts');
      }
    },
  };
}

async function trim(
  directory: string,
  maxBytes: number,
  isGrowing: (name: string) => boolean,
): Promise<void> {
  // Made here: to make one takes 7 ms, which a start need not wait for.
  const byNumber = new Intl.Collator('en', {numeric: true}).compare;
  const names = (await readdir(directory)).sort(byNumber);
  const sizes = await Promise.all(names.map(name => sizeOf(join(directory, name))));
  let left = sizes.reduce((sum, bytes) => sum + bytes, 0);
  for (const [at, name] of names.entries()) {
    if (left <= maxBytes) return;
    const bytes = sizes[at] ?? 0;
    if (isGrowing(name)) continue;
    if (bytes > 0) await makeEmpty(join(directory, name));
    left -= bytes;
  }
}

async function sizeOf(path: string): Promise<number> {
  const info = await lstat(path);
  return info.isFile() ? info.size : 0;
}

/** A new file in its place: a call that still writes to the old one does not fill it again. */
async function makeEmpty(path: string): Promise<void> {
  const replace = async (): Promise<void> => {
    await unlink(path);
    await writeFile(path, '', {flag: 'wx', mode: 0o600});
  };
  // Another call may just have done so.
  await ifRefusedLater(replace, undefined, 'ENOENT', 'EEXIST');
}

function openArtifact(handle: FileHandle, bytes: number): OpenArtifact {
  return {
    bytes,
    blocks: async function* (from = 0) {
      for (let at = from; at < bytes; ) {
        const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, bytes - at));
        const {bytesRead} = await handle.read(block, 0, block.length, at);
        if (bytesRead === 0) return;
        yield block.subarray(0, bytesRead);
        at += bytesRead;
      }
    },
    close: () => handle.close(),
  };
}

export interface HashedStream {
  readonly write: (chunk: Uint8Array) => void;
  /** The file with its hash, or `undefined` where nothing was written. */
  readonly finish: () => Result<Artifact | undefined>;
}

/**
 * A new file that grows as its content comes. It is written at once and not queued: whoever writes faster than the
 * disk waits, and no more than one part is in memory. What was written in part is taken away. As long as it grows its
 * name is in `growing`.
 */
export function streamArtifact(
  root: string,
  segments: readonly string[],
  maxBytes: number,
  growing: Set<string>,
): HashedStream {
  const path = join(root, ...segments);
  const name = segments.join('/');
  const hash = createHash('sha256');
  let descriptor: number | undefined;
  let bytes = 0;
  let problem: Error | undefined;

  const close = (): void => {
    growing.delete(name);
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (errorCode(error) === undefined || !(error instanceof Error)) throw error;
      problem ??= error;
    }
  };
  const append = (chunk: Uint8Array): void => {
    if (descriptor === undefined) {
      descriptor = create(path);
      growing.add(name);
    }
    for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
    hash.update(chunk);
    bytes += chunk.length;
  };

  return {
    write: chunk => {
      const kept = chunk.subarray(0, maxBytes - bytes);
      if (problem === undefined && kept.length > 0) guarded(() => append(kept));
    },
    finish: () => {
      const isThere = descriptor !== undefined;
      guarded(close);
      if (problem === undefined)
        return ok(isThere ? {path: name, bytes, sha256: hash.digest('hex')} : undefined);
      if (isThere) guarded(() => unlinkSync(path));
      return ioFailure(problem, name, 'save the artifact');
    },
  };
}

/** A new file. Its directory is there for all but the first. */
function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(path), {recursive: true, mode: 0o700});
    return openSync(path, 'wx', 0o600);
  }
}
