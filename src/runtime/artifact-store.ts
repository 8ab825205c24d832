import {constants} from 'node:fs';
import {type FileHandle, lstat, open, readdir, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {ok} from '../core/result.ts';
import type {ArtifactStore, OpenArtifact} from '../core/tool.ts';
import {errorCode} from '../system/error-code.ts';
import {ioFailure} from './io-failure.ts';

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

const byNumber = new Intl.Collator('en', {numeric: true}).compare;

async function sizeOf(path: string): Promise<number> {
  const info = await lstat(path);
  return info.isFile() ? info.size : 0;
}

/** A new file in its place: a call that still writes to the old one does not fill it again. */
async function makeEmpty(path: string): Promise<void> {
  try {
    await unlink(path);
    await writeFile(path, '', {flag: 'wx', mode: 0o600});
  } catch (error) {
    // Another call has just done so.
    if (!['ENOENT', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
  }
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
