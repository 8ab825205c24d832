import {closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync} from 'node:fs';
import {type Clock, timestamp} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {ioFailure} from '../io-failure.ts';
import {appendHash} from './event-chain.ts';
import type {EventPayload} from './run-event.ts';
import type {LogCheck} from './verify-log.ts';

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
