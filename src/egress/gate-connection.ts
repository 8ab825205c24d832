// One connection of a command through the gate. It reads which host is asked for, decides, connects, passes bytes
// on and writes a record.
import {connect, type LookupFunction, type OnReadOpts, type Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';
import type {EgressConnection, EgressTarget} from '../core/egress-gate.ts';
import type {Result} from '../core/result.ts';
import {type AllowList, settingName} from './allow-list.ts';
import {type CredentialedHosts, type EgressCredential, forwardRequests} from './forward-requests.ts';
import {parseProxyRequest} from './proxy-request.ts';
import {answerAndClose, joinSockets, listenFor, PieceReader, readHead, type Stopped} from './sockets.ts';
import {type RecordsState, TlsRecords} from './tls-names.ts';
import {overBudget, type Visit} from './visit.ts';

/** Neither side says anything. A server may take a minute to make a pack. */
const IDLE_TIMEOUT_MS = 120_000;
const MOST_SHOWN = 255;
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
export interface GateDeps {
  readonly allowList: AllowList;
  /** The checked addresses of a host that is allowed. Resolved anew, and never connected to by name. */
  readonly authorize: (target: EgressTarget, signal: AbortSignal) => Promise<Result<readonly string[]>>;
  readonly clock: Clock;
  /** Hosts whose requests get a secret here. Default: none, and TLS is passed on as it is. */
  readonly credentialed?: CredentialedHosts | undefined;
}

/** One connection of a command, from its first byte to its record. Never rejects. */
export class GateConnection {
  readonly #client: Socket;
  readonly #visit: Visit;
  readonly #deps: GateDeps;
  readonly #startedAt: number;
  readonly #controller = new AbortController();
  readonly #end = (): void => this.#leave('The command ended first.');
  #upstream: Socket | undefined;
  #bytesUp = 0;
  #bytesDown = 0;
  #host = '';
  #port = 0;
  #address = '';
  #allowedBy = '';
  #isRecorded = false;
  #cancelIdle = (): void => {};
  /** Counts what has moved and was not told of yet. */
  #readMeter = (): void => {};
  #movedAt = 0;

  constructor(client: Socket, visit: Visit, deps: GateDeps) {
    this.#client = client;
    this.#visit = visit;
    this.#deps = deps;
    this.#startedAt = deps.clock.monotonic();
    client.on('error', () => this.#leave('The command broke the connection.'));
  }

  async run(): Promise<void> {
    const full = this.#visit.enter(this.#end);
    if (full !== undefined) {
      this.#stop({decision: 'refused', reason: full, status: 503});
      return;
    }
    const {clock} = this.#deps;
    const cancelLife = clock.after(this.#visit.limits.maxConnectionMs, () =>
      this.#stop({decision: 'failed', reason: 'Its time was up (tools.run.egress.max_connection_sec).'}),
    );
    this.#client.once('close', cancelLife);
    const stopped = await this.#open();
    if (stopped !== undefined) this.#stop(stopped);
  }

  /** The order is the security model: nothing is looked up that is not allowed, and nothing connected to that was not checked. */
  async #open(): Promise<Stopped | undefined> {
    const read = await readHead(this.#client, this.#deps.clock);
    if ('decision' in read) return read;
    const parsed = parseProxyRequest(read.head);
    if (!parsed.ok) {
      const {status, reason, authority} = parsed.error;
      this.#host = authority.replace(/[^\x21-\x7e]/g, '?').slice(0, MOST_SHOWN);
      return {decision: 'refused', reason, status};
    }
    const {target, head} = parsed.value;
    this.#host = target.host;
    this.#port = target.port;
    const refused = await this.#refusal(target);
    if (refused !== undefined) return refused;
    const addresses = await this.#deps.authorize(target, this.#controller.signal);
    if (this.#isRecorded) return undefined;
    if (!addresses.ok) {
      const {code, message} = addresses.error;
      const isRefused = code === 'ssrf_blocked' || code === 'port_blocked';
      return {decision: isRefused ? 'refused' : 'failed', reason: message, status: isRefused ? 403 : 502};
    }
    if (target.scheme === 'http') return this.#passOn(addresses.value, target, Buffer.from(head, 'latin1'));
    this.#client.write(ESTABLISHED);
    return this.#openTunnel(addresses.value, target, read.rest);
  }

  async #refusal(target: EgressTarget): Promise<Stopped | undefined> {
    if (!this.#visit.hasBytesLeft) return overBudget(403);
    const listed = this.#deps.allowList.allowing(target);
    if (listed !== undefined) {
      this.#allowedBy = listed;
      return undefined;
    }
    const name = settingName(target);
    const what = `${name} is not in tools.run.egress.allow`;
    if (!this.#visit.asks) {
      return {
        decision: 'refused',
        reason: `${what}. The operator can add it.`,
        status: 403,
        isUnlisted: true,
      };
    }
    const asked = await this.#visit.ask(target);
    if (!asked.ok) {
      return {decision: 'refused', reason: `${what}. ${asked.error.message}`, status: 403, isUnlisted: true};
    }
    this.#allowedBy = 'an approval';
    return undefined;
  }

  /** Nothing of a tunnel is sent, and nobody connected to, before its ClientHello is read. */
  async #openTunnel(
    addresses: readonly string[],
    target: EgressTarget,
    early: Buffer,
  ): Promise<Stopped | undefined> {
    const records = new TlsRecords(target.host);
    const chunks: Buffer[] = [];
    const look = (chunk: Buffer): {readonly first: Buffer} | Stopped | undefined => {
      chunks.push(chunk);
      const state = records.take(chunk);
      if (state.kind === 'refused') return {decision: 'refused', reason: state.reason};
      return state.kind === 'open' ? {first: Buffer.concat(chunks)} : undefined;
    };
    const seen =
      (early.length > 0 ? look(early) : undefined) ?? (await listenFor(look, this.#client, this.#deps.clock));
    // In a tunnel we no longer speak HTTP with the client.
    if ('decision' in seen) return {decision: seen.decision, reason: seen.reason};
    const {credentialed} = this.#deps;
    const credential = credentialed?.credentialOf(target);
    return credentialed === undefined || credential === undefined
      ? this.#passOn(addresses, target, seen.first, records)
      : this.#forward(addresses, target, seen.first, credentialed, credential);
  }

  /** `records` looks at what the client sends on; without it, nothing more is taken from the client. */
  async #passOn(
    addresses: readonly string[],
    target: EgressTarget,
    first: Buffer,
    records?: TlsRecords,
  ): Promise<Stopped | undefined> {
    const reader = new PieceReader();
    const socket = await this.#connect(addresses, target, reader.onread);
    if (socket === undefined) return undefined;
    if ('decision' in socket) return records === undefined ? {...socket, status: 502} : socket;
    if (!this.#move(first.length, 'up')) return overBudget();
    socket.write(first);
    joinSockets({
      client: this.#client,
      upstream: socket,
      reader,
      onUp: records && (chunk => this.#passes(records.take(chunk)) && this.#mayMove(chunk.length, 'up')),
      onDown: chunk => this.#mayMove(chunk.length, 'down'),
      onOver: () => this.#finish(),
    });
    return undefined;
  }

  /** The command never sees the secret, and the host sees it only from us. */
  async #forward(
    addresses: readonly string[],
    target: EgressTarget,
    first: Buffer,
    hosts: CredentialedHosts,
    credential: EgressCredential,
  ): Promise<Stopped | undefined> {
    const upstream = await this.#connect(addresses, target);
    if (upstream === undefined || 'decision' in upstream) return upstream;
    this.#allowedBy += `, with ${credential.by}`;
    this.#client.once('close', () => this.#finish());
    this.#readMeter = forwardRequests({
      client: this.#client,
      first,
      upstream,
      target,
      credential,
      hosts,
      onMoved: (up, down) => this.#mayMove(up, 'up') && this.#mayMove(down, 'down'),
      onStopped: stopped => this.#stop(stopped),
      signal: this.#controller.signal,
    });
    return undefined;
  }

  /** `undefined` where the connection has ended meanwhile. */
  async #connect(
    addresses: readonly string[],
    target: EgressTarget,
    onread?: OnReadOpts,
  ): Promise<Socket | Stopped | undefined> {
    const {clock} = this.#deps;
    const {host, port} = target;
    const dialed = await dial(addresses, port, {clock, signal: this.#controller.signal, onread});
    if (this.#isRecorded) {
      if (typeof dialed !== 'string') dialed.socket.destroy();
      return undefined;
    }
    if (typeof dialed === 'string') {
      return {decision: 'failed', reason: `${host}:${port} could not be connected to (${dialed}).`};
    }
    const {socket, address} = dialed;
    this.#upstream = socket;
    this.#address = address;
    this.#visit.reached(target);
    socket.on('error', error =>
      this.#stop({
        decision: 'failed',
        reason: `The connection broke (${'code' in error ? error.code : error.message}).`,
      }),
    );
    this.#movedAt = clock.monotonic();
    this.#watchIdle();
    return socket;
  }

  #passes(state: RecordsState): boolean {
    if (state.kind === 'refused') this.#stop({decision: 'refused', reason: state.reason});
    return state.kind !== 'refused';
  }

  #mayMove(bytes: number, way: 'up' | 'down'): boolean {
    const may = this.#move(bytes, way);
    if (!may) this.#stop(overBudget());
    return may;
  }

  #move(bytes: number, way: 'up' | 'down'): boolean {
    if (way === 'up') this.#bytesUp += bytes;
    else this.#bytesDown += bytes;
    this.#movedAt = this.#deps.clock.monotonic();
    return this.#visit.move(bytes);
  }

  #watchIdle(): void {
    const {clock} = this.#deps;
    const left = this.#movedAt + IDLE_TIMEOUT_MS - clock.monotonic();
    this.#cancelIdle = clock.after(left > 0 ? left : IDLE_TIMEOUT_MS, () => {
      if (clock.monotonic() - this.#movedAt < IDLE_TIMEOUT_MS) this.#watchIdle();
      else this.#stop({decision: 'failed', reason: 'Nothing was said for two minutes.'});
    });
  }

  /** The command let go of it, which is the usual end of a connection that is kept alive. */
  #leave(reason: string): void {
    if (this.#upstream === undefined) this.#stop({decision: 'failed', reason});
    else this.#finish();
  }

  /** It went as it should. */
  #finish(): void {
    this.#record('allowed', `Allowed by ${this.#allowedBy}.`, false);
    this.#destroy();
  }

  #stop({decision, reason, status, isUnlisted = false}: Stopped): void {
    if (this.#isRecorded) return;
    this.#record(decision, reason, isUnlisted);
    if (status === undefined) this.#destroy();
    else {
      this.#upstream?.destroy();
      answerAndClose(this.#client, {status, reason}, this.#deps.clock);
    }
  }

  #destroy(): void {
    this.#client.destroy();
    this.#upstream?.destroy();
  }

  #record(decision: EgressConnection['decision'], reason: string, isUnlisted: boolean): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    this.#cancelIdle();
    this.#readMeter();
    this.#controller.abort();
    this.#visit.leave(this.#end, {
      host: this.#host,
      port: this.#port,
      decision,
      reason,
      address: this.#address,
      bytesUp: this.#bytesUp,
      bytesDown: this.#bytesDown,
      durationMs: this.#deps.clock.monotonic() - this.#startedAt,
      isUnlisted,
    });
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

