import {createServer, type IncomingMessage, request, type ServerResponse} from 'node:http';
import {onTestFinished} from 'vitest';

/** Where a replica listens. */
export interface Backend {
  readonly port: number;
}

export interface Balancer {
  readonly port: number;
  /** Replicas that were ready when they were last asked. */
  readonly ready: () => number;
}

const INTERVAL_MS = 200;

/**
 * What `haproxy.cfg` of the example asks for, as far as a test needs it: the least busy replica that said 200 at `/readyz`, and
 * another one only where the request was not sent yet.
 */
export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const busy = new Map<Backend, number>(backends.map(backend => [backend, 0]));
  const isReady = ({port}: Backend): Promise<boolean> =>
    new Promise(resolve => {
      const asked = request({host: '127.0.0.1', port, path: '/readyz', agent: false}, response => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked.on('error', () => resolve(false));
      asked.end();
    });
  const look = async (): Promise<void> => {
    for (const backend of backends) {
      if (await isReady(backend)) ready.add(backend);
      else ready.delete(backend);
    }
  };
  const forward = (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    body: Buffer,
    tried: readonly Backend[],
  ): void => {
    const [backend] = [...ready]
      .filter(one => !tried.includes(one))
      .sort((one, other) => (busy.get(one) ?? 0) - (busy.get(other) ?? 0));
    if (backend === undefined) return void outgoing.writeHead(503).end('no replica');
    const count = (by: number): void => void busy.set(backend, (busy.get(backend) ?? 0) + by);
    const {method, url: path, headers} = incoming;
    let isConnected = false;
    count(1);
    const sent = request(
      {host: '127.0.0.1', port: backend.port, method, path, headers, agent: false},
      answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    sent.on('socket', socket => socket.on('connect', () => (isConnected = true)));
    sent.on('close', () => count(-1));
    sent.on('error', () => {
      if (!isConnected) forward(incoming, outgoing, body, [...tried, backend]);
      else if (!outgoing.headersSent) outgoing.writeHead(502).end('lost');
      else outgoing.destroy();
    });
    sent.end(body);
  };
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    forward(incoming, outgoing, Buffer.concat(parts), []);
  });
  await look();
  const timer = setInterval(() => void look(), INTERVAL_MS);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', 4096, resolve));
  onTestFinished(() => {
    clearInterval(timer);
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  return {port: address.port, ready: () => ready.size};
}
