import {PassThrough, Readable} from 'node:stream';
import {setImmediate as turn} from 'node:timers/promises';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {ToolRequest, ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';
import {readLines, serveJsonl} from './jsonl.ts';

function resultOf({request_id = '', tool, params}: ToolRequest): ToolResult {
  return {
    request_id,
    tool,
    status: 'success',
    started_at: '2026-01-10T00:00:00.000Z',
    ended_at: '2026-01-10T00:00:00.000Z',
    duration_sec: 0,
    data: params,
    error: null,
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  };
}

function hostOf(call: ToolHost['call']): ToolHost {
  return {listTools: () => [], call, renderText: () => ''};
}

const echo = hostOf(async request => resultOf(request));

async function serve(
  input: string | Readable,
  host = echo,
  concurrency = 8,
  signal = new AbortController().signal,
) {
  const results: ToolResult[] = [];
  const write = async (text: string): Promise<void> => {
    expect(text.endsWith('\n')).toBe(true);
    results.push(JSON.parse(text));
  };
  const stream = typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input;
  await serveJsonl(host, {input: stream, write, signal, concurrency});
  return results;
}

const line = (id: string, params: object = {}): string =>
  `${JSON.stringify({request_id: id, tool: 'echo', params})}\n`;

describe('call --jsonl', () => {
  test('policy: a ToolRequest a line in, a ToolResult a line out', async () => {
    const results = await serve(`${line('a', {text: 'ä\u2028'})}\r\n   \n${line('b').trim()}`);
    expect(results.map(({request_id, data}) => [request_id, data])).toEqual([
      ['a', {text: 'ä\u2028'}],
      ['b', {}],
    ]);
  });

  test('policy: answers come in the order of completion', async () => {
    const host = hostOf(async request => {
      if (request.request_id === 'slow') for (let i = 0; i < 5; i++) await turn();
      return resultOf(request);
    });
    const ids = async (concurrency: number) =>
      (await serve(line('slow') + line('quick'), host, concurrency)).map(({request_id}) => request_id);
    expect(await ids(8)).toEqual(['quick', 'slow']);
    expect(await ids(1)).toEqual(['slow', 'quick']);
  });

  test.each([
    ['nope', '', 'line', 'not valid JSON'],
    ['[1]', '', 'line', 'not a JSON object'],
    ['{"request_id":"r","params":{}}', 'r', 'tool', 'expected the name of a tool'],
    ['{"request_id":"r","tool":""}', 'r', 'tool', 'expected the name of a tool'],
    ['{"request_id":7,"tool":"echo"}', '', 'request_id', 'expected a string'],
    ['{"request_id":"r","tool":"echo","params":[]}', 'r', 'params', 'expected an object'],
    ['{"request_id":"r","tool":"echo","params":null}', 'r', 'params', 'expected an object'],
  ])('policy: %s is answered with an error, and the session goes on', async (bad, id, field, reason) => {
    const [first, second] = await serve(`${bad}\n${line('good')}`, echo, 1);
    expect(first).toMatchObject({
      request_id: id,
      status: 'error',
      data: null,
      error: {error_type: 'invalid_params', retryable: false, details: {field, reason}},
    });
    expect(Object.keys(first ?? {})).toEqual(Object.keys(resultOf({request_id: '', tool: '', params: {}})));
    expect(second).toMatchObject({request_id: 'good', status: 'success'});
  });

  test('policy: bytes that are no UTF-8 and a line that is too long are answered too', async () => {
    const input = Readable.from([
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      ...Array.from({length: 17}, () => Buffer.alloc(1_048_576, 'x')),
      Buffer.from(`\n${line('good')}`),
    ]);
    const results = await serve(input, echo, 1);
    expect(results.map(({error}) => error?.details?.['reason'] ?? null)).toEqual([
      'not UTF-8',
      '17825792 bytes long, more than 16777216',
      null,
    ]);
  });

  test('policy: a reader that takes nothing stops the reading: bounded memory', async () => {
    let called = 0;
    let produced = 0;
    const host = hostOf(async request => {
      called += 1;
      return resultOf(request);
    });
    const input = Readable.from(
      (async function* () {
        for (; produced < 10_000; produced++) yield Buffer.from(line(String(produced)));
      })(),
      {highWaterMark: 1},
    );
    const stop = new AbortController();
    let release = (): void => {};
    const taken = new Promise<void>(resolve => {
      release = resolve;
    });
    const served = serveJsonl(host, {input, write: () => taken, signal: stop.signal, concurrency: 4});
    for (let i = 0; i < 200; i++) await turn();
    expect(called).toBe(4);
    expect(produced).toBeLessThan(10);
    stop.abort();
    release();
    await served;
  });

  test('policy: an interrupt cancels the calls, and their results are still written', async () => {
    const stop = new AbortController();
    const input = new PassThrough();
    input.write(line('a'));
    const host = hostOf(
      (request, options) =>
        new Promise(resolve => {
          options?.signal?.addEventListener('abort', () => resolve({...resultOf(request), status: 'error'}));
          stop.abort();
        }),
    );
    expect(await serve(input, host, 8, stop.signal)).toMatchObject([{request_id: 'a', status: 'error'}]);
  });

  test('policy: a reader that has gone cancels the calls and ends the session', async () => {
    const input = new PassThrough();
    input.write(line('slow') + line('quick') + line('never'));
    const cancelled: string[] = [];
    const host = hostOf((request, options) => {
      if (request.request_id === 'quick') return Promise.resolve(resultOf(request));
      return new Promise(resolve => {
        options?.signal?.addEventListener('abort', () => {
          cancelled.push(request.request_id ?? '');
          resolve(resultOf(request));
        });
      });
    });
    const write = () => Promise.reject(new Error('gone'));
    const signal = new AbortController().signal;
    await expect(serveJsonl(host, {input, write, signal, concurrency: 2})).rejects.toThrow('gone');
    expect(cancelled).toEqual(['slow']);
  });

  test('policy: 1,000 calls, each answered once, whatever the order', async () => {
    const host = hostOf(async request => {
      for (let i = Number(request.request_id) % 7; i > 0; i--) await turn();
      return resultOf(request);
    });
    const all = Array.from({length: 1000}, (_, index) => String(index));
    const results = await serve(all.map(id => line(id, {id})).join(''), host, 64);
    expect(results.map(({data}) => (data as {id: string}).id).sort()).toEqual([...all].sort());
    expect(results.every(({request_id, data}) => (data as {id: string}).id === request_id)).toBe(true);
  });
});

test('policy: lines are the same however the stream is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({unit: fc.constantFrom('a', 'ü', '\r', ' ')}), {maxLength: 8}),
      fc.array(fc.integer({min: 1, max: 5}), {minLength: 1, maxLength: 6}),
      async (lines, sizes) => {
        const bytes = Buffer.from(lines.map(text => `${text}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const found: string[] = [];
        for await (const read of readLines(Readable.from(chunks), 1000)) {
          found.push(read.ok ? read.value.toString() : 'too long');
        }
        expect(found).toEqual(lines);
      },
    ),
  );
});
