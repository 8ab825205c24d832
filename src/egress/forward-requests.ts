// Ends the TLS of a command for a host with a credential, and speaks TLS of our own to the host. It writes each
// request anew, with the secret added.
import {readFileSync} from 'node:fs';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type {Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {connect, createSecureContext, rootCertificates, type SecureContext, TLSSocket} from 'node:tls';
import type {Clock} from '../core/clock.ts';
import type {EgressTarget} from '../core/egress-gate.ts';
import {ok, type Result} from '../core/result.ts';
import {errorReason} from '../system/errors.ts';
import {createCertificateAuthority} from './certificate-authority.ts';
import type {Stopped} from './sockets.ts';

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
// biome-ignore format: a list
const FOR_US = new Set([
  'connection', 'keep-alive', 'proxy-authenticate', 'proxy-connection', 'te', 'trailer', 'transfer-encoding',
  'upgrade',
]);
const HTTP_1_1 = ['http/1.1'];

/**
 * Ends the TLS of a command, and speaks TLS of our own to the host. Each request is read, written anew and given the
 * secret. Nothing is sent before the host has proven who it is. One connection to the host for one of the command, and
 * one request at a time. The value tells `onMoved` of what moved since it was last told.
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
}: Forwarding): () => void {
  const moved = meter({client, upstream, first}, onMoved);
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
  let commands: OneRequest | undefined;
  /** Read, and not yet answered. */
  let present: IncomingMessage | undefined;
  signal.addEventListener('abort', () => {
    inner?.destroy();
    secured.destroy();
  });
  const failed = (reason: string): void => onStopped({decision: 'failed', reason});
  const refused = (reason: string): void => onStopped({decision: 'refused', reason});
  secured.once('close', () => {
    if (present === undefined) inner?.end();
  });
  secured.on('error', error => failed(`${target.host} was not spoken to by TLS (${errorReason(error)}).`));

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

  /** What throws on the words of a stranger ends this connection, and not the process. */
  const contained =
    <Heard extends unknown[]>(handle: (...heard: Heard) => void) =>
    (...heard: Heard): void => {
      try {
        handle(...heard);
      } catch (error) {
        failed(`What ${target.host} or the command said could not be passed on (${errorReason(error)}).`);
      }
    };

  const server = createServer(
    // How long the connection is kept is for the gate to say.
    {insecureHTTPParser: false, joinDuplicateHeaders: false, keepAliveTimeout: 0},
    contained((request: IncomingMessage, response: ServerResponse) => {
      if (present !== undefined) return refused('It sent a request inside of another.');
      present = request;
      response.once('close', () => {
        present = undefined;
        // It was the last one where the host wants no more.
        if (secured.destroyed) inner?.end();
        else readOn();
      });
      response.sendDate = false;
      const rewritten = rewriteRequest(
        {method: request.method ?? '', url: request.url ?? '', rawHeaders: request.rawHeaders},
        target,
        credential,
      );
      if (!rewritten.ok) return answerLast(response, rewritten.error, refused);
      commands?.expectBody(Number(request.headers['content-length'] ?? 0));
      return pass(request, response, rewritten.value);
    }),
  );
  const notHttp = (): void => refused('What it sent in TLS is not HTTP/1.1.');
  const broken = (): void => failed('The command does not trust the gate, or broke the connection.');
  server.on('clientError', error => (/^HPE_/.test(errorReason(error)) ? notHttp() : broken()));
  server.on('connect', notHttp);

  const readOn = (): void => {
    moved();
    if (present?.complete !== true) commands?.readOn();
  };

  const answerLast = (
    response: ServerResponse,
    {status, reason}: {readonly status: number; readonly reason: string},
    stop: (reason: string) => void,
  ): void => {
    response.writeHead(status, {'content-type': 'text/plain; charset=utf-8', connection: 'close'});
    response.end(`${reason}\n`, () => stop(reason));
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
    let hasLeft = false;
    const onFailed = (error: Error): void => {
      if (hasLeft) return;
      const reason = `${target.host} broke off its answer (${errorReason(error)}).`;
      if (response.headersSent) failed(reason);
      else answerLast(response, {status: 502, reason}, failed);
    };
    sent.on('error', contained(onFailed)).on('information', moved);
    const onAnswer = (answer: IncomingMessage): void => {
      answer.on('error', contained(onFailed)).on('data', moved);
      const {statusCode = 0, rawHeaders} = answer;
      // Node takes any three digits for a status.
      if (statusCode < 200 || statusCode > 599) {
        const reason = `${target.host} answers with the status ${statusCode}, which HTTP does not have.`;
        answerLast(response, {status: 502, reason}, failed);
        return;
      }
      if (hasSecret(rawHeaders, credential)) {
        const reason = 'The host answers with the credential in its header.';
        answerLast(response, {status: 502, reason}, refused);
        return;
      }
      // The next request would need a connection that is no more.
      if (/\bclose\b/i.test(answer.headers.connection ?? '')) response.shouldKeepAlive = false;
      response.writeHead(statusCode, keptOf(rawHeaders));
      answer.pipe(response);
    };
    sent.once('response', contained(onAnswer));
    // A command that is gone wants no answer.
    response.once('close', () => {
      hasLeft = !response.writableFinished;
      if (hasLeft) sent.destroy();
    });
    request.pipe(sent);
  };

  secured.once('secureConnect', () => {
    // What was read of the ClientHello is read again.
    client.unshift(first);
    const tls = new TLSSocket(client, {
      isServer: true,
      secureContext: hosts.context,
      ALPNProtocols: HTTP_1_1,
    });
    tls.on('error', broken);
    inner = tls;
    tls.once('secure', () => {
      commands = new OneRequest(tls);
      server.emit('connection', commands);
      // Heard after the server has parsed the piece.
      commands.on('data', readOn);
    });
  });
  return moved;
}

