import {createServer} from 'node:http';
import {connect} from 'node:net';
import {type ListeningServer, listen} from './listening-server.ts';

export interface ProxyServerOptions {
  /** The `Proxy-Authorization` it asks for. */
  readonly authorization?: string;
  /** Authorities that it answers with this status instead of a connection. */
  readonly refuse?: Readonly<Record<string, number>>;
  /** Where a connection goes in truth, by authority; without an entry, to the authority itself. */
  readonly route?: Readonly<Record<string, {readonly host: string; readonly port: number}>>;
}

export interface TestProxyServer extends ListeningServer {
  /** Authorities that were asked for with CONNECT, in order. */
  readonly connects: readonly string[];
  /** Requests in absolute form, which nobody should send. */
  readonly requests: readonly string[];
  readonly origin: string;
}

/** A forward proxy on loopback that knows CONNECT only. */
export async function startProxyServer(options: ProxyServerOptions = {}): Promise<TestProxyServer> {
  const {authorization, refuse = {}, route = {}} = options;
  const connects: string[] = [];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(405).end();
  });
  server.on('connect', (request, client) => {
    const authority = request.url ?? '';
    connects.push(authority);
    client.on('error', () => {});
    if (authorization !== undefined && request.headers['proxy-authorization'] !== authorization) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const status = refuse[authority];
    if (status !== undefined) {
      client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      return;
    }
    const split = /^\[?(.*?)\]?:([0-9]+)$/.exec(authority);
    const upstream = connect(route[authority] ?? {host: split?.[1] ?? '', port: Number(split?.[2])}, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  const listening = await listen(server);
  return {...listening, connects, requests, origin: `http://127.0.0.1:${listening.port}`};
}