interface DialOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Hears what is said, once the socket is resumed. Default: the socket's own events. */
  readonly onread?: OnReadOpts | undefined;
}

/**
 * Connects to the first of the addresses that answers; never to a name. The socket is paused. The error is the code of the
 * last address.
 */
async function dial(
  addresses: readonly string[],
  port: number,
  options: DialOptions,
): Promise<{readonly socket: Socket; readonly address: string} | string> {
  let problem = 'EADDRNOTAVAIL';
  for (const address of addresses) {
    const tried = await dialOne(address, port, options);
    if (typeof tried !== 'string') return {socket: tried, address};
    problem = tried;
    if (options.signal.aborted) break;
  }
  return problem;
}

/** A name was resolved before, by what checks the answer. */
const refuseName: LookupFunction = (name, _, callback) =>
  callback(new Error(`Expected an address, got ${name}.`), '');

function dialOne(host: string, port: number, {clock, signal, onread}: DialOptions): Promise<Socket | string> {
  return new Promise(resolve => {
    const options = {host, port, allowHalfOpen: true, noDelay: true, lookup: refuseName};
    const socket = connect(onread === undefined ? options : {...options, onread});
    // Nobody listens before it is known that this address answers.
    socket.pause();
    const finish = (outcome: Socket | string): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // What fails from here on is heard by its next user.
      socket.on('error', () => {});
      if (typeof outcome === 'string') socket.destroy();
      resolve(outcome);
    };
    const onAbort = (): void => finish('ECANCELED');
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => finish('ETIMEDOUT'));
    signal.addEventListener('abort', onAbort, {once: true});
    socket.once('connect', () => finish(socket));
    socket.once('error', error => finish('code' in error ? String(error.code) : error.message));
    if (signal.aborted) onAbort();
  });
}
