import {setMaxListeners} from 'node:events';
import {addAbortSignal, type Readable} from 'node:stream';
import {type Clock, systemClock} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import type {ToolHost} from '../../core/tool-host.ts';
import {badLineResult} from './bad-line-result.ts';
import {parseRequest} from './parse-request.ts';
import {readLines} from './read-lines.ts';

/** Room for the largest diff that a tool takes, written as JSON. */
const MAX_LINE_BYTES = 16_777_216;

export interface JsonlOptions {
  readonly input: Readable;
  /** Resolves when the reader has taken the text. */
  readonly write: (text: string) => Promise<void>;
  /** Ends the session: running calls are cancelled, and their results are still written. */
  readonly signal: AbortSignal;
  /** Calls at the same time; 1 keeps the order of the lines. */
  readonly concurrency: number;
  readonly clock?: Clock;
}

/**
 * A `ToolRequest` a line in, a `ToolResult` a line out, in the order of completion, until the input
 * ends. No line is read while `concurrency` calls run or wait for their reader, so a slow reader slows
 * the session down and costs no memory. A bad line is answered with an error, and the session goes on.
 */
export async function serveJsonl(host: ToolHost, options: JsonlOptions): Promise<void> {
  const {input, write, concurrency, clock = systemClock} = options;
  const readerGone = new AbortController();
  const signal = AbortSignal.any([options.signal, readerGone.signal]);
  // Every call under way listens to it, which is many and no leak.
  setMaxListeners(0, signal);
  const running = new Set<Promise<void>>();

  const answer = async (line: Result<Buffer, number>): Promise<void> => {
    const request = line.ok ? parseRequest(line.value) : tooLong(line.error);
    const result = request.ok
      ? await host.call(request.value, {signal})
      : badLineResult(request.error, clock);
    await write(`${JSON.stringify(result)}\n`).catch((error: unknown) => readerGone.abort(error));
  };

  try {
    for await (const line of readLines(addAbortSignal(signal, input), MAX_LINE_BYTES)) {
      if (signal.aborted) break;
      if (line.ok && isBlank(line.value)) continue;
      const task = answer(line).finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrency) await Promise.race(running);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all(running);
  }
  if (readerGone.signal.aborted) throw readerGone.signal.reason;
}

function tooLong(bytes: number): ReturnType<typeof parseRequest> {
  const reason = `${bytes} bytes long, more than ${MAX_LINE_BYTES}`;
  return {ok: false, error: {request_id: '', tool: '', field: 'line', reason}};
}

function isBlank(line: Buffer): boolean {
  return line.every(byte => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
