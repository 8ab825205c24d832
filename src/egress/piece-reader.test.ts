import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {PieceReader} from './piece-reader.ts';

const SENT = randomBytes(24 * 1024 * 1024);

/** Two ends of a connection on loopback. */
async function pair(options: object = {}): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({allowHalfOpen: true, pauseOnConnect: true});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  const near = connect({port: address.port, host: '127.0.0.1', allowHalfOpen: true, ...options});
  near.pause();
  const [far] = await once(server, 'connection');
  onTestFinished(() => {
    for (const socket of [near, far]) socket.destroy();
    server.close();
  });
  return [near, far];
}

async function openPump(look: (chunk: Buffer) => boolean = () => true) {
  const reader = new PieceReader();
  const [from, source] = await pair({onread: reader.onread});
  const [to, sink] = await pair();
  let passed = 0;
  const counted = (chunk: Buffer): boolean => {
    if (!look(chunk)) return false;
    passed += chunk.length;
    return true;
  };
  return {
    source,
    sink,
    from,
    passed: () => passed,
    start: () => {
      from.once('end', () => to.end());
      reader.pump(from, to, counted);
    },
  };
}

test('X1 what comes down arrives as it was sent, however it is taken', async () => {
  const {source, sink, start} = await openPump();
  source.end(SENT);
  start();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of sink) {
    hash.update(chunk);
    bytes += chunk.length;
    // Now and then it is not listened for a while.
    if (bytes % 7 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  expect([bytes, hash.digest('hex')]).toEqual([SENT.length, createHash('sha256').update(SENT).digest('hex')]);
});

test('X1 nothing is read that nobody takes', async () => {
  const {source, sink, from, passed, start} = await openPump();
  source.end(SENT);
  start();
  await expect.poll(() => from.isPaused()).toBe(true);
  expect(passed()).toBeLessThan(SENT.length);
  let bytes = 0;
  for await (const chunk of sink) bytes += chunk.length;
  expect(bytes).toBe(SENT.length);
});

test('X1 a piece that may not pass is not passed, and none after it', async () => {
  let looks = 0;
  const {source, sink, passed, start} = await openPump(() => {
    looks += 1;
    return looks === 1;
  });
  sink.resume();
  start();
  source.write('first');
  await expect.poll(() => sink.bytesRead).toBe(5);
  source.write('second');
  await expect.poll(() => looks).toBe(2);
  source.end(SENT);
  await expect.poll(() => source.writableLength).toBeGreaterThan(0);
  expect([passed(), looks, sink.bytesRead]).toEqual([5, 2, 5]);
});
