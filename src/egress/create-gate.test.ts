import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {connect, createServer, type Socket} from 'node:net';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {clientHello, record, serverNames} from '../../test/support/egress/client-hello.js';
import {listen} from '../../test/support/listening-server.ts';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {unwrap} from '../../test/support/outcome.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import type {EgressConnection} from '../core/egress-gate.ts';
import {ok} from '../core/result.ts';
import {type AllowList, readAllowList} from './allow-list.ts';
import {createGate, removeStaleChannels} from './create-gate.ts';
import type {EgressLimits} from './visit.ts';

const LIMITS = {maxConnections: 100, maxBytes: 1e6, maxConnectionMs: 300_000};
const HELLO = record(clientHello(serverNames('a.test')));

function listOf(entry: string): AllowList {
  const list = readAllowList({allow: [entry], presets: []});
  if (!list.ok) throw new Error(list.error.join());
  return list.value;
}

/** Counts who connects; answers each piece with "x" where it is to. */
async function listenTo(answers: boolean) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let heard = '';
  const server = createServer(socket => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', chunk => {
      heard += chunk;
      if (answers) socket.write('x');
    });
  });
  const {port, close} = await listen(server, '127.0.0.1');
  onTestFinished(close);
  return {port, accepted: () => accepted, open: () => sockets.size, heard: () => heard};
}

async function openGate(limits: Partial<EgressLimits> = {}, port = 443) {
  const clock = createManualClock();
  const place = temporaryDirectory();
  const gate = createGate({
    allowList: listOf(`a.test:${port}`),
    authorize: async () => ok(['127.0.0.1']),
    clock,
    limits: {...LIMITS, ...limits},
    places: [place],
    workspace: '/nonexistent',
  });
  onTestFinished(() => gate.close());
  const channel = unwrap(await gate.open(undefined));
  const connections: EgressConnection[] = [];
  const reached: string[] = [];
  const attach = () =>
    channel.attach({
      onReached: ({host}) => reached.push(host),
      onConnection: connection => connections.push(connection),
    });
  return {clock, place, gate, channel, connections, reached, attach};
}

interface Client {
  readonly socket: Socket;
  readonly said: () => string;
  readonly closed: Promise<unknown>;
}

function open(path: string, allowHalfOpen = false): Client {
  const socket = connect({path, allowHalfOpen});
  let said = '';
  socket.on('error', () => {});
  socket.on('data', chunk => {
    said += chunk;
  });
  return {socket, said: () => said, closed: new Promise(resolve => socket.once('close', resolve))};
}

