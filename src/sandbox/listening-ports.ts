// Lists the TCP ports on which a command listens.
import {readdir, readFile, readlink} from 'node:fs/promises';

/** `sl local_address rem_address st …`: the state of a socket that listens. */
const LISTEN = '0A';

interface ListeningSocket {
  readonly port: number;
  readonly inode: string;
}

/** The ports of a network, from the text of `/proc/net/tcp` and `/proc/net/tcp6`. */
export function portsIn(table: string): readonly number[] {
  return socketsIn(table).map(({port}) => port);
}

/** Those that are listened on in the network that a process sees; `undefined` where that cannot be seen. */
export async function listeningPortsOf(
  pid: string | undefined,
  proc = '/proc',
): Promise<readonly number[] | undefined> {
  const table = await readTable(`${proc}/${pid}`);
  return table === undefined ? undefined : portsIn(table);
}

/** Those on which one of these processes listens, where the network is one that they share with others. */
export async function ownListeningPorts(
  pids: readonly number[],
  proc = '/proc',
): Promise<readonly number[] | undefined> {
  const table = await readTable(`${proc}/self`);
  if (table === undefined) return undefined;
  const owned = new Set((await Promise.all(pids.map(pid => socketsOf(`${proc}/${pid}`)))).flat());
  return socketsIn(table)
    .filter(({inode}) => owned.has(inode))
    .map(({port}) => port);
}

async function readTable(process: string): Promise<string | undefined> {
  const four = await readFile(`${process}/net/tcp`, 'latin1').catch(() => undefined);
  // A kernel without IPv6 has no such file.
  const six = await readFile(`${process}/net/tcp6`, 'latin1').catch(() => '');
  return four === undefined ? undefined : `${four}\n${six}`;
}

function socketsIn(table: string): readonly ListeningSocket[] {
  return table
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields[3] === LISTEN)
    .map(fields => ({
      port: Number.parseInt(fields[1]?.split(':')[1] ?? '', 16),
      inode: fields[9] ?? '',
    }));
}

/** Inodes of the sockets that a process has open; none of one that has ended. */
async function socketsOf(process: string): Promise<readonly (string | undefined)[]> {
  const directory = `${process}/fd`;
  const names = await readdir(directory).catch(() => []);
  const links = await Promise.all(names.map(name => readlink(`${directory}/${name}`).catch(() => '')));
  return links.map(link => /^socket:\[(\d+)\]$/.exec(link)?.[1]);
}
