import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {ioFailure} from '../io-failure.ts';
import {checkHashedLine, INITIAL_HASH} from './event-chain.ts';
import type {RunEvent} from './run-event.ts';

/** Above what the log writes; a longer line was written by something else. */
export const MAX_LINE_BYTES = 1_048_576;

const BLOCK_BYTES = 65_536;
const NEWLINE = 0x0a;

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
          let end = block.indexOf(NEWLINE);
          end >= 0 && end < bytesRead;
          end = block.indexOf(NEWLINE, start)
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
