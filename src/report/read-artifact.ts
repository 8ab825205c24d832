import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {open, realpath} from 'node:fs/promises';
import {join, sep} from 'node:path';
import {errorReason} from '../system/error-code.ts';
import type {NamedArtifact} from './run-history.ts';

/** Artifacts of ours are smaller, unless the configuration was opened wide. */
const MAX_BYTES = 4 * 1024 * 1024;
const SAFE = /^(?:[A-Za-z0-9_][\w.-]{0,99}\/){1,3}[A-Za-z0-9_][\w.-]{0,99}$/;

/** What is there of an artifact. `problem` is for the reader, also where there is a text. */
export interface ReadArtifact {
  readonly path: string;
  readonly text: string | undefined;
  readonly bytes: number;
  readonly problem: string | undefined;
  /** It is not what the log vouches for. */
  readonly altered: boolean;
}

/** Reads what a log names: only below its run, only regular files, through no link out of it, and bounded. */
export async function readArtifact(run: string, {path, sha256}: NamedArtifact): Promise<ReadArtifact> {
  const none = (problem: string, altered = true): ReadArtifact => ({
    path,
    text: undefined,
    bytes: 0,
    problem,
    altered,
  });
  if (!SAFE.test(path)) return none('The log names a path outside of the run directory. It was not read.');
  try {
    const root = await realpath(run);
    const real = await realpath(join(root, path));
    if (!real.startsWith(`${root}${sep}`)) return none('It is a link that leaves the run. It was not read.');
    // A FIFO must not keep us waiting.
    const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const info = await file.stat();
      if (!info.isFile()) return none('It is no regular file. It was not read.');
      const buffer = Buffer.alloc(Math.min(info.size, MAX_BYTES));
      const {bytesRead} = await file.read(buffer, 0, buffer.length, 0);
      const content = buffer.subarray(0, bytesRead);
      const isWhole = info.size <= MAX_BYTES;
      const altered = isWhole && sha256 !== undefined && digest(content) !== sha256;
      const cut = isWhole ? undefined : `The first ${MAX_BYTES} of its ${info.size} bytes.`;
      return {
        path,
        text: content.toString('utf8'),
        bytes: info.size,
        problem: altered ? 'It is not what the log vouches for: it was changed after it was written.' : cut,
        altered,
      };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorReason(error);
    return none(`It cannot be read (${code}).`);
  }
}

function digest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
