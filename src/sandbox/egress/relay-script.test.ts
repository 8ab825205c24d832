import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import {type AddressInfo, connect, createServer, type Server} from 'node:net';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {relayCommand, START_RELAY} from './relay-script.ts';

/** A program of this name that a shell runs. */
function program(name: string, script: string): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, {mode: 0o755});
  return path;
}

/** What `relayCommand` hands to a program, and the environment that it has. */
function wordsOf(name: string) {
  const path = program(name, `printf '%s\\037' "$@"; /usr/bin/env`);
  const {stdout} = spawnSync('/bin/sh', ['-c', 'eval "$1"', 'sh', relayCommand([path, "it's"])], {
    env: {SECRET: 'x'},
    encoding: 'utf8',
  });
  const words = stdout.split('\x1f');
  return {words: words.slice(0, -1), env: words.at(-1) ?? ''};
}

test('X1: the relay is a Node of small memory without our environment, whatever its path', () => {
  const {words, env} = wordsOf("no'de x");
  expect(words.slice(0, 4)).toEqual(["it's", '--v8-pool-size=0', '--max-old-space-size=64', '-e']);
  expect(words).toHaveLength(5);
  expect(env).not.toContain('SECRET');
});

test.each([
  ['says that it listens', 'printf ready', 0],
  ['says something else', 'printf steady', 1],
  ['ends without a word', 'exit 0', 1],
])('X1: a relay that %s', (_, script, status) => {
  const started = `${START_RELAY}\nstart_relay "$1"`;
  expect(spawnSync('/bin/sh', ['-c', started, 'sh', program('relay', script)]).status).toBe(status);
});

test('X1: without a way out no relay is started, and none holds what its caller has open', () => {
  const started = `${START_RELAY}\nstart_relay ''`;
  expect(spawnSync('/bin/sh', ['-c', started]).status).toBe(0);
  const path = program('relay', 'ls /proc/self/fd >"$0.open"; printf ready');
  const held = `exec 3</dev/null 6</dev/null 9</dev/null\n${START_RELAY}\nstart_relay "$1"`;
  expect(spawnSync('/bin/sh', ['-c', held, 'sh', path]).status).toBe(0);
  const open = readFileSync(`${path}.open`, 'utf8').split('\n');
  // 3 is the directory that is listed.
  expect(open.filter(name => name.length === 1)).toEqual(['0', '1', '2', '3']);
});

async function listening(server: Server, ...where: readonly unknown[]): Promise<Server> {
  onTestFinished(() => void server.close());
  server.listen(...(where as [number, string]));
  await once(server, 'listening');
  return server;
}

async function freePort(): Promise<number> {
  const server = await listening(createServer(), 0, '127.0.0.1');
  const {port} = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The program of the relay, on a port and with a socket of this machine. It has said what it says. */
async function startRelay(port: number, socket: string): Promise<{child: ChildProcess; said: string}> {
  const script = (wordsOf('node').words.at(-1) ?? '')
    .replace('3128', String(port))
    .replace('/run/forge-egress/socket', socket);
  const child = spawn(process.execPath, ['-e', script], {stdio: ['ignore', 'pipe', 'inherit']});
  onTestFinished(() => void child.kill('SIGKILL'));
  return {child, said: await text(child.stdout)};
}

test('X1: the relay copies both ways until both sides have said all', async () => {
  const socket = join(temporaryDirectory(), 's');
  const port = await freePort();
  const gate = createServer({allowHalfOpen: true}, peer => {
    let heard = '';
    peer.on('data', chunk => {
      heard += chunk;
    });
    // It answers when the command has said all.
    peer.once('end', () => peer.end(`heard ${heard}`));
  });
  await listening(gate, socket);
  const {child, said} = await startRelay(port, socket);
  expect(said).toBe('ready');
  expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('forge-relay\n');
  const command = connect({port, host: '127.0.0.1', allowHalfOpen: true});
  command.end('a'.repeat(300_000));
  expect((await text(command)) === `heard ${'a'.repeat(300_000)}`).toBe(true);
});

test('X1: where the gate is gone, the relay closes what a command opens, and stays', async () => {
  const port = await freePort();
  const {child} = await startRelay(port, join(temporaryDirectory(), 'nobody'));
  for (const _ of [1, 2]) {
    const command = connect({port, host: '127.0.0.1'});
    expect(await text(command).catch(() => '')).toBe('');
  }
  expect(child.exitCode).toBeNull();
});
