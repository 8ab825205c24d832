import {createHash} from 'node:crypto';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {appendHash, checkHashedLine, INITIAL_HASH} from './event-chain.ts';

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
