import {createServer as createTcpServer, type Socket} from 'node:net';
import {createServer as createTlsServer} from 'node:tls';
import type {Certificate} from './certificates.ts';
import {type ListeningServer, listen} from './listening-server.ts';

export interface RawRequest {
  /** The head of the request as it came, with its empty line. */
  readonly head: string;
  /** Counts the requests of this connection, from 0. */
  readonly index: number;
}

/** Plays whatever bytes it likes. The socket stays open unless the script ends it. */
export type RawScript = (socket: Socket, request: RawRequest) => void;

export interface RawServerOptions {
  readonly certificate?: Certificate;
  readonly address?: string;
  readonly port?: number;
  /** Called for every connection before anything was read from it. */
  readonly onConnection?: (socket: Socket) => void;
}

export interface RawServer extends ListeningServer {
  /** Heads of all requests, in order. */
  readonly heads: readonly string[];
  readonly origin: string;
}

/** A server that answers each request head with scripted bytes, plain or over TLS. */
export async function startRawServer(script: RawScript, options: RawServerOptions = {}): Promise<RawServer> {
  const {certificate, address = '127.0.0.1', port, onConnection} = options;
  const heads: string[] = [];
  const serve = (socket: Socket): void => {
    let received = '';
    let index = 0;
    socket.on('error', () => {});
    onConnection?.(socket);
    socket.on('data', bytes => {
      received += bytes.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end + 4);
        received = received.slice(end + 4);
        heads.push(head);
        script(socket, {head, index});
        index += 1;
      }
    });
  };
  const server =
    certificate === undefined
      ? createTcpServer({noDelay: true}, serve)
      : createTlsServer({cert: certificate.chain, key: certificate.key, noDelay: true}, serve);
  server.on('tlsClientError', () => {});
  const listening = await listen(server, address, port);
  const scheme = certificate === undefined ? 'http' : 'https';
  return {...listening, heads, origin: `${scheme}://${address}:${listening.port}`};
}
