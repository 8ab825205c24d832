import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type {Socket} from 'node:net';
import {pipeline} from 'node:stream';
import {connect, TLSSocket} from 'node:tls';
import type {EgressTarget} from '../../core/egress/egress-gate.ts';
import type {Stopped} from '../listen-for.ts';
import type {CredentialedHosts, EgressCredential} from './credentialed-hosts.ts';
import {type RewrittenRequest, rewriteRequest} from './rewrite-request.ts';

export interface Forwarding {
  readonly client: Socket;
  /** What was read of it already: its ClientHello. */
  readonly first: Buffer;
  /** Connected to a checked address of the host, and nothing said yet. */
  readonly upstream: Socket;
  readonly target: EgressTarget;
  readonly credential: EgressCredential;
  readonly hosts: CredentialedHosts;
  /** Hears of bytes that went up and down; false where there may be no more. */
  readonly onMoved: (up: number, down: number) => boolean;
  readonly onStopped: (stopped: Stopped) => void;
  /** Fired by whoever has told of its end. */
  readonly signal: AbortSignal;
}

/** Of what the other side says about its connection to us. */
const FOR_US = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const HTTP_1_1 = ['http/1.1'];

/**
 * Ends the TLS of a command, and speaks TLS of our own to the host. Each request is read, written anew and given the
 * secret. Nothing is sent before the host has proven who it is. One connection to the host for one of the command.
 */
export function forwardRequests({
  client,
  first,
  upstream,
  target,
  credential,
  hosts,
  onMoved,
  onStopped,
  signal,
}: Forwarding): void {
  const secured = connect({
    socket: upstream,
    servername: target.host,
    // Whatever the environment of the host says.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: HTTP_1_1,
    ...(hosts.authorities === undefined ? {} : {ca: [...hosts.authorities]}),
  });
  let inner: TLSSocket | undefined;
  let open = 0;
  const moved = meter(upstream, onMoved);
  signal.addEventListener('abort', () => {
    inner?.destroy();
    secured.destroy();
  });
  secured.on('error', error => {
    const code = 'code' in error ? String(error.code) : error.message;
    onStopped({decision: 'failed', reason: `${target.host} was not spoken to by TLS (${code}).`});
  });
  secured.once('close', () => {
    if (open === 0) inner?.end();
  });

  const agent = new Agent({keepAlive: true, maxSockets: 1});
  let isGiven = false;
  agent.createConnection = (_, callback) => {
    if (isGiven) {
      const gone = Object.assign(new Error('The host has closed the connection.'), {code: 'ECONNRESET'});
      process.nextTick(() => callback?.(gone, secured));
      return null;
    }
    isGiven = true;
    return secured;
  };

  const server = createServer(
    {insecureHTTPParser: false, joinDuplicateHeaders: false},
    (request, response) => {
      open += 1;
      response.once('close', () => {
        open -= 1;
        moved();
        // It was the last one where the host wants no more.
        if (open === 0 && secured.destroyed) inner?.end();
      });
      response.sendDate = false;
      const rewritten = rewriteRequest(
        {method: request.method ?? '', url: request.url ?? '', rawHeaders: request.rawHeaders},
        target,
        credential,
      );
      if (rewritten.ok) pass(request, response, rewritten.value);
      else refuse(response, rewritten.error.status, rewritten.error.reason);
    },
  );
  const notHttp = (): void =>
    onStopped({decision: 'refused', reason: 'What it sent in TLS is not HTTP/1.1.'});
  server.on('clientError', notHttp).on('connect', notHttp);

  const refuse = (response: ServerResponse, status: number, reason: string): void => {
    response.writeHead(status, {'content-type': 'text/plain; charset=utf-8', connection: 'close'});
    response.end(`${reason}\n`, () => {
      moved();
      onStopped({decision: 'refused', reason});
    });
  };

  const pass = (
    request: IncomingMessage,
    response: ServerResponse,
    {method, path, headers}: RewrittenRequest,
  ): void => {
    const sent = sendRequest({
      agent,
      host: target.host,
      port: target.port,
      method,
      path,
      headers: [...headers],
    });
    const onFailed = (): void => {
      if (!response.headersSent) response.writeHead(502, {connection: 'close'}).end();
      else response.destroy();
    };
    sent.on('error', onFailed);
    sent.once('response', answer => {
      if (hasSecret(answer.rawHeaders, credential)) {
        answer.destroy();
        refuse(response, 502, 'The host answers with the credential in its header.');
        return;
      }
      // The next request would need a connection that is no more.
      if (/\bclose\b/i.test(answer.headers.connection ?? '')) response.shouldKeepAlive = false;
      response.writeHead(answer.statusCode ?? 502, keptOf(answer.rawHeaders));
      answer.on('data', moved);
      pipeline(answer, response, error => {
        if (error) onFailed();
      });
    });
    // A command that is gone wants no answer.
    response.once('close', () => {
      if (!response.writableFinished) sent.destroy();
    });
    request.on('data', moved);
    request.pipe(sent);
  };

  secured.once('secureConnect', () => {
    // What was read of the ClientHello is read again.
    client.unshift(first);
    inner = new TLSSocket(client, {isServer: true, secureContext: hosts.context, ALPNProtocols: HTTP_1_1});
    const tls = inner;
    tls.on('error', () =>
      onStopped({
        decision: 'failed',
        reason: 'The command does not trust the gate, or broke the connection.',
      }),
    );
    tls.once('secure', () => server.emit('connection', tls));
  });
}

/** Tells of what went over the wire since it was last asked. */
function meter(socket: Socket, onMoved: Forwarding['onMoved']): () => void {
  let up = 0;
  let down = 0;
  return () => {
    const {bytesWritten, bytesRead} = socket;
    onMoved(bytesWritten - up, bytesRead - down);
    up = bytesWritten;
    down = bytesRead;
  };
}

/** Short words are in headers by chance. */
const LEAST_SECRET = 8;

function hasSecret(rawHeaders: readonly string[], credential: EgressCredential): boolean {
  const value = credential.value();
  const secret = value.slice(value.lastIndexOf(' ') + 1);
  return rawHeaders.some(
    text => text.includes(value) || (secret.length >= LEAST_SECRET && text.includes(secret)),
  );
}

function keptOf(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!FOR_US.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
