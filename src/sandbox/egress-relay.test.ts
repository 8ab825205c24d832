import {type ChildProcess, execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {type AddressInfo, connect, createServer, type Server} from 'node:net';
import {basename, join} from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test} from 'vitest';
import {needs} from '../../test/support/parts.ts';
import {breakPipes, startedChildren} from '../../test/support/started-children.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {relayCommand, relayRuntime, START_RELAY} from './egress-relay.ts';

interface Header {
  readonly magic?: string;
  readonly bits?: number;
  readonly order?: number;
  /** Types of the program headers, and what a header of type 3 (PT_INTERP) names. */
  readonly types: readonly number[];
  readonly interpreter?: string;
  /** Where the program headers lie. */
  readonly at?: number;
  /** How many there are said to be. */
  readonly count?: number;
}

/** elf(5): a file with these program headers. */
function elf({
  magic = '\x7fELF',
  bits = 2,
  order = 1,
  types,
  interpreter = '',
  at = 64,
  count,
}: Header): string {
  const path = join(temporaryDirectory(), 'program');
  const size = 56;
  const file = Buffer.alloc(at + size * types.length + interpreter.length + 1);
  file.write(magic, 0, 'latin1');
  file.writeUInt8(bits, 4);
  file.writeUInt8(order, 5);
  file.writeBigUInt64LE(BigInt(at), 32);
  file.writeUInt16LE(size, 54);
  file.writeUInt16LE(count ?? types.length, 56);
  const name = at + size * types.length;
  for (const [index, type] of types.entries()) {
    file.writeUInt32LE(type, at + size * index);
    file.writeBigUInt64LE(BigInt(name), at + size * index + 8);
    file.writeBigUInt64LE(BigInt(interpreter.length + 1), at + size * index + 32);
  }
  file.write(`${interpreter}\0`, name, 'latin1');
  writeFileSync(path, file);
  return path;
}

/** A loader that lists what is in the text. */
function loader(list: string): string {
  const path = join(temporaryDirectory(), 'ld.so');
  writeFileSync(
    path,
    `#!/bin/sh\n[ "$1" = --list ] || exit 3\npwd >"$0.place"; env >"$0.env"\ncat <<'END'\n${list}\nEND\n`,
    {mode: 0o755},
  );
  return path;
}

const ALONE = (node: string) => ({
  mounts: [{source: node, target: '/run/forge-egress/node'}],
  program: ['/run/forge-egress/node'],
});

describe('relayRuntime', needs('Linux'), () => {
  test('X1: Node comes with its loader and each library that the loader finds, by real paths', async () => {
    const listed = execFileSync('ldd', [process.execPath], {encoding: 'utf8'});
    const libraries = [...listed.matchAll(/ => (\/\S+)/g)].map(([, path = '']) => path);
    const found = /^\s*(\/\S+) \(0x/m.exec(listed)?.[1] ?? '';
    expect(libraries).not.toEqual([]);
    expect(await relayRuntime(process.execPath)).toEqual({
      mounts: [
        {source: realpathSync(process.execPath), target: '/run/forge-egress/node'},
        ...libraries.map(path => ({
          ...{source: realpathSync(path), target: `/run/forge-egress/lib/${basename(path)}`},
        })),
        {source: realpathSync(found), target: '/run/forge-egress/loader'},
      ],
      program: [
        ...['/run/forge-egress/loader', '--library-path', '/run/forge-egress/lib', '/run/forge-egress/node'],
      ],
    });
  });

  test('X1: a library that is listed twice is mounted once, and one that was not found is none', async () => {
    const place = temporaryDirectory();
    for (const name of ['a.so.1', 'b.so']) writeFileSync(join(place, name), '');
    symlinkSync('a.so.1', join(place, 'a.so'));
    const interpreter = loader(
      [
        ...['\tlinux-vdso.so.1 (0x1)', `\ta.so => ${place}/a.so (0x2)`, `\tb.so => ${place}/b.so (0x3)`],
        ...[`\ta.so => ${place}/b.so/a.so (0x4)`, '\tc.so => not found'],
      ].join('\n'),
    );
    const node = elf({types: [6, 3], interpreter});
    expect((await relayRuntime(node)).mounts).toEqual([
      {source: node, target: '/run/forge-egress/node'},
      {source: join(place, 'a.so.1'), target: '/run/forge-egress/lib/a.so'},
      {source: join(place, 'b.so'), target: '/run/forge-egress/lib/b.so'},
      {source: interpreter, target: '/run/forge-egress/loader'},
    ]);
  });

  test.each<[string, Header]>([
    ['is linked statically', {types: [6, 1]}],
    ['has no program headers', {types: []}],
    ['is no ELF', {magic: '#!/b', types: [3], interpreter: '/nonexistent'}],
    ['is of 32 bits', {bits: 1, types: [3], interpreter: '/nonexistent'}],
    ['is of the other byte order', {order: 2, types: [3], interpreter: '/nonexistent'}],
    ['has its headers far from its beginning', {at: 4090, types: [3], interpreter: '/nonexistent'}],
    ['has behind its headers what looks like one', {types: [6, 3], count: 1, interpreter: '/nonexistent'}],
    ['says that it has more headers than it has', {types: [], count: 100}],
  ])('X1: a program that %s comes alone', async (_, header) => {
    const node = elf(header);
    expect(await relayRuntime(node)).toEqual(ALONE(node));
  });

  test('X1: a loader that is named where the first page ends is found', async () => {
    const children = startedChildren();
    const held = () => readdirSync('/proc/self/fd').length;
    const before = held();
    const interpreter = loader('');
    const node = elf({at: 4096 - 40, types: [3], interpreter});
    expect((await relayRuntime(node)).mounts).toContainEqual({
      ...{source: interpreter, target: '/run/forge-egress/loader'},
    });
    expect(held()).toBeLessThanOrEqual(before);
    expect(readFileSync(`${interpreter}.place`, 'utf8')).toBe('/\n');
    expect(readFileSync(`${interpreter}.env`, 'utf8')).not.toContain('HOME=');
    // A pipe that breaks is no exception.
    for (const child of children) breakPipes(child);
  });

  test('X1: what the system or the loader refuses is thrown', async () => {
    const fails = join(temporaryDirectory(), 'ld.so');
    writeFileSync(fails, '#!/bin/sh\nexit 1\n', {mode: 0o755});
    await expect(relayRuntime(elf({types: [3], interpreter: fails}))).rejects.toThrow('Command failed');
    await expect(relayRuntime('/nonexistent/node')).rejects.toThrow('ENOENT');
  });
});

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
