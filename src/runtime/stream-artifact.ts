import {createHash} from 'node:crypto';
import {closeSync, mkdirSync, openSync, unlinkSync, writeSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/error-code.ts';
import type {Artifact} from './call/call-record.ts';
import {ioFailure} from './io-failure.ts';

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
