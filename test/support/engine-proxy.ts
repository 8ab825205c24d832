import {connect, createServer, type Socket} from 'node:net';

/** What stands between one worker and the engine. */
export interface EngineProxy {
  readonly url: string;
  /** Ends every connection and takes no other until `heal`. */
  readonly cut: () => void;
  readonly heal: () => void;
  readonly close: () => Promise<void>;
}

/**
 * Forwards to an engine. `onScript` is told the number of each script that is sent; with `drop` the script never gets
 * there, and with `hold` its answer never comes back.
 */
export async function startEngineProxy(
  port: number,
  onScript: (count: number) => 'pass' | 'drop' | 'hold' = () => 'pass',
): Promise<EngineProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let scripts = 0;
  const server = createServer(client => {
    if (isCut) return void client.destroy();
    const engine = connect(port, '127.0.0.1');
    let isHeld = false;
    for (const [one, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      const sent = chunk.toString('latin1').split('EVALSHA').length - 1;
      for (let script = 0; script < sent; script += 1) {
        scripts += 1;
        const fate = onScript(scripts);
        if (fate === 'drop') return;
        if (fate === 'hold') isHeld = true;
      }
      engine.write(chunk);
    });
    engine.on('data', (chunk: Buffer) => {
      if (!isHeld) client.write(chunk);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${address.port}`,
    cut,
    heal: () => {
      isCut = false;
    },
    close: async () => {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
