// Reads what the run directory holds about a call, for a page of bounded size.
import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {open, realpath} from 'node:fs/promises';
import {join, sep} from 'node:path';
import type {Json} from '../core/result.ts';
import {errorReason} from '../system/errors.ts';
import {
  isObject,
  type JsonObject,
  type NamedArtifact,
  objectIn,
  type RecordedCall,
  textIn,
} from './run-history.ts';

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

/** What the run directory holds about one call, beside its events. */
export interface CallDetails {
  readonly params: Json;
  readonly summary: string | undefined;
  readonly preview: string | undefined;
  /** The `ToolResult`, or nothing of it. */
  readonly result: JsonObject;
  readonly diffs: readonly ReadArtifact[];
  readonly outputs: readonly ReadArtifact[];
  /** The record itself, and whatever else is only named. */
  readonly others: readonly ReadArtifact[];
}

const RECORD = /^calls\/step_\d{4,9}\.json$/;

export async function readCallDetails(run: string, call: RecordedCall): Promise<CallDetails> {
  const artifacts = await Promise.all(call.artifacts.map(artifact => readArtifact(run, artifact)));
  const recordFile = artifacts.find(({path}) => RECORD.test(path));
  const record = parse(recordFile?.text);
  const intent = objectIn(record, 'intent');
  const isDiff = ({path}: ReadArtifact): boolean => path.endsWith('.patch') && !path.endsWith('.undo.patch');
  const isOutput = ({path}: ReadArtifact): boolean => path.startsWith('logs/');
  return {
    params: isObject(record) && record['params'] !== undefined ? record['params'] : call.params,
    summary: textIn(intent, 'summary'),
    preview: textIn(intent, 'preview'),
    result: objectIn(record, 'result'),
    diffs: artifacts.filter(isDiff),
    outputs: artifacts.filter(isOutput),
    others: artifacts.filter(artifact => !isDiff(artifact) && !isOutput(artifact)),
  };
}

function parse(text: string | undefined): Json {
  try {
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch {
    return null;
  }
}

/** How many characters of long texts a call may still bring into the page. */
export class Allowance {
  #left: number;
  #cut = 0;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** Characters that were left out so far. */
  get cut(): number {
    return this.#cut;
  }

  /** The beginning of a text, as much as there is room for. */
  head(text: string, most = Number.POSITIVE_INFINITY): string {
    const size = this.#spend(text, most);
    return size === text.length ? text : text.slice(0, size);
  }

  /** The end of a text, from the beginning of a line. */
  tail(text: string, most: number): string {
    const size = this.#spend(text, most);
    if (size === text.length) return text;
    const end = text.slice(text.length - size);
    return end.slice(end.indexOf('\n') + 1);
  }

  #spend(text: string, most: number): number {
    const size = Math.max(0, Math.min(text.length, most, this.#left));
    this.#left -= size;
    this.#cut += text.length - size;
    return size;
  }
}
