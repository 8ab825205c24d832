import {constants} from 'node:fs';
import {type FileHandle, open, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ok} from '../core/result.ts';
import type {ArtifactStore, OpenArtifact} from '../core/tool.ts';
import {errorCode} from '../system/error-code.ts';
import {ioFailure} from './io-failure.ts';

const BLOCK_BYTES = 65_536;

/** What lies in a run directory, for the tools of its run. Paths are ours: no caller has a say in them. */
export function artifactStore(root: string): ArtifactStore {
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
  };
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
