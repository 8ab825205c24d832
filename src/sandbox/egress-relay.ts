// The relay in a sandbox that connects a command to the channel.
import {execFile} from 'node:child_process';
import {open, realpath} from 'node:fs/promises';
import {basename} from 'node:path';

const LIST_TIMEOUT_MS = 5000;
const HEADER_BYTES = 4096;
const PT_INTERP = 3;

/** Node of the host, as a container can run it whatever its image has. */
export interface RelayRuntime {
  /** Real paths of the host, and where each is mounted. */
  readonly mounts: readonly {readonly source: string; readonly target: string}[];
  /** Program and arguments before those of Node. */
  readonly program: readonly string[];
}

/** A program with its dynamic loader and every library that the loader finds for it. Throws what the system throws. */
export async function relayRuntime(node: string): Promise<RelayRuntime> {
  const mounts = [{source: await realpath(node), target: RELAY_NODE}];
  const loader = await loaderOf(node);
  if (loader === undefined) return {mounts, program: [RELAY_NODE]};
  const place = `${EGRESS_MOUNT}/lib`;
  const known = new Set<string>();
  for (const path of await librariesOf(loader, node)) {
    if (known.has(basename(path))) continue;
    known.add(basename(path));
    mounts.push({source: await realpath(path), target: `${place}/${basename(path)}`});
  }
  const target = `${EGRESS_MOUNT}/loader`;
  mounts.push({source: await realpath(loader), target});
  return {mounts, program: [target, '--library-path', place, RELAY_NODE]};
}

/** elf(5): the interpreter that a 64-bit program asks for; `undefined` for one that is linked statically. */
async function loaderOf(program: string): Promise<string | undefined> {
  const file = await open(program);
  try {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const header = buffer.subarray(0, bytesRead);
    if (header.toString('latin1', 0, 4) !== '\x7fELF' || header[4] !== 2 || header[5] !== 1) return undefined;
    const start = Number(header.readBigUInt64LE(32));
    const size = header.readUInt16LE(54);
    for (let index = 0; index < header.readUInt16LE(56); index++) {
      const at = start + index * size;
      if (at + 40 > header.length) return undefined;
      if (header.readUInt32LE(at) !== PT_INTERP) continue;
      const length = Number(header.readBigUInt64LE(at + 32));
      const path = await file.read(Buffer.alloc(length), 0, length, Number(header.readBigUInt64LE(at + 8)));
      return path.buffer.toString('latin1').replace(/\0.*/s, '');
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** `NAME => PATH (ADDRESS)` of each, as the loaders of glibc and musl list them. */
function librariesOf(loader: string, program: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const options = {env: {}, cwd: '/', timeout: LIST_TIMEOUT_MS};
    const child = execFile(loader, ['--list', program], options, (error, stdout) => {
      if (error !== null) reject(error);
      else resolve([...stdout.matchAll(/ => (\/\S+) \(/g)].map(([, path = '']) => path));
    });
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('error', () => {});
  });
}

/** Where a sandbox finds what belongs to the way out. */
export const EGRESS_MOUNT = '/run/forge-egress';
export const RELAY_SOCKET = `${EGRESS_MOUNT}/socket`;
export const TRUSTED_BUNDLE = `${EGRESS_MOUNT}/ca.pem`;
export const RELAY_NODE = `${EGRESS_MOUNT}/node`;

/** That of Squid, which programs know. Nothing else listens in a network that is empty. */
export const PROXY_PORT = 3128;

/** Its name among the processes of a sandbox. */
export const RELAY_NAME = 'forge-relay';

/**
 * The program of the relay: it copies bytes between the port that programs know how to use and the socket of the gate,
 * and is trusted with nothing. What comes down is read as `PieceReader` does. It says that it listens by closing its output.
 */
const RELAY = `
process.title = '${RELAY_NAME}';
const net = require('node:net');
const fs = require('node:fs');
const piece = () => Buffer.allocUnsafeSlow(262144);
const open = {allowHalfOpen: true, noDelay: true, highWaterMark: 262144};
const server = net.createServer(open, client => {
  const free = [];
  let current = piece();
  let underWay = 0;
  const callback = bytes => {
    const buffer = current;
    let waits = false;
    client.write(buffer.subarray(0, bytes), () => {
      if (!waits) return;
      underWay -= 1;
      free.push(buffer);
      if (gate.isPaused()) gate.resume();
    });
    if (client.writableLength === 0) return true;
    waits = true;
    underWay += 1;
    current = free.pop() ?? piece();
    if (underWay < 2) return true;
    gate.pause();
    return false;
  };
  const gate = net.connect({...open, path: '${RELAY_SOCKET}', onread: {buffer: () => current, callback}});
  const end = () => { client.destroy(); gate.destroy(); };
  client.on('error', end);
  gate.on('error', end);
  gate.once('end', () => client.end());
  gate.resume();
  client.pipe(gate);
});
server.listen(${PROXY_PORT}, '127.0.0.1', () => {
  fs.writeSync(1, 'ready');
  fs.closeSync(1);
  // libuv dies of a socket that gets the number of a standard stream.
  fs.openSync('/dev/null', 'w');
});
`;

/** Small: its memory and its threads are those of the command. */
const NODE_FLAGS = ['--v8-pool-size=0', '--max-old-space-size=64', '-e'];

/** A line for `START_RELAY`; `program` is Node with what comes before it. */
export function relayCommand(program: readonly string[]): string {
  const words = ['/usr/bin/env', '-i', ...program, ...NODE_FLAGS, RELAY];
  return words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/**
 * A shell function: starts the relay that its argument says, none if that is empty, and waits until it listens. Not a
 * child of the caller, whose `wait` and `jobs` are about the command alone. It holds no descriptor of the caller.
 */
export const START_RELAY = `
start_relay() {
  [ -n "$1" ] || return 0
  [ "$(eval "$1 </dev/null 2>/dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &")" = ready ]
}
`;
