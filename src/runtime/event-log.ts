// Writes and verifies the event log. Each line holds the hash of the line before.
import {createHash} from 'node:crypto';
import {closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {type Clock, timestamp} from '../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {errorCode} from '../system/errors.ts';
import type {EventPayload, RunEvent} from './run-event.ts';

/** What the first line follows. */
export const INITIAL_HASH = '0'.repeat(64);

const HASH_FIELD = Buffer.from(',"hash":"');
/** `,"hash":"` + 64 digits + `"}` */
const HASH_FIELD_BYTES = HASH_FIELD.length + 64 + 2;

interface HashedLine {
  /** Without the newline. */
  readonly line: Buffer;
  readonly hash: string;
}

/**
 * `{"seq":…,"time":…,"event":…,"payload":…,"hash":"…"}`. The hash is over the hash of the line before
 * and the bytes of this one up to its hash: a changed, missing or moved line breaks all that follow.
 */
export function appendHash({seq, time, event, payload}: RunEvent, previous: string): HashedLine {
  const body = Buffer.from(JSON.stringify({seq, time, event, payload}).slice(0, -1));
  const hash = chainHash(previous, body);
  return {line: Buffer.concat([body, HASH_FIELD, Buffer.from(`${hash}"}`)]), hash};
}

/** Checks one line against what comes before it. The error is what is wrong with it. */
export function checkHashedLine(
  line: Buffer,
  previous: string,
  seq: number,
): Result<{readonly event: RunEvent; readonly hash: string}, string> {
  const at = line.length - HASH_FIELD_BYTES;
  if (at <= 0 || !line.subarray(at, at + HASH_FIELD.length).equals(HASH_FIELD)) return wrong('has no hash');
  const body = line.subarray(0, at);
  const hash = chainHash(previous, body);
  if (!line.subarray(at + HASH_FIELD.length).equals(Buffer.from(`${hash}"}`))) {
    return wrong('does not have the hash of its content and the line before');
  }
  const event = parse(`${body}}`);
  if (event === undefined) return wrong('is no event');
  if (event.seq !== seq) return wrong(`has the number ${event.seq} where ${seq} is due`);
  return ok({event, hash});
}

function parse(text: string): RunEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is RunEvent {
  if (typeof value !== 'object' || value === null) return false;
  const {seq, time, event, payload} = value as Readonly<Partial<Record<keyof RunEvent, unknown>>>;
  return (
    Number.isSafeInteger(seq) &&
    typeof time === 'string' &&
    typeof event === 'string' &&
    typeof payload === 'object' &&
    payload !== null
  );
}

function chainHash(previous: string, body: Buffer): string {
  return createHash('sha256').update(previous).update(body).digest('hex');
}

function wrong(reason: string): Result<never, string> {
  return {ok: false, error: reason};
}

/**
 * Ruling W10: appends events, a line a write. Writing is synchronous: a line is in the file, whole and
 * in order, when `append` returns, and a process killed at any moment leaves whole lines and at most
 * one partial one. It is not flushed to the disk line by line; `close` does that.
 */
export class JsonlLog {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #file: number;
  #seq: number;
  #head: string;
  #bytes: number;
  #broken = false;

  /** `end` is what `verifyLog` found; a partial line has to be cut off before. */
  constructor(path: string, end: Pick<LogCheck, 'events' | 'head' | 'bytes'>, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    const {O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW} = constants;
    this.#file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    this.#seq = end.events;
    this.#head = end.head;
    this.#bytes = end.bytes;
  }

  append(event: string, payload: EventPayload): Result<undefined> {
    if (this.#broken) return this.#refuse('is not in order since a write to it failed');
    const seq = this.#seq + 1;
    const {line, hash} = appendHash({seq, time: timestamp(this.#clock.now()), event, payload}, this.#head);
    try {
      if (fstatSync(this.#file).size !== this.#bytes) {
        this.#broken = true;
        return this.#refuse('was changed by another process');
      }
      const written = writeSync(this.#file, Buffer.concat([line, NEWLINE]));
      if (written !== line.length + 1) {
        this.#undo();
        return this.#refuse('took part of a line only');
      }
    } catch (error) {
      this.#undo();
      return ioFailure(error, this.#path, 'append to');
    }
    this.#seq = seq;
    this.#head = hash;
    this.#bytes += line.length + 1;
    return ok();
  }

  /** Flushes the log to the disk. It is closed in any case. */
  close(): Result<undefined> {
    this.#broken = true;
    try {
      try {
        fsyncSync(this.#file);
      } finally {
        closeSync(this.#file);
      }
      return ok();
    } catch (error) {
      return ioFailure(error, this.#path, 'synchronise');
    }
  }

  /** The next line must not be glued to half a one. */
  #undo(): void {
    try {
      ftruncateSync(this.#file, this.#bytes);
    } catch {
      this.#broken = true;
    }
  }

  #refuse(reason: string): Result<never> {
    return fail('io_error', `The event log ${JSON.stringify(this.#path)} ${reason}. Start a new run.`, {
      path: this.#path,
      error: 'log_broken',
      operation: 'append to',
    });
  }
}

const NEWLINE = Buffer.from('\n');

/** Above what the log writes; a longer line was written by something else. */
export const MAX_LINE_BYTES = 1_048_576;

const BLOCK_BYTES = 65_536;
const NEWLINE_BYTE = 0x0a;

/**
 * `torn`: a crash cut the last line off, what precedes it verifies. `tampered`: a complete line is
 * not what was written; `problem` says which. Whole lines missing at the end cannot be seen from the
 * file alone: compare `head` with a copy that was kept elsewhere.
 */
export interface LogCheck {
  readonly state: 'intact' | 'torn' | 'tampered';
  /** Lines that verify. */
  readonly events: number;
  /** Hash of the last of them. */
  readonly head: string;
  /** Bytes of the lines that verify. */
  readonly bytes: number;
  readonly tornBytes: number;
  readonly problem?: {readonly line: number; readonly reason: string};
}

/** Where to read on: what an earlier check has verified. */
export type LogPosition = Pick<LogCheck, 'events' | 'head' | 'bytes'>;

const BEGINNING: LogPosition = {events: 0, head: INITIAL_HASH, bytes: 0};

/** Reads a log once, in bounded memory, from its beginning or on from `from`, and hands on each line that verifies. */
export async function verifyLog(
  path: string,
  onEvent: (event: RunEvent) => void = () => {},
  from: LogPosition = BEGINNING,
): Promise<Result<LogCheck>> {
  let {events, head, bytes} = from;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const check = (state: LogCheck['state'], reason?: string): Result<LogCheck> =>
    ok({
      state,
      events,
      head,
      bytes,
      tornBytes: state === 'torn' ? pendingBytes : 0,
      ...(reason === undefined ? {} : {problem: {line: events + 1, reason}}),
    });

  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      if ((await file.stat()).size < bytes) {
        return check('tampered', 'follows lines that are no longer there');
      }
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      for (let position = bytes; ; ) {
        const {bytesRead} = await file.read(block, 0, BLOCK_BYTES, position);
        position += bytesRead;
        if (bytesRead === 0) return check(pendingBytes === 0 ? 'intact' : 'torn');
        let start = 0;
        for (
          let end = block.indexOf(NEWLINE_BYTE);
          end >= 0 && end < bytesRead;
          end = block.indexOf(NEWLINE_BYTE, start)
        ) {
          const line = Buffer.concat([...pending, block.subarray(start, end)]);
          const opened = checkHashedLine(line, head, events + 1);
          if (!opened.ok) return check('tampered', opened.error);
          onEvent(opened.value.event);
          head = opened.value.hash;
          events += 1;
          bytes += line.length + 1;
          pending = [];
          pendingBytes = 0;
          start = end + 1;
        }
        pending.push(Buffer.from(block.subarray(start, bytesRead)));
        pendingBytes += bytesRead - start;
        if (pendingBytes > MAX_LINE_BYTES) return check('tampered', `is longer than ${MAX_LINE_BYTES} bytes`);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    return ioFailure(error, path, 'read');
  }
}

/** Turns an operating-system error into a failure; a bug is thrown on. */
export function ioFailure(error: unknown, path: string, operation: string): Err<Failure> {
  const code = errorCode(error);
  if (code === undefined) throw error;
  return fail(
    'io_error',
    `Could not ${operation} ${JSON.stringify(path)}: ${code}. Check permissions and free space.`,
    {path, error: code, operation},
  );
}
