import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import type {Console} from '../console.ts';
import {BatchTally} from './batch-tally.ts';
import {ProgressLine} from './progress-line.ts';

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
  tally.add({
    url: 'https://e.com/',
    status: 'failed',
    code,
    message: '',
    retryable: false,
    details: {},
    attempts: 1,
    time: '',
    duration_ms: 0,
  });
}
