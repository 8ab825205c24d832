import type {AddressInfo, Server, Socket} from 'node:net';

export interface ListeningServer {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: () => number;
  /** Connections open now. */
  readonly open: () => number;
  /** Resolves when no connection is open; at once if none is. */
  readonly allClosed: () => Promise<void>;
  /** Ends every connection and stops listening. */
  readonly close: () => Promise<void>;
}

/** Starts a server of any kind and keeps count of its connections. */
export async function listen(server: Server, address = '127.0.0.1', port = 0): Promise<ListeningServer> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting.clear();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => sockets.size,
    allClosed: () =>
      sockets.size === 0 ? Promise.resolve() : new Promise<void>(resolve => waiting.add(resolve)),
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
