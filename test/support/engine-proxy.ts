import {connect, createServer, type Socket} from 'node:net';

/** What stands between one worker and the engine. */
export interface EngineProxy {
  readonly url: string;
  /** Ends every connection and takes no other until `heal`. */
  readonly cut: () => void;
  readonly heal: () => void;
  /** New connections lead to another engine; those that stand are ended. */
  readonly retarget: (port: number) => void;
  readonly close: () => Promise<void>;
}

/**
 * What becomes of a script: `drop` never gets there, of `hold` the answer never comes back, and after the answer of `tell`
 * something happens.
 */
export type Fate = 'pass' | 'drop' | 'hold' | 'tell';

export interface ProxyEvents {
  /** A script is sent: its number, and its digest where that can be seen. */
  readonly onScript?: (count: number, digest: string) => Fate;
  /** The engine has answered a script of `hold` or `tell`. */
  readonly onAnswer?: () => void;
}

/** Forwards to an engine, and counts the scripts of all connections. */
export async function startEngineProxy(
  first: number,
  {onScript = () => 'pass', onAnswer = () => {}}: ProxyEvents = {},
): Promise<EngineProxy> {
  const sockets = new Set<Socket>();
  let port = first;
  let isCut = false;
  let scripts = 0;
  const server = createServer(client => {
    if (isCut) return void client.destroy();
    const engine = connect(port, '127.0.0.1');
    let fate: Fate = 'pass';
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
      for (const sent of chunk.toString('latin1').split('EVALSHA').slice(1)) {
        scripts += 1;
        const own = onScript(scripts, /^\r\n\$40\r\n([0-9a-f]{40})/.exec(sent)?.[1] ?? '');
        if (own === 'drop') return;
        if (own !== 'pass') fate = own;
      }
      engine.write(chunk);
    });
    engine.on('data', (chunk: Buffer) => {
      if (fate !== 'hold') client.write(chunk);
      if (fate !== 'pass') onAnswer();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = (): void => {
    isCut = true;
    drop();
  };
  return {
    url: `redis://127.0.0.1:${address.port}`,
    cut,
    heal: () => {
      isCut = false;
    },
    retarget: to => {
      port = to;
      drop();
    },
    close: async () => {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
