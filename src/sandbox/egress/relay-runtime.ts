import {execFile} from 'node:child_process';
import {open, realpath} from 'node:fs/promises';
import {basename} from 'node:path';
import {EGRESS_MOUNT, RELAY_NODE} from './relay-script.ts';

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
