// Opens, locks and writes the directory of one run.
import {type FileHandle, lstat, mkdir, open, realpath, unlink} from 'node:fs/promises';
import {basename, dirname, join, resolve, sep} from 'node:path';
import {type Clock, systemClock} from '../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import type {ArtifactStore} from '../core/tool.ts';
import {type Foreign, makeOwnDirectory} from '../system/directories.ts';
import {errorCode} from '../system/errors.ts';
import {lockHolder, takeFileLock} from '../system/file-lock.ts';
import {replaceFile} from '../system/replace-file.ts';
import {artifactStore, type HashedStream, streamArtifact} from './artifacts.ts';
import {ioFailure} from './event-log.ts';

const FOREIGN: Readonly<Record<Foreign, string>> = {
  not_a_directory: 'is no directory. Use another path.',
  other_owner: 'belongs to another user. Use another path.',
  writable_by_others: 'can be written by other users. Run `chmod 700` on it, or use another path.',
};

/** Folders of the run directory that are not for artifacts. */
const RESERVED = new Set(['approvals']);
const CONTENT_NAME = /^[0-9a-f]{64}$/;

/** Ruling W10: where the log and the artifacts of one session are. */
export interface RunDirectory {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Writes a new file below it, or one that is named by the SHA-256 of its content; the value is the relative path. */
  readonly saveArtifact: (path: string, content: Uint8Array | string) => Promise<Result<string>>;
  /** The same for what is written bit by bit. */
  readonly streamArtifact: (path: string, maxBytes: number) => HashedStream;
  /** What lies there already. */
  readonly artifacts: ArtifactStore;
  /** Lets another process use it. */
  readonly release: () => Promise<void>;
}

/** Creates the directory (0700) or takes an existing one of ours, and locks it. */
export async function openRunDirectory(
  written: string,
  workspace: string | undefined,
  clock: Clock = systemClock,
): Promise<Result<RunDirectory>> {
  try {
    const path = await realTarget(resolve(written));
    if (workspace !== undefined) {
      const root = await realTarget(resolve(workspace));
      // Ruling W10: what a tool can write cannot be its record.
      if (path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) {
        return refuse(path, `is inside the workspace ${JSON.stringify(root)}. Use a directory outside it.`);
      }
    }
    const foreign = makeOwnDirectory(path);
    if (foreign !== undefined) return refuse(path, FOREIGN[foreign]);
    const lock = await lockRun(path, clock);
    if (!lock.ok) return lock;
    const growing = new Set<string>();
    return ok({
      path,
      saveArtifact: (name, content) => saveArtifact(path, name, content),
      streamArtifact: (name, maxBytes) => streamArtifact(path, artifactSegments(name), maxBytes, growing),
      artifacts: artifactStore(path, growing),
      release: lock.value,
    });
  } catch (error) {
    return ioFailure(error, written, 'open the run directory');
  }
}

/** The path with its existing part resolved: a link into the workspace is seen before anything is created. */
async function realTarget(path: string): Promise<string> {
  const missing: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      // A dangling link is not a missing directory: `mkdir` would refuse it, and so do we.
      const isLink = await lstat(existing).then(
        () => true,
        () => false,
      );
      if (errorCode(error) !== 'ENOENT' || isLink || dirname(existing) === existing) throw error;
      missing.unshift(basename(existing));
    }
  }
}

async function saveArtifact(
  root: string,
  name: string,
  content: Uint8Array | string,
): Promise<Result<string>> {
  const segments = artifactSegments(name);
  try {
    const path = join(root, ...segments);
    if (CONTENT_NAME.test(segments.at(-1) ?? '')) {
      // The same content may be there already; what is there and is not that content is replaced whole.
      await mkdir(dirname(path), {recursive: true, mode: 0o700});
      await replaceFile(path, content);
      return ok(name);
    }
    const file = await create(path);
    try {
      await file.writeFile(content);
    } catch (error) {
      // Half an artifact is none.
      await unlink(path).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
    return ok(name);
  } catch (error) {
    return ioFailure(error, name, 'save the artifact');
  }
}

/** The names of a path that a tool may write to. Another one is a bug of the tool. */
function artifactSegments(name: string): readonly string[] {
  const segments = name.split('/');
  const isSafe = segments.every(segment => /^[A-Za-z0-9_][\w.-]{0,99}$/.test(segment));
  const [folder = ''] = segments;
  if (!isSafe || segments.length < 2 || segments.length > 4 || RESERVED.has(folder)) {
    throw new Error(`Expected an artifact path such as "logs/step_0001.txt", got ${JSON.stringify(name)}.`);
  }
  return segments;
}

/** A new file. Its directory is there for all but the first. */
async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), {recursive: true, mode: 0o700});
    return open(path, 'wx', 0o600);
  }
}

function refuse(path: string, problem: string): Err<Failure> {
  return fail('io_error', `The run directory ${JSON.stringify(path)} ${problem}`, {path, operation: 'open'});
}

/** Makes this process the only writer of a run directory. The value releases the lock. */
export async function lockRun(directory: string, clock: Clock): Promise<Result<() => Promise<void>>> {
  const path = runLockPath(directory);
  try {
    const lock = await takeFileLock(path, {clock});
    if (lock.state === 'held') return ok(async () => lock.release());
    const {pid, host} = lock.holder ?? {};
    const who = pid === undefined ? 'another process' : `process ${pid} on ${host}`;
    return fail(
      'io_error',
      `The run directory ${JSON.stringify(directory)} is in use by ${who}. Use another run directory; if that process is gone, delete ${path}.`,
      {path: directory, error: 'in_use', operation: 'lock'},
    );
  } catch (error) {
    return ioFailure(error, directory, 'lock');
  }
}

/** Whether a living process is writing to the run, as far as this machine can tell. */
export function isRunInUse(directory: string, clock: Clock = systemClock): boolean {
  return lockHolder(runLockPath(directory), clock) !== undefined;
}

/** The lock of a run, for whoever takes the run itself away. */
export function runLockPath(directory: string): string {
  return join(directory, 'lock');
}
