import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import type {Failure, Json} from '../../core/result.ts';
import type {Console} from '../console.ts';
import {type ListedLine, readListedLines} from './list.ts';
import {BatchTally, refusalPause} from './outcome.ts';
import {ProgressLine} from './progress.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function read(...parts: (string | Uint8Array)[]) {
  const lines: ListedLine[] = [];
  for await (const line of readListedLines(pieces(...parts))) lines.push(line);
  return lines;
}

test('policy: comments and empty lines are passed over, and numbers are those of the file', async () => {
  expect(await read('\ufeff# list\nhttps://a/\r\n\n  https://b/x#y \n', '\t# more\nhttps://', 'c/')).toEqual([
    {line: 2, text: 'https://a/'},
    {line: 4, text: 'https://b/x#y'},
    {line: 6, text: 'https://c/'},
  ]);
});

test('policy: a line that is longer than any address is told, and takes no memory', async () => {
  expect(await read('x'.repeat(20_000), 'x'.repeat(20_000), '\nhttps://a/')).toEqual([
    {line: 1, text: undefined},
    {line: 2, text: 'https://a/'},
  ]);
});

test('policy: bytes that are no UTF-8 end no batch', async () => {
  expect(await read(Uint8Array.of(0xff, 0x0a), 'https://a/')).toEqual([
    {line: 1, text: '\ufffd'},
    {line: 2, text: 'https://a/'},
  ]);
});

const NOW = Date.parse('2026-01-10T12:00:00.000Z');

function failure(status: Json, retry_after?: Json): Failure {
  const details = retry_after === undefined ? {status} : {status, retry_after};
  return {code: 'http_4xx', message: 'm', retryable: true, details};
}

test.each([
  [429, '7', 7000],
  [503, ' 120 ', 120_000],
  [503, '0', 0],
  [429, 'Sat, 10 Jan 2026 12:01:30 GMT', 90_000],
  [429, 'Saturday, 10-Jan-26 12:01:30 GMT', 90_000],
  [429, 'Sat, 10 Jan 2026 11:00:00 GMT', 0],
  [429, '9'.repeat(400), Number.POSITIVE_INFINITY],
])('RFC 9110 §10.2.3 status %j with Retry-After %j is a pause of %j ms', (status, header, pause) => {
  expect(refusalPause(failure(status, header), 1, NOW)).toBe(pause);
});

test.each([['soon'], ['-5'], ['1.5'], ['2026-01-10'], ['12 Jan'], [''], [7]])(
  'policy: Retry-After %j is none, and the pause is doubled at each try',
  header => {
    expect([1, 2, 3].map(attempt => refusalPause(failure(429, header), attempt, NOW))).toEqual([
      5000, 10_000, 20_000,
    ]);
  },
);

test.each([[404], [500], [502], [408], [undefined]])('policy: status %j asks for no pause', status => {
  expect(refusalPause(failure(status ?? null, '7'), 1, NOW)).toBeUndefined();
});

function terminal(columns = 80) {
  const clock = createManualClock();
  const writes: string[] = [];
  const console: Console = {
    out: async text => {
      writes.push(text);
    },
    err: () => {},
    input: new PassThrough(),
    output: new PassThrough(),
    ask: undefined,
    interactive: true,
    errInteractive: true,
    color: false,
    columns,
  };
  const tally = new BatchTally();
  tally.listed = 1000;
  tally.listRead = true;
  const queue = {paused: 0};
  const line = new ProgressLine(tally, queue, console, clock);
  return {clock, writes, tally, queue, line, last: () => writes.at(-1)?.trim() ?? ''};
}

test('policy: it says how far, how fast, how long yet, and what failed', () => {
  const {clock, tally, queue, line, last} = terminal(120);
  line.update();
  tally.fetched = 230;
  for (let times = 0; times < 20; times++) fail(tally, times < 15 ? 'http_4xx' : 'timeout');
  queue.paused = 2;
  clock.advance(10_000);
  expect(last()).toBe(
    '█████░░░░░░░░░░░░░░░ 25%  250/1,000  25/s  30s left  20 failed: http_4xx 15, timeout 5  2 pausing',
  );
});

test('policy: a narrow terminal gets fewer codes, a shorter bar, and never a second line', () => {
  for (let columns = 4; columns < 90; columns++) {
    const {clock, tally, line, last} = terminal(columns);
    line.update();
    tally.fetched = 500;
    for (const code of ['http_4xx', 'timeout', 'network'] as const) fail(tally, code);
    clock.advance(10_000);
    expect(last().length).toBeLessThan(columns);
  }
  const {clock, tally, line, last} = terminal(80);
  line.update();
  for (const code of ['http_4xx', 'http_4xx', 'timeout', 'network'] as const) fail(tally, code);
  clock.advance(1000);
  expect(last()).toContain('4 failed: http_4xx 2, network 1, …');
});

test('policy: it is drawn ten times a second at most, once a second at least', () => {
  const {clock, writes, line} = terminal();
  for (let page = 0; page < 500; page++) {
    line.update();
    clock.advance(1);
  }
  // At 0, 100, 200, 300, 400 and 500 ms.
  expect(writes.length).toBe(6);
  clock.advance(100);
  const drawn = writes.length;
  for (let second = 0; second < 3; second++) clock.advance(1000);
  expect(writes.length).toBe(drawn + 3);
});

test('policy: a list that is still read has no end, so no share and no time are told', () => {
  const {clock, tally, line, last} = terminal();
  tally.listRead = false;
  line.update();
  tally.fetched = 10;
  clock.advance(1000);
  expect(last()).toBe('10/1,000+  10/s');
});

test('policy: what earlier runs finished counts as done and not as speed', () => {
  const {clock, tally, line, last} = terminal();
  tally.skipped = 900;
  line.update();
  tally.fetched = 50;
  clock.advance(10_000);
  expect(last()).toBe('██████████ 95%  950/1,000  5.0/s  10s left');
});

test('red team G12: more that is read than listed is all of it, and no time is left', () => {
  const {clock, tally, line, last} = terminal();
  tally.listed = 10;
  line.update();
  tally.fetched = 20;
  clock.advance(10_000);
  expect(last()).toBe('██████████ 100%  20/10  2.0/s  0s left');
});

test('policy: each line covers the one before, and the end leaves nothing', () => {
  const {clock, tally, writes, line} = terminal();
  let screen = '';
  const play = (): string => {
    for (const text of writes.splice(0)) {
      for (const part of text.split(/(?=\r)/)) {
        const shown = part.replace('\r', '');
        screen = part.startsWith('\r') ? shown + screen.slice(shown.length) : screen + shown;
      }
    }
    return screen.trimEnd();
  };
  fail(tally, 'unsupported_content_type');
  line.update();
  expect(play()).toContain('unsupported_content_type');
  tally.listRead = false;
  tally.listed = 1;
  clock.advance(20_000);
  expect(play()).toBe('1/1+  0.0/s  1 failed: unsupported_content_type 1');
  tally.failed = 0;
  tally.fetched = 1;
  clock.advance(1000);
  expect(play()).toBe('1/1+  0.0/s');
  line.clear();
  expect(play()).toBe('');
  line.end();
  line.update();
  clock.advance(5000);
  expect(play()).toBe('');
  expect(clock.pending()).toBe(0);
});

function fail(
  tally: BatchTally,
  code: 'http_4xx' | 'timeout' | 'network' | 'unsupported_content_type',
): void {
  tally.add({status: 'failed', code, retryable: false});
}
