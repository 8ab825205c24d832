import {createServer, type Socket} from 'node:net';
import {createSecureContext, TLSSocket} from 'node:tls';
import type {Certificate} from '../../support/certificates.ts';
import {listen} from '../../support/listening-server.ts';

/** One accepted connection. Over TLS, `wire` is what the client decrypts and `tcp` what is below it. */
export interface WireConnection {
  readonly wire: Socket;
  readonly tcp: Socket;
  /** The address that the client asked for: every behaviour has its own. */
  readonly address: string;
  /** Counts the connections to that address, from 0. */
  readonly index: number;
}

export interface WireHandler {
  /** Before anything is read, and before TLS. True if the connection is dealt with. */
  readonly onConnect?: (connection: Omit<WireConnection, 'wire'>) => boolean;
  /** `path` is that of the request line. */
  readonly onRequest: (connection: WireConnection, path: string, requestIndex: number) => void;
}

export interface WireServer {
  readonly port: number;
  readonly scheme: 'http' | 'https';
  /** Connections open now. */
  readonly open: () => number;
  /** True as soon as no more than `atMost` connections to `address` are open, false if that never comes. */
  readonly settled: (address: string, atMost: number) => Promise<boolean>;
  /** The most bytes that any one connection to `address` was sent. */
  readonly sent: (address: string) => number;
  readonly close: () => Promise<void>;
}

/** After this a connection that should have ended is one that is kept. */
const PATIENCE_MS = 5000;

interface Seat {
  opened: number;
  open: number;
  sent: number;
  readonly waiting: Set<() => void>;
}

/** Listens on every loopback address, so that one server can be hundreds of hosts, told apart before a byte is read. */
export async function startWireServer(handler: WireHandler, certificate?: Certificate): Promise<WireServer> {
  const secureContext =
    certificate &&
    createSecureContext({cert: certificate.chain, key: certificate.key, minVersion: 'TLSv1.2'});
  const seats = new Map<string, Seat>();

  const seatOf = (address: string): Seat => {
    const seat = seats.get(address) ?? {opened: 0, open: 0, sent: 0, waiting: new Set()};
    seats.set(address, seat);
    return seat;
  };

  const server = createServer({noDelay: true}, tcp => {
    const address = (tcp.localAddress ?? '').replace('::ffff:', '');
    const seat = seatOf(address);
    const index = seat.opened;
    seat.opened += 1;
    seat.open += 1;
    tcp.once('close', () => {
      seat.open -= 1;
      seat.sent = Math.max(seat.sent, tcp.bytesWritten);
      for (const check of [...seat.waiting]) check();
    });
    if (handler.onConnect?.({tcp, address, index})) return;
    const wire = secureContext ? new TLSSocket(tcp, {isServer: true, secureContext}) : tcp;
    wire.on('error', () => {});
    readRequests(wire, (path, count) => handler.onRequest({wire, tcp, address, index}, path, count));
  });

  const listening = await listen(server, '0.0.0.0');
  return {
    port: listening.port,
    scheme: certificate ? 'https' : 'http',
    open: listening.open,
    settled: (address, atMost) =>
      new Promise(resolve => {
        const seat = seatOf(address);
        const settle = (settled: boolean): void => {
          clearTimeout(timer);
          seat.waiting.delete(check);
          resolve(settled);
        };
        const check = (): void => {
          if (seat.open <= atMost) settle(true);
        };
        const timer = setTimeout(() => settle(false), PATIENCE_MS);
        seat.waiting.add(check);
        check();
      }),
    sent: address => seatOf(address).sent,
    close: listening.close,
  };
}

function readRequests(wire: Socket, onRequest: (path: string, count: number) => void): void {
  let received = '';
  let count = 0;
  wire.on('data', bytes => {
    received += bytes.toString('latin1');
    for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
      const path = received.split(' ', 2)[1] ?? '';
      received = received.slice(end + 4);
      onRequest(path, count);
      count += 1;
    }
  });
}
