import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {listeningPortsOf, ownListeningPorts, portsIn} from './listening-ports.ts';

test('W21 of the table of the kernel, the ports of sockets that listen', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 17 1',
    '   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 18 1',
    '   2: 00000000000000000000000000000000:0050 00000000:0000 0A 0:0 0:0 0 0 0 19',
    '',
  ].join('\n');
  expect(portsIn(table)).toEqual([8080, 80]);
});

test.runIf(process.platform === 'linux')(
  'W21 a process that listens has its port, and another one that is gone has none',
  async () => {
    const listen = async (host: string) => {
      const server = createServer();
      await new Promise<void>(resolve => server.listen(0, host, resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    };
    const port = await listen('127.0.0.1');
    expect(await ownListeningPorts([process.pid])).toContain(port);
    expect(await ownListeningPorts([2 ** 22 + 1])).toEqual([]);
    expect(await listeningPortsOf(String(process.pid))).toContain(port);
    expect(await listeningPortsOf(String(2 ** 22 + 1))).toBeUndefined();
    expect(await listeningPortsOf(undefined)).toBeUndefined();
  },
);

/** proc(5): a process with these sockets and this network. */
function processIn(
  proc: string,
  pid: string,
  {links = {}, tables = {}}: {links?: Record<string, string>; tables?: Record<string, string>},
) {
  for (const part of ['fd', 'net']) mkdirSync(join(proc, pid, part), {recursive: true});
  for (const [descriptor, link] of Object.entries(links))
    symlinkSync(link, join(proc, pid, 'fd', descriptor));
  for (const [name, table] of Object.entries(tables)) writeFileSync(join(proc, pid, 'net', name), table);
}

const socket = (port: string, inode: number) => ` 0: 00000000:${port} 00000000:0000 0A 0 0 0 0 0 ${inode}\n`;

test('W21 of a network that others share, the ports of its own sockets', async () => {
  const proc = temporaryDirectory();
  processIn(proc, 'self', {tables: {tcp: socket('1F90', 17) + socket('1F91', 18), tcp6: socket('1F92', 19)}});
  processIn(proc, '7', {links: {3: 'socket:[17]', 4: 'pipe:[18]', 5: '/socket:[18]', 6: 'socket:[18]x'}});
  writeFileSync(join(proc, '7/fd/9'), '');
  processIn(proc, '8', {links: {3: 'socket:[19]'}});
  expect(await ownListeningPorts([7], proc)).toEqual([8080]);
  expect(await ownListeningPorts([7, 8, 9], proc)).toEqual([8080, 8082]);
  expect(await listeningPortsOf('self', proc)).toEqual([8080, 8081, 8082]);
});

test('W21 a kernel without IPv6 has one table, and without either nothing is known', async () => {
  const proc = temporaryDirectory();
  processIn(proc, 'self', {tables: {tcp: socket('1F90', 17)}});
  processIn(proc, '7', {links: {3: 'socket:[17]'}});
  expect(await ownListeningPorts([7], proc)).toEqual([8080]);
  expect(await listeningPortsOf('7', proc)).toBeUndefined();
  expect(await ownListeningPorts([7], join(proc, 'missing'))).toBeUndefined();
});