async function tunnel(path: string, port: number): Promise<Client> {
  const client = open(path);
  client.socket.write(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test:${port}\r\n\r\n`);
  await expect.poll(client.said).toContain('200');
  client.socket.write(HELLO);
  return client;
}

describe('the socket of a sandbox', () => {
  test('X1 is in a directory of its own that others cannot enter, and goes with the channel', async () => {
    const {channel} = await openGate();
    expect(statSync(dirname(channel.socketPath)).mode & 0o777).toBe(0o700);
    await channel.close();
    expect(existsSync(dirname(channel.socketPath))).toBe(false);
  });

  test('X1 answers nobody before its command and after it, and ends what the command left', async () => {
    const server = await listenTo(false);
    const {channel, connections, attach} = await openGate({}, server.port);
    await open(channel.socketPath).closed;
    const detach = attach();
    const client = await tunnel(channel.socketPath, server.port);
    await expect.poll(() => server.accepted()).toBe(1);
    const silent = open(channel.socketPath);
    await expect.poll(() => silent.socket.readyState).toBe('open');
    silent.socket.write('CONN');
    await expect.poll(() => silent.socket.bytesWritten).toBe(4);
    detach();
    await Promise.all([client.closed, silent.closed]);
    await expect.poll(server.open).toBe(0);
    await open(channel.socketPath).closed;
    expect(connections.map(({decision, bytesUp}) => [decision, bytesUp])).toContainEqual([
      'allowed',
      HELLO.length,
    ]);
    expect(server.accepted()).toBe(1);
  });

  test('red team F15: a host is told of before it can say anything, and not where nothing answers', async () => {
    const server = await listenTo(true);
    const {channel, connections, reached, attach} = await openGate({}, server.port);
    attach();
    const client = await tunnel(channel.socketPath, server.port);
    await expect.poll(client.said).toContain('x');
    expect({reached, connections}).toEqual({reached: ['a.test'], connections: []});
    client.socket.destroy();
    const silent = await openGate({}, 1);
    silent.attach();
    const other = await tunnel(silent.channel.socketPath, 1);
    await other.closed;
    expect({reached: silent.reached, ends: silent.connections.length}).toEqual({reached: [], ends: 1});
  });

  test('X1 is nowhere in the workspace, by a link either', async () => {
    const workspace = temporaryDirectory();
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(workspace, link);
    const gate = createGate({
      allowList: listOf('a.test'),
      authorize: async () => ok(['127.0.0.1']),
      clock: createManualClock(),
      limits: LIMITS,
      places: [workspace, link, 'relative', '/nonexistent/place', `/${'long/'.repeat(30)}`],
      workspace,
    });
    expect(await gate.open(undefined)).toMatchObject({ok: false, error: {code: 'sandbox_error'}});
  });
});

describe('a client that takes its time', () => {
  test.each([
    ['says nothing', ''],
    ['says half a head', 'CONNECT a.test:443 HTTP/1.1\r\nHost:'],
    [
      'says half a hello',
      `CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n${HELLO.toString('latin1', 0, 9)}`,
    ],
  ])('X1 %s: it has ten seconds', async (_, text) => {
    const {clock, channel, connections, attach} = await openGate();
    const idle = clock.pending();
    attach();
    const client = open(channel.socketPath);
    client.socket.write(Buffer.from(text, 'latin1'));
    await expect.poll(() => clock.pending()).toBeGreaterThan(idle);
    if (text.includes('\r\n\r\n')) await expect.poll(client.said).toContain('200');
    clock.advance(9999);
    expect(connections).toEqual([]);
    clock.advance(1);
    await expect
      .poll(() => connections)
      .toMatchObject([{decision: 'refused', reason: expect.stringContaining('in time')}]);
    clock.advance(1000);
    await client.closed;
    await expect.poll(() => clock.pending()).toBe(idle);
  });

  test('X1 a head in crumbs is not read on', async () => {
    const {channel, connections, attach} = await openGate();
    attach();
    const client = open(channel.socketPath);
    client.socket.setNoDelay(true);
    for (let at = 0; at < 400 && connections.length === 0; at++) {
      client.socket.write('C');
      await new Promise(resolve => setImmediate(resolve));
    }
    await expect
      .poll(() => connections)
      .toMatchObject([{decision: 'refused', reason: expect.stringContaining('pieces')}]);
  });

  test('X1 two minutes of silence end a tunnel; a byte begins them anew', async () => {
    const server = await listenTo(true);
    const {clock, channel, connections, attach} = await openGate({}, server.port);
    attach();
    const client = await tunnel(channel.socketPath, server.port);
    await expect.poll(client.said).toMatch(/x$/);
    clock.advance(100_000);
    client.socket.write(record(Buffer.alloc(10), 23));
    await expect.poll(client.said).toMatch(/xx$/);
    clock.advance(100_000);
    expect(connections).toEqual([]);
    clock.advance(20_000);
    await client.closed;
    expect(connections).toMatchObject([{decision: 'failed', reason: expect.stringContaining('two minutes')}]);
  });
});

test('X1 64 connections are open at a time, and one more is told so', async () => {
  const {channel, connections, attach} = await openGate();
  attach();
  const clients = Array.from({length: 64}, () => open(channel.socketPath));
  await expect.poll(() => clients.every(({socket}) => socket.readyState === 'open')).toBe(true);
  const last = open(channel.socketPath);
  await expect.poll(last.said).toMatch(/^HTTP\/1\.1 503 [\s\S]*64 connections open/);
  clients[0]?.socket.destroy();
  await expect.poll(() => connections.length).toBe(2);
  const next = open(channel.socketPath);
  next.socket.write('GET / HTTP/1.1\r\n\r\n');
  await expect.poll(next.said).toMatch(/^HTTP\/1\.1 403 /);
  for (const {socket} of clients) socket.destroy();
});

test('red team G17: refused connections that linger are 64 as well, and the next is closed without an answer', async () => {
  const {channel, connections, attach} = await openGate({maxConnections: 1000});
  attach();
  const live = Array.from({length: 64}, () => open(channel.socketPath));
  await expect.poll(() => live.every(({socket}) => socket.readyState === 'open')).toBe(true);
  const lingering = Array.from({length: 64}, () => open(channel.socketPath, true));
  await expect.poll(() => lingering.every(({said}) => said().includes('503'))).toBe(true);
  const last = open(channel.socketPath);
  await last.closed;
  expect(last.said()).toBe('');
  expect(connections).toHaveLength(64);
  lingering[0]?.socket.destroy();
  await lingering[0]?.closed;
  await expect
    .poll(async () => {
      const next = open(channel.socketPath);
      await next.closed;
      return next.said();
    })
    .toContain('503');
  for (const {socket} of [...live, ...lingering]) socket.destroy();
});

test('X1 plain text in a tunnel that is open ends it', async () => {
  const server = await listenTo(false);
  const {channel, connections, attach} = await openGate({}, server.port);
  attach();
  const client = await tunnel(channel.socketPath, server.port);
  await expect.poll(() => server.accepted()).toBe(1);
  client.socket.write('GET http://evil.test/ HTTP/1.1\r\n\r\n');
  await client.closed;
  expect(connections).toMatchObject([
    {decision: 'refused', reason: 'What it sent is not TLS.', bytesUp: HELLO.length},
  ]);
  expect(server.heard()).not.toContain('evil');
});

/** Listens in a process of its own, which is killed. */
async function killedListener(path: string): Promise<void> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('ready'))`;
  const child = spawn(process.execPath, ['-e', code], {stdio: ['ignore', 'pipe', 'inherit']});
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise(resolve => child.once('exit', resolve));
}

test('review R14: the directory of a host that was killed is removed, that of a living one stays', async () => {
  const place = temporaryDirectory();
  const dead = mkdtempSync(join(place, 'forge-egress-'));
  await killedListener(join(dead, 's'));
  expect(existsSync(join(dead, 's'))).toBe(true);
  const living = mkdtempSync(join(place, 'forge-egress-'));
  const server = createServer(socket => socket.destroy()).listen(join(living, 's'));
  onTestFinished(() => void server.close());
  await new Promise(resolve => server.once('listening', resolve));
  const made = mkdtempSync(join(place, 'forge-egress-'));
  await removeStaleChannels(place);
  expect([dead, living, made].map(path => existsSync(path))).toEqual([false, true, true]);
});

test('red team G13: the certificates of a host that was killed go with its directory', async () => {
  const place = temporaryDirectory();
  const dead = mkdtempSync(join(place, 'forge-egress-'));
  writeFileSync(join(dead, 'ca.pem'), 'certificates');
  await killedListener(join(dead, 's'));
  await removeStaleChannels(place);
  expect(existsSync(dead)).toBe(false);
});

test('review R2: a link in its place, a foreign file in it and other names are left alone', {
  tags: 'slow',
}, async () => {
  const place = temporaryDirectory();
  const outside = temporaryDirectory();
  await killedListener(join(outside, 's'));
  symlinkSync(outside, join(place, 'forge-egress-AAAAAA'));
  mkdirSync(join(place, 'forge-egress-BBBBBB'));
  writeFileSync(join(place, 'forge-egress-BBBBBB', 's'), 'a file');
  mkdirSync(join(place, 'forge-egress-CCCCCC'));
  await killedListener(join(place, 'forge-egress-CCCCCC', 's'));
  writeFileSync(join(place, 'forge-egress-CCCCCC', 'kept'), '');
  mkdirSync(join(place, 'other'));
  await killedListener(join(place, 'other', 's'));
  await removeStaleChannels(place);
  expect(existsSync(join(outside, 's'))).toBe(true);
  expect(readdirSync(join(place, 'other'))).toEqual(['s']);
  expect(readdirSync(join(place, 'forge-egress-CCCCCC'))).toEqual(['kept']);
  // A connection to what is no socket is refused as well.
  expect(readdirSync(join(place, 'forge-egress-BBBBBB'))).toEqual(['s']);
  expect(existsSync(join(place, 'forge-egress-AAAAAA'))).toBe(true);
});
