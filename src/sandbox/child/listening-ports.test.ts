import {createServer} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
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
