// Serves calls as JSON lines (`call --jsonl`): a request a line in, a result a line out.
import {setMaxListeners} from 'node:events';
import {addAbortSignal, type Readable} from 'node:stream';
import {type Clock, systemClock, timestamp} from '../core/clock.ts';
import {fail, type Json, ok, type Result} from '../core/result.ts';
import {wellFormedJson} from '../core/text/parse.ts';
import {type ToolRequest, type ToolResult, toolError} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

/** Room for the largest diff that a tool takes, written as JSON. */
const MAX_LINE_BYTES = 16_777_216;

interface JsonlOptions {
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

const NEWLINE = 0x0a;

/**
 * Lines of a byte stream without their newline, the last one with or without it. A line above
 * `maxBytes` is an error that says how long it was; no more than `maxBytes` of it are kept.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Result<Buffer, number>> {
  let pieces: Uint8Array[] = [];
  let size = 0;

  const take = (piece: Uint8Array): void => {
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const finish = (): Result<Buffer, number> => {
    const line: Result<Buffer, number> =
      size <= maxBytes ? ok(Buffer.concat(pieces)) : {ok: false, error: size};
    pieces = [];
    size = 0;
    return line;
  };

  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      yield finish();
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  if (size > 0) yield finish();
}

/** A line that is no request, with as much of it as says which one it was. */
interface BadLine {
  readonly request_id: string;
  readonly tool: string;
  readonly field: string;
  readonly reason: string;
}

/** One line as a `ToolRequest`. Fields that it does not have are ignored; missing `params` are `{}` (ruling H2). */
export function parseRequest(line: Uint8Array): Result<ToolRequest, BadLine> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(line));
  } catch (error) {
    // The words of the parser quote the line, which may hold what no message should.
    const reason = error instanceof SyntaxError ? 'not valid JSON' : 'not UTF-8';
    return {ok: false, error: {request_id: '', tool: '', field: 'line', reason}};
  }
  if (!isTable(value)) {
    return {ok: false, error: {request_id: '', tool: '', field: 'line', reason: 'not a JSON object'}};
  }
  const {tool, params = {}, request_id: id = ''} = value;
  const known = {request_id: typeof id === 'string' ? id : '', tool: typeof tool === 'string' ? tool : ''};
  const wrong = (field: string, reason: string): Result<never, BadLine> => ({
    ok: false,
    error: {...known, field, reason},
  });
  if (typeof tool !== 'string' || tool === '') return wrong('tool', 'expected the name of a tool');
  if (typeof id !== 'string') return wrong('request_id', 'expected a string');
  if (!isTable(params)) return wrong('params', 'expected an object');
  return ok({tool, params, request_id: id});
}

type Table = {readonly [name: string]: Json};

/** What `JSON.parse` returned is JSON already. */
function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The answer to a line that is no request: a `ToolResult` like any other, so that a client reads one shape. */
function badLineResult({request_id, tool, field, reason}: BadLine, clock: Clock): ToolResult {
  const now = timestamp(clock.now());
  const what = field === 'line' ? 'The line is no ToolRequest' : `"${field}" of the ToolRequest is wrong`;
  return wellFormedJson({
    request_id,
    tool,
    status: 'error',
    started_at: now,
    ended_at: now,
    duration_sec: 0,
    data: null,
    error: toolError(
      fail(
        'invalid_params',
        `${what}: ${reason}. Send {"request_id": "…", "tool": "…", "params": {…}} on one line.`,
        {field, reason},
      ).error,
    ),
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  });
}
