import {createServer, type Socket} from 'node:net';
import {onTestFinished} from 'vitest';

/** Between a replica and its engine: slow, cut, or open and silent. */
export interface FaultProxy {
  readonly url: string;
  /** What is sent from now on arrives so much later. */
  delay: (ms: number) => void;
  /** Connections are closed, and new ones refused. */
  cut: () => void;
  /** Connections stand, and nothing comes through. */
  silence: () => void;
  /** New connections lead to another engine; those that stand do not. */
  retarget: (port: number) => void;
  /** As before all that. What was held back is lost. */
  heal: () => void;
}

export async function startFaultProxy(first: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let port = first;
  let delayMs = 0;
  let state: 'open' | 'cut' | 'silent' = 'open';
  const {connect} = await import('node:net');
  const server = createServer(client => {
    if (state === 'cut') return void client.destroy();
    const engine = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', chunk => {
        if (state !== 'open') return;
        if (delayMs === 0) to.write(chunk);
        else setTimeout(() => to.write(chunk), delayMs);
      });
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    drop();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    delay: ms => {
      delayMs = ms;
    },
    cut: () => {
      state = 'cut';
      drop();
    },
    silence: () => {
      state = 'silent';
    },
    retarget: to => {
      port = to;
    },
    heal: () => {
      state = 'open';
      delayMs = 0;
    },
  };
}
