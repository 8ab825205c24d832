// Keeps calls that wait for an approval as files of the run directory. Another process can approve them.
import {mkdir, readdir, readFile, rename, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {type Clock, randomHex, timestamp} from '../../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {cutMiddle, takeStart} from '../../core/text/cut.ts';
import {errorCode, ifRefusedLater} from '../../system/errors.ts';
import {replaceFile} from '../../system/replace-file.ts';
import {ioFailure} from '../event-log.ts';

/** How long a call waits for its approval, and how long an approval waits for its call. */
const LIFETIME_MS = 3_600_000;
/** A model that tries variants may not fill the disk; the oldest go. */
const MOST_PENDING = 100;
const LONGEST_PREVIEW = 65_536;
const ID = /^[0-9a-f]{20}$/;

export interface PendingApproval {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly preview: string;
  /** `approvalHash` of the one call that it is good for. */
  readonly hash: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/**
 * Calls that no approver could be asked about, as files of the run directory: another process approves one,
 * and the same call passes once when it is made again. Tools and their sandbox do not reach them there.
 */
export class PendingApprovals {
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(runDirectory: string, clock: Clock) {
    this.#directory = join(runDirectory, 'approvals');
    this.#clock = clock;
  }

  /** The id is made of the hash, so a call that is repeated stays one question. */
  async add(
    call: Pick<PendingApproval, 'tool' | 'summary' | 'preview' | 'hash'>,
  ): Promise<Result<PendingApproval>> {
    const now = this.#clock.now();
    const pending: PendingApproval = {
      id: idOf(call.hash),
      tool: call.tool,
      summary: call.summary,
      preview: cutMiddle(call.preview, LONGEST_PREVIEW),
      hash: call.hash,
      created_at: timestamp(now),
      expires_at: timestamp(now + LIFETIME_MS),
    };
    try {
      await mkdir(this.#directory, {recursive: true, mode: 0o700});
      await this.#makeRoom();
      await replaceFile(this.#path(pending.id, 'pending'), JSON.stringify(pending));
      return ok(pending);
    } catch (error) {
      return ioFailure(error, this.#directory, 'store an approval in');
    }
  }

  /** What waits, oldest first. */
  async list(): Promise<Result<readonly PendingApproval[]>> {
    try {
      return ok(await this.#read('pending'));
    } catch (error) {
      return ioFailure(error, this.#directory, 'read');
    }
  }

  /** Allows the call once, within the hour. */
  async approve(id: string): Promise<Result<PendingApproval>> {
    const taken = await this.#take(id);
    if (!taken.ok) return taken;
    const approved = {...taken.value, expires_at: timestamp(this.#clock.now() + LIFETIME_MS)};
    try {
      await replaceFile(this.#path(id, 'approved'), JSON.stringify(approved));
      await this.#remove(id, 'pending');
      return ok(approved);
    } catch (error) {
      return ioFailure(error, this.#directory, 'store an approval in');
    }
  }

  /** Forgets the call; it is asked about again when it is made again. */
  async dismiss(id: string): Promise<Result<PendingApproval>> {
    const taken = await this.#take(id);
    if (taken.ok) await this.#remove(id, 'pending');
    return taken;
  }

  /** Uses the approval of the call up. Of several who try at once, one succeeds. */
  async redeem(hash: string): Promise<boolean> {
    const id = idOf(hash);
    const claim = join(this.#directory, `${id}.${randomHex(6)}.claim`);
    try {
      await rename(this.#path(id, 'approved'), claim);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
    const approval = await this.#readFile(claim);
    await unlink(claim);
    return approval?.hash === hash;
  }

  async #makeRoom(): Promise<void> {
    const names = await readdir(this.#directory);
    if (names.length < MOST_PENDING) return;
    const all = await this.#read('pending');
    for (const {id} of all.slice(0, Math.max(0, all.length - MOST_PENDING + 1)))
      await this.#remove(id, 'pending');
  }

  async #take(id: string): Promise<Result<PendingApproval>> {
    try {
      const pending = ID.test(id) ? await this.#readFile(this.#path(id, 'pending')) : undefined;
      return pending === undefined ? unknown(id) : ok(pending);
    } catch (error) {
      return ioFailure(error, this.#directory, 'read');
    }
  }

  async #read(state: State): Promise<readonly PendingApproval[]> {
    const names = await readdir(this.#directory).catch(missingIsEmpty);
    const found: PendingApproval[] = [];
    for (const name of names) {
      const id = name.slice(0, name.indexOf('.'));
      if (name !== `${id}.${state}.json` || !ID.test(id)) continue;
      const approval = await this.#readFile(join(this.#directory, name));
      if (approval === undefined) await this.#remove(id, state);
      else found.push(approval);
    }
    return found.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  /** `undefined` where there is none, or one that expired or is not ours. */
  async #readFile(path: string): Promise<PendingApproval | undefined> {
    const text = await ifRefusedLater(() => readFile(path, 'utf8'), '', 'ENOENT');
    const approval = parse(text);
    if (approval === undefined) return undefined;
    return approval.expires_at > timestamp(this.#clock.now()) ? approval : undefined;
  }

  async #remove(id: string, state: State): Promise<void> {
    await unlink(this.#path(id, state)).catch(() => {});
  }

  #path(id: string, state: State): string {
    return join(this.#directory, `${id}.${state}.json`);
  }
}

type State = 'pending' | 'approved';

function idOf(hash: string): string {
  return hash.slice(0, 20);
}

function parse(text: string): PendingApproval | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isApproval(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const FIELDS = ['id', 'tool', 'summary', 'preview', 'hash', 'created_at', 'expires_at'] as const;

function isApproval(value: unknown): value is PendingApproval {
  if (typeof value !== 'object' || value === null) return false;
  return FIELDS.every(field => typeof (value as Readonly<Record<string, unknown>>)[field] === 'string');
}

function missingIsEmpty(error: unknown): readonly string[] {
  if (errorCode(error) === 'ENOENT') return [];
  throw error;
}

function unknown(id: string): Err<Failure> {
  const shown = JSON.stringify(takeStart(id, 40));
  return fail(
    'invalid_params',
    `No approval ${shown} is waiting. It may have been given or have expired; list those that wait, or make the call again.`,
    {field: 'id', reason: 'unknown or expired'},
  );
}
