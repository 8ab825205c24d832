import {createHash} from 'node:crypto';
import {appendFile, mkdir, readFile, stat, symlink, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {readEvents, tempDirectory} from '../../test/support/open-test-runtime.ts';
import {systemClock} from '../core/clock.ts';
import {
  appendHash,
  checkHashedLine,
  INITIAL_HASH,
  JsonlLog,
  type LogPosition,
  MAX_LINE_BYTES,
  verifyLog,
} from './event-log.ts';
import type {RunEvent} from './run-event.ts';

const EVENT = {seq: 1, time: '2026-01-10T00:00:00.000Z', event: 'x', payload: {a: 'é\n\ud800', hash: '"}'}};

test('ruling W10 a line is one JSON object with seq, time, event, payload and hash', () => {
  const {line, hash} = appendHash(EVENT, INITIAL_HASH);
  expect(JSON.parse(String(line))).toEqual({...EVENT, hash});
  expect(Object.keys(JSON.parse(String(line)))).toEqual(['seq', 'time', 'event', 'payload', 'hash']);
  expect(line.includes(0x0a)).toBe(false);
  expect(checkHashedLine(line, INITIAL_HASH, 1)).toEqual({ok: true, value: {event: EVENT, hash}});
});

test.each([
  ['text', 'is no event'],
  ['null', 'is no event'],
  ['{"seq":1}', 'is no event'],
  ['{"seq":1.5,"time":"","event":"","payload":{}}', 'is no event'],
  ['{"seq":1,"time":1,"event":"","payload":{}}', 'is no event'],
  ['{"seq":1,"time":"","event":1,"payload":{}}', 'is no event'],
  ['{"seq":1,"time":"","event":"","payload":null}', 'is no event'],
  ['{"seq":1,"time":"","event":"","payload":"{}"}', 'is no event'],
  ['{"seq":2,"time":"","event":"","payload":{}}', 'has the number 2 where 1 is due'],
])('ruling W10 a line that has the right hash and holds %s %s', (written, error) => {
  const body = Buffer.from(written.slice(0, -1));
  const hash = createHash('sha256').update(INITIAL_HASH).update(body).digest('hex');
  const line = Buffer.from(`${body},"hash":"${hash}"}`);
  expect(checkHashedLine(line, INITIAL_HASH, 1)).toEqual({ok: false, error});
});

test('policy: any changed byte, number or predecessor is seen', () => {
  const {line} = appendHash(EVENT, INITIAL_HASH);
  fc.assert(
    fc.property(fc.nat(line.length - 1), fc.integer({min: 1, max: 255}), (at, flip) => {
      const changed = Buffer.from(line);
      changed[at] = (changed[at] ?? 0) ^ flip;
      expect(checkHashedLine(changed, INITIAL_HASH, 1).ok).toBe(false);
    }),
  );
  expect(checkHashedLine(line, INITIAL_HASH, 2)).toEqual({
    ok: false,
    error: 'has the number 1 where 2 is due',
  });
  expect(checkHashedLine(line, 'f'.repeat(64), 1).ok).toBe(false);
  expect(checkHashedLine(Buffer.from('{}'), INITIAL_HASH, 1)).toEqual({ok: false, error: 'has no hash'});
});

describe('jsonl log', () => {
  const BEGINNING: LogPosition = {events: 0, head: INITIAL_HASH, bytes: 0};

  async function opened() {
    const directory = await tempDirectory();
    const path = join(directory, 'events.jsonl');
    return {directory, path, log: new JsonlLog(path, BEGINNING, systemClock)};
  }

  const broken = (path: string, why: string) => ({
    ok: false,
    error: {
      code: 'io_error',
      message: `The event log ${JSON.stringify(path)} ${why}. Start a new run.`,
      retryable: false,
      details: {path, error: 'log_broken', operation: 'append to'},
    },
  });

  describe('ruling W10: writing the log', () => {
    test('a line an event, numbered and dated, in a private file', async () => {
      const directory = await tempDirectory();
      const path = join(directory, 'events.jsonl');
      const clock = createManualClock();
      const log = new JsonlLog(path, BEGINNING, clock);
      expect(log.append('one', {a: 1})).toEqual({ok: true, value: undefined});
      clock.advance(1500);
      expect(log.append('two', {})).toEqual({ok: true, value: undefined});
      expect(log.close()).toEqual({ok: true, value: undefined});
      const events = await readEvents(directory);
      expect(events).toEqual([
        {seq: 1, time: '2026-01-01T00:00:00.000Z', event: 'one', payload: {a: 1}, hash: expect.any(String)},
        {seq: 2, time: '2026-01-01T00:00:01.500Z', event: 'two', payload: {}, hash: expect.any(String)},
      ]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    });

    test('it goes on where a check ended', async () => {
      const {path, directory, log} = await opened();
      log.append('one', {});
      log.close();
      const check = await verifyLog(path);
      if (!check.ok) throw new Error(check.error.message);
      const next = new JsonlLog(path, check.value, systemClock);
      next.append('two', {});
      next.close();
      expect((await readEvents(directory)).map(({seq}) => seq)).toEqual([1, 2]);
      expect(await verifyLog(path)).toMatchObject({ok: true, value: {state: 'intact', events: 2}});
    });

    test('another writer is seen, and ends it for good', async () => {
      const {path, log} = await opened();
      log.append('one', {});
      const {size} = await stat(path);
      await appendFile(path, 'x');
      expect(log.append('two', {})).toEqual(broken(path, 'was changed by another process'));
      await truncate(path, size);
      expect(log.append('two', {})).toEqual(broken(path, 'is not in order since a write to it failed'));
      log.close();
    });

    test('a closed one takes nothing more, and is closed once', async () => {
      const {path, log} = await opened();
      log.close();
      expect(log.append('one', {})).toEqual(broken(path, 'is not in order since a write to it failed'));
      expect(log.close()).toEqual({
        ok: false,
        error: {
          code: 'io_error',
          message: `Could not synchronise ${JSON.stringify(path)}: EBADF. Check permissions and free space.`,
          retryable: false,
          details: {path, error: 'EBADF', operation: 'synchronise'},
        },
      });
    });

    test('a link is not followed', async () => {
      const directory = await tempDirectory();
      await symlink('other', join(directory, 'events.jsonl'));
      expect(() => new JsonlLog(join(directory, 'events.jsonl'), BEGINNING, systemClock)).toThrow('ELOOP');
    });

    test('a disk that is full takes no line, and what is there stays whole', async () => {
      const log = new JsonlLog('/dev/full', BEGINNING, systemClock);
      expect(log.append('one', {})).toEqual({
        ok: false,
        error: {
          code: 'io_error',
          message: 'Could not append to "/dev/full": ENOSPC. Check permissions and free space.',
          retryable: false,
          details: {path: '/dev/full', error: 'ENOSPC', operation: 'append to'},
        },
      });
      expect(log.append('one', {})).toEqual(
        broken('/dev/full', 'is not in order since a write to it failed'),
      );
      expect(log.close()).toMatchObject({ok: false, error: {details: {error: 'EINVAL'}}});
    });
  });

  const EVENT: RunEvent = {seq: 1, time: '2026-01-01T00:00:00.000Z', event: 'x', payload: {}};

  function linesOf(events: readonly RunEvent[]): {readonly text: string; readonly heads: readonly string[]} {
    const heads = [INITIAL_HASH];
    let text = '';
    for (const event of events) {
      const {line, hash} = appendHash(event, heads.at(-1) ?? '');
      text += `${line}\n`;
      heads.push(hash);
    }
    return {text, heads};
  }

  async function checked(content: string | Buffer, from?: LogPosition) {
    const path = join(await tempDirectory(), 'events.jsonl');
    await writeFile(path, content);
    const events: RunEvent[] = [];
    const result = await verifyLog(path, event => events.push(event), from);
    return {result, events, path};
  }

  describe('ruling W10: checking the log', () => {
    const EVENTS = [1, 2, 3].map(seq => ({...EVENT, seq, payload: {n: seq}}));
    const {text, heads} = linesOf(EVENTS);
    const [first = ''] = text.split('\n');

    test('an intact one: how many lines, the last hash and the bytes', async () => {
      const {result, events} = await checked(text);
      expect(result).toEqual({
        ok: true,
        value: {state: 'intact', events: 3, head: heads[3], bytes: text.length, tornBytes: 0},
      });
      expect(events).toEqual(EVENTS.map(event => expect.objectContaining(event)));
      const empty = await checked('');
      expect(empty.result).toEqual({
        ok: true,
        value: {state: 'intact', events: 0, head: INITIAL_HASH, bytes: 0, tornBytes: 0},
      });
    });

    test('a torn one: how much of the last line there is', async () => {
      const {result} = await checked(text.slice(0, -5));
      const lastLine = text.length - text.trimEnd().lastIndexOf('\n') - 1;
      expect(result).toEqual({
        ok: true,
        value: {
          state: 'torn',
          events: 2,
          head: heads[2],
          bytes: text.length - lastLine,
          tornBytes: lastLine - 5,
        },
      });
    });

    test.each(
      // biome-ignore format: a case is a line
      [
        ['an empty line first', `\n${text}`, 0, 'has no hash'],
        ['no JSON', 'x'.repeat(200).concat('\n'), 0, 'has no hash'],
        ['a changed line', text.replace('"n":2', '"n":7'), 1, 'does not have the hash of its content and the line before'],
        ['a missing line', text.slice(first.length + 1), 0, 'does not have the hash of its content and the line before'],
        ['an odd number', linesOf([{...EVENT, seq: 7}]).text, 0, 'has the number 7 where 1 is due'],
        ['no event', linesOf([{...EVENT, seq: 1.5}]).text, 0, 'is no event'],
        ['a name that is none', linesOf([{...EVENT, event: 7 as never}]).text, 0, 'is no event'],
        ['a time that is none', linesOf([{...EVENT, time: 7 as never}]).text, 0, 'is no event'],
        ['a payload that is none', linesOf([{...EVENT, payload: null as never}]).text, 0, 'is no event'],
        ['a payload that is a text', linesOf([{...EVENT, payload: 'x' as never}]).text, 0, 'is no event'],
      ],
    )('a changed one: %s', async (_, content, events, reason) => {
      const {result} = await checked(content);
      const lines = content.split('\n').slice(0, events);
      expect(result).toEqual({
        ok: true,
        value: {
          state: 'tampered',
          events,
          head: heads[events],
          bytes: lines.reduce((sum, line) => sum + line.length + 1, 0),
          tornBytes: 0,
          problem: {line: events + 1, reason},
        },
      });
    });

    test('it goes on from what was checked before', async () => {
      const from = {events: 1, head: heads[1] ?? '', bytes: first.length + 1};
      const {result, events} = await checked(text, from);
      expect(result).toMatchObject({ok: true, value: {state: 'intact', events: 3, bytes: text.length}});
      expect(events.map(({seq}) => seq)).toEqual([2, 3]);
      const shorter = await checked(text.slice(0, first.length), from);
      expect(shorter.result).toEqual({
        ok: true,
        value: {
          state: 'tampered',
          ...from,
          tornBytes: 0,
          problem: {line: 2, reason: 'follows lines that are no longer there'},
        },
      });
      expect((await checked(`${first}\n`, from)).result).toMatchObject({value: {state: 'intact', events: 1}});
    });

    test('lines that are longer than a block are put together', async () => {
      const long = [1, 2, 3].map(seq => ({...EVENT, seq, payload: {text: 'x'.repeat(100_000 + seq)}}));
      const written = linesOf(long);
      const {result, events} = await checked(written.text);
      expect(result).toMatchObject({value: {state: 'intact', events: 3, bytes: written.text.length}});
      expect(events.map(({payload}) => payload)).toEqual(long.map(({payload}) => payload));
    });

    test('a line has a mebibyte at the most', async () => {
      const torn = await checked('x'.repeat(MAX_LINE_BYTES));
      expect(torn.result).toMatchObject({value: {state: 'torn', tornBytes: MAX_LINE_BYTES}});
      const longer = await checked('x'.repeat(MAX_LINE_BYTES + 1));
      expect(longer.result).toMatchObject({
        value: {state: 'tampered', tornBytes: 0, problem: {line: 1, reason: 'is longer than 1048576 bytes'}},
      });
    });

    test('what cannot be read is said, and a link is not followed', async () => {
      const directory = await tempDirectory();
      await symlink('other', join(directory, 'link'));
      await mkdir(join(directory, 'folder'));
      for (const [name, code] of [
        ['none', 'ENOENT'],
        ['link', 'ELOOP'],
        ['folder', 'EISDIR'],
      ]) {
        const path = join(directory, name ?? '');
        expect(await verifyLog(path)).toEqual({
          ok: false,
          error: {
            code: 'io_error',
            message: `Could not read ${JSON.stringify(path)}: ${code}. Check permissions and free space.`,
            retryable: false,
            details: {path, error: code, operation: 'read'},
          },
        });
      }
    });

    test('the hash of a line is over the one before', async () => {
      const other = linesOf([{...EVENT, payload: {other: true}}, EVENTS[1] ?? EVENT]);
      const second = other.text.split('\n')[1] ?? '';
      const {result} = await checked(`${first}\n${second}\n`);
      expect(result).toMatchObject({value: {state: 'tampered', problem: {line: 2}}});
      expect(await readFile((await checked(text)).path, 'utf8')).toBe(text);
    });
  });
});
