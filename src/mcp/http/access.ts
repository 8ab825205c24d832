// Decides who may use the service over HTTP: token, host, origin, and places for connections without a token.
import {createHash, timingSafeEqual} from 'node:crypto';
import {readFile, rm} from 'node:fs/promises';
import type {IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {validateHostHeader, validateOriginHeader} from '@modelcontextprotocol/server';
import type {Clock} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {errorReason} from '../../system/errors.ts';
import {replaceFile} from '../../system/replace-file.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** JSON-RPC error code. Default: -32000. */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AccessRules {
  readonly path: string;
  readonly token: string;
  /** Names without port, IPv6 in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/**
 * What is refused before anything of a request is read. Host and Origin come first: a page that reaches
 * us through a name of its own (DNS rebinding) learns nothing, not even that a token is needed.
 */
export function checkRequest(
  request: IncomingMessage,
  {path, token, allowedHosts, allowedOrigins}: AccessRules,
): Refusal | undefined {
  const {headers, method, url} = request;
  if (!validateHostHeader(headers.host, [...allowedHosts]).ok) {
    return {
      status: 421,
      message: 'This host name is not served here. Add it to the allowed hosts of the server.',
    };
  }
  if (!validateOriginHeader(headers.origin, [...allowedOrigins]).ok) {
    return {status: 403, message: 'This origin may not call. Add it to the allowed origins of the server.'};
  }
  if (url?.split('?', 1)[0] !== path) return {status: 404, message: `The endpoint is ${path}.`};
  if (!carriesToken(headers.authorization, token)) {
    const error = headers.authorization === undefined ? '' : ', error="invalid_token"';
    return {
      status: 401,
      message: 'Send "Authorization: Bearer …" with the token of this server.',
      headers: {'www-authenticate': `Bearer realm="forge-tools"${error}`},
    };
  }
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') {
    return {status: 405, message: 'Use POST, GET or DELETE.', headers: {allow: 'POST, GET, DELETE'}};
  }
  return undefined;
}

/** RFC 6750 §2.1: what may stand behind `Bearer`. 32 characters are 128 bits in hexadecimal. */
const TOKEN = /^[A-Za-z0-9._~+/-]{32,512}=*$/;

/** Whether a token that the user chose is long enough and can be sent in a header. */
export function isBearerToken(token: string): boolean {
  return TOKEN.test(token);
}

/** Compares in constant time: digests have one length whatever was sent. */
export function carriesToken(authorization: string | undefined, token: string): boolean {
  const [, sent] = /^bearer +([^\s]+)\s*$/i.exec(authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface TokenFile {
  /** Removes the file, unless another server has written its own token since. */
  readonly remove: () => Promise<void>;
}

/** Writes the token where only its owner can read it. Replaces a file or a link of that name; follows none. */
export async function writeTokenFile(path: string, token: string): Promise<Result<TokenFile>> {
  try {
    await replaceFile(path, `${token}\n`);
  } catch (error) {
    const code = errorReason(error);
    return fail(
      'io_error',
      `The bearer token cannot be written to ${path} (${code}). Name a file in a directory that exists and is yours.`,
      {path, error: code, operation: 'write'},
    );
  }
  return ok({
    remove: async () => {
      const content = await readFile(path, 'utf8').catch(() => '');
      if (content === `${token}\n`) await rm(path, {force: true}).catch(() => {});
    },
  });
}

/** Who connected within that time may still be about to send the token. */
const GRACE_MS = 2000;

interface PlaceLimits {
  /** Connections without a token, once they had the time to send it. */
  readonly most: number;
  /** Connections without a token at any moment: clients that come at the same time. */
  readonly mostAtOnce: number;
}

/**
 * Review R18: who has shown no token holds no place for long. Connections are taken at once, and the oldest that
 * have not sent a token go when there are too many of them; those that have are counted by themselves.
 */
export class ConnectionPlaces {
  readonly #limits: PlaceLimits;
  readonly #clock: Clock;
  /** When they came, oldest first. */
  readonly #unproven = new Map<Socket, number>();

  constructor(limits: PlaceLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  add(socket: Socket): void {
    const now = this.#clock.monotonic();
    this.#unproven.set(socket, now);
    socket.once('close', () => this.#unproven.delete(socket));
    const {most, mostAtOnce} = this.#limits;
    for (const [oldest, since] of this.#unproven) {
      const {size} = this.#unproven;
      if (size <= most || (size <= mostAtOnce && now - since < GRACE_MS)) break;
      this.#unproven.delete(oldest);
      oldest.destroy();
    }
  }

  /** The connection has sent the token. */
  prove(socket: Socket): void {
    this.#unproven.delete(socket);
  }
}
