import {createServer as createHttpServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createServer as createHttpsServer} from 'node:https';
import type {Certificate} from './certificates.ts';
import {type ListeningServer, listen} from './listening-server.ts';

export type PathHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServerOptions {
  /** Serves https with this certificate. */
  readonly certificate?: Certificate;
  readonly address?: string;
  readonly port?: number;
  /** PEM; a client without a certificate of this authority is turned away. */
  readonly clientCa?: string;
}

export interface TestHttpServer extends ListeningServer {
  /** `http://127.0.0.1:port` or the https form. */
  readonly origin: string;
  /** `METHOD /path?query` of every request, in order. */
  readonly requests: readonly string[];
  /** Header fields of every request, lower case. */
  readonly requestHeaders: readonly IncomingMessage['headers'][];
}

/** A web server on loopback. `handlers` go by path without query; `*` answers what has none, else 404. */
export async function startHttpServer(
  handlers: Readonly<Record<string, PathHandler>>,
  options: HttpServerOptions = {},
): Promise<TestHttpServer> {
  const {certificate, address = '127.0.0.1', port, clientCa} = options;
  const requests: string[] = [];
  const requestHeaders: IncomingMessage['headers'][] = [];
  const onRequest: PathHandler = (request, response) => {
    const target = request.url ?? '/';
    requests.push(`${request.method} ${target}`);
    requestHeaders.push(request.headers);
    const handler = handlers[target.split('?')[0] ?? ''] ?? handlers['*'];
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  };
  const server =
    certificate === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer(
          {
            cert: certificate.chain,
            key: certificate.key,
            ...(clientCa === undefined ? {} : {requestCert: true, rejectUnauthorized: true, ca: clientCa}),
          },
          onRequest,
        );
  const listening = await listen(server, address, port);
  const scheme = certificate === undefined ? 'http' : 'https';
  const host = address.includes(':') ? `[${address}]` : address;
  return {...listening, origin: `${scheme}://${host}:${listening.port}`, requests, requestHeaders};
}