/**
 * Tells of what went over the wire since it was last asked. Each way counts at the end where it is more: a request grows
 * by the secret, and one that is refused has been read all the same.
 */
function meter(
  {client, upstream, first}: Pick<Forwarding, 'client' | 'upstream' | 'first'>,
  onMoved: Forwarding['onMoved'],
): () => void {
  // Without the CONNECT and its answer.
  const {bytesRead, bytesWritten} = client;
  const before = bytesRead - first.length;
  let up = 0;
  let down = 0;
  return () => {
    const upNow = Math.max(client.bytesRead - before, upstream.bytesWritten);
    const downNow = Math.max(client.bytesWritten - bytesWritten, upstream.bytesRead);
    onMoved(upNow - up, downNow - down);
    up = upNow;
    down = downNow;
  };
}

/** Short words are in headers by chance. */
const LEAST_SECRET = 8;

/** Looks at each field as it is and percent-decoded. Other codings, and parts in two fields, are not found. */
function hasSecret(rawHeaders: readonly string[], credential: EgressCredential): boolean {
  const value = credential.value();
  const secret = value.slice(value.lastIndexOf(' ') + 1);
  return rawHeaders
    .flatMap(text => [text, percentDecoded(text)])
    .some(text => text.includes(value) || (secret.length >= LEAST_SECRET && text.includes(secret)));
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function keptOf(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!FOR_US.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

const NOTHING = Buffer.alloc(0);
/** Ends the head of a request, and a body in chunks. */
const BLANK_LINE = '\r\n\r\n';

/**
 * Node's server reads a command through this, one request at a time. A server that is given a socket reads on while it
 * answers, and keeps a request for every forty bytes. The server's parser decides where a request ends; a border that is
 * missed here puts two requests into one piece, which the reader refuses.
 */
export class OneRequest extends Duplex {
  readonly #tls: TLSSocket;
  /** Read from the command, and not yet handed over. */
  #ahead: Buffer = NOTHING;
  /** The last bytes that were handed over: a blank line may begin in them. */
  #tail = '';
  /** The body of a counted length has so many bytes to come. */
  #bodyBytes = 0;
  #isWanted = false;
  #isHeld = false;
  #hasEnded = false;

  constructor(tls: TLSSocket) {
    super();
    this.#tls = tls;
    tls.on('readable', () => this.#give());
    tls.once('end', () => {
      this.#hasEnded = true;
      this.#give();
    });
    tls.once('close', () => this.destroy());
  }

  /** The present request has a body of that many bytes. */
  expectBody(bytes: number): void {
    this.#bodyBytes = bytes;
  }

  /** The last piece was parsed. Until this is called there is no other. */
  readOn(): void {
    this.#isHeld = false;
    this.#give();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#give();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#tls.write(chunk, encoding, callback);
  }

  override _final(callback: () => void): void {
    this.#tls.destroySoon();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#tls.destroy();
    callback(error);
  }

  #give(): void {
    // The end of the stream is noticed by reading, so one buffer is read even while a request is answered.
    if (this.#ahead.length === 0) this.#ahead = this.#tls.read() ?? NOTHING;
    if (this.#ahead.length === 0) {
      if (this.#hasEnded) this.push(null);
      return;
    }
    if (!this.#isWanted || this.#isHeld) return;
    this.#isWanted = false;
    this.#isHeld = true;
    const piece = this.#ahead.subarray(0, this.#pieceBytes());
    this.#ahead = this.#ahead.subarray(piece.length);
    this.push(piece);
  }

  /** A piece has the rest of a body and nothing behind it, or ends with the next blank line. */
  #pieceBytes(): number {
    if (this.#bodyBytes > 0) {
      const bytes = Math.min(this.#bodyBytes, this.#ahead.length);
      this.#bodyBytes -= bytes;
      this.#tail = '';
      return bytes;
    }
    const text = this.#tail + this.#ahead.toString('latin1');
    const at = text.indexOf(BLANK_LINE);
    const bytes = at < 0 ? this.#ahead.length : at + BLANK_LINE.length - this.#tail.length;
    this.#tail = at < 0 ? text.slice(1 - BLANK_LINE.length) : '';
    return bytes;
  }
}

/** What of a request was read. */
export interface ReadRequest {
  readonly method: string;
  readonly url: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** The request as the host gets it. */
export interface RewrittenRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export interface RefusedRequest {
  readonly status: 400 | 403 | 405 | 501;
  readonly reason: string;
}

const MOST_FIELDS = 100;
/** RFC 9110 §5.5 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Not TRACE, which is answered with the request and the secret in it. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** RFC 9110 §7.6.1: what is about one connection; `expect` was answered here. */
const FOR_THE_GATE = new Set([
  'connection',
  'proxy-connection',
  'proxy-authorization',
  'keep-alive',
  'te',
  'expect',
  'host',
]);
/** What would make another protocol, or another end, of the message. */
const REFUSED = new Set(['upgrade', 'trailer', 'http2-settings']);

/**
 * A request written anew, with the secret, or why it is not sent. It is for one host by name, address and `Host`, and
 * says once how long it is; a field of the secret's name that the command sends is left out.
 */
export function rewriteRequest(
  {method, url, rawHeaders}: ReadRequest,
  {host, port}: EgressTarget,
  credential: EgressCredential,
): Result<RewrittenRequest, RefusedRequest> {
  const refuse = (status: RefusedRequest['status'], reason: string): Result<never, RefusedRequest> => ({
    ok: false,
    error: {status, reason},
  });
  if (!METHODS.has(method)) return refuse(405, `"${method}" does not go through the gate with a credential.`);
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(url)) return refuse(400, 'The request does not ask for a path.');
  const fields: {readonly name: string; readonly value: string}[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    fields.push({name: (rawHeaders[at] ?? '').toLowerCase(), value: rawHeaders[at + 1] ?? ''});
  }
  if (fields.length > MOST_FIELDS || !fields.every(({value}) => VALUE.test(value))) {
    return refuse(400, `The header has more than ${MOST_FIELDS} fields, or characters that none has.`);
  }
  const valuesOf = (wanted: string): readonly string[] =>
    fields.filter(({name}) => name === wanted).map(({value}) => value.toLowerCase());
  const authority = port === 443 ? host : `${host}:${port}`;
  const [named, ...others] = valuesOf('host');
  if (others.length > 0 || (named !== authority && named !== `${host}:${port}`)) {
    return refuse(403, 'The Host is not that of the tunnel.');
  }
  const banned = fields.find(({name}) => REFUSED.has(name));
  if (banned !== undefined)
    return refuse(501, `A request with "${banned.name}" does not go through the gate.`);
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding');
  if (lengths.length + codings.length > 1 || codings.some(coding => coding !== 'chunked')) {
    return refuse(400, 'The request does not say once how long it is.');
  }
  const secretName = credential.header.toLowerCase();
  const kept = fields.filter(({name}) => !FOR_THE_GATE.has(name) && name !== secretName);
  const headers = ['Host', authority, ...kept.flatMap(({name, value}) => [name, value])];
  if (WITH_BODY.has(method) && lengths.length + codings.length === 0) headers.push('content-length', '0');
  return ok({method, path: url, headers: [...headers, credential.header, credential.value()]});
}

/** A secret that the gate adds to the requests for one host, so that no sandbox holds it. */
export interface EgressCredential {
  readonly host: string;
  readonly port: number;
  /** The header that carries it. */
  readonly header: string;
  /** Behind a function, so that nothing that prints an object has it. */
  readonly value: () => string;
  /** The setting it comes from. */
  readonly by: string;
}

/** The hosts for which the gate ends TLS, and for no others. */
export interface CredentialedHosts {
  /** PEM of the authorities that commands are to trust: those of the system, and the gate's own. */
  readonly bundle: string;
  readonly credentialOf: (target: EgressTarget) => EgressCredential | undefined;
  /** With what the gate speaks to commands in the place of a host. */
  readonly context: SecureContext;
  /** Whom the gate believes that a host is itself; `undefined` stands for what Node believes. */
  readonly authorities: readonly string[] | undefined;
}

/** Where systems have their authorities in one file: Debian, Fedora, Alpine and BSD. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

export function createCredentialedHosts(
  credentials: readonly EgressCredential[],
  authorities: readonly string[] | undefined,
  clock: Clock,
): CredentialedHosts {
  const {certificate, leaf} = createCertificateAuthority(
    [...new Set(credentials.map(({host}) => host))],
    clock,
  );
  return {
    bundle: `${systemBundle()}\n${certificate}`,
    credentialOf: ({scheme, host, port}) =>
      scheme === 'https'
        ? credentials.find(credential => credential.host === host && credential.port === port)
        : undefined,
    context: createSecureContext({cert: leaf.certificate, key: leaf.key, minVersion: 'TLSv1.2'}),
    authorities,
  };
}

function systemBundle(): string {
  for (const path of SYSTEM_BUNDLES) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The next one, and in the end those that Node brings.
    }
  }
  return rootCertificates.join('\n');
}
