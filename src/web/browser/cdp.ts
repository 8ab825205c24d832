// The DevTools protocol over a pair of pipes. Its types are Chromium's own.

import type {Readable, Writable} from 'node:stream';
import type {Protocol} from 'devtools-protocol/types/protocol.js';
import type {ProtocolMapping} from 'devtools-protocol/types/protocol-mapping.js';
import {ok, type Result} from '../../core/result.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
/** Of a command without parameters: none. */
type Params<Method extends keyof Commands> = Commands[Method]['paramsType'] extends []
  ? Readonly<Record<string, never>>
  : Commands[Method]['paramsType'][0];
type Answered<Method extends keyof Commands> = Result<Commands[Method]['returnType'], string>;
type Listener<Params> = (params: Params, sessionId: string | undefined) => void;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: {readonly message?: string};
  readonly sessionId?: string;
}

/** Above every document that the settings allow, and below the longest string of V8 (review B12). */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
const NUL = 0;

/**
 * DevTools protocol over a pair of pipes: one JSON text, one NUL byte. A command that Chromium
 * refuses, or that it cannot answer any more, gives its words as the error.
 */
export class CdpConnection {
  readonly #input: Writable;
  readonly #pending = new Map<number, (answer: Result<unknown, string>) => void>();
  readonly #listeners = new Map<string, Listener<never>[]>();
  #parts: Buffer[] = [];
  #length = 0;
  #lastId = 0;
  #closed = false;
  #markClosed: () => void = () => {};
  /** Resolves when nothing is sent or heard any more, for whatever reason. */
  readonly closed = new Promise<void>(resolve => {
    this.#markClosed = resolve;
  });

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    input.on('error', () => this.close());
    output.on('data', (bytes: Buffer) => this.#receive(bytes));
    output.on('error', () => this.close());
    output.on('close', () => this.close());
  }

  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name][0]>): void {
    const listeners = this.#listeners.get(name);
    if (listeners) listeners.push(listener);
    else this.#listeners.set(name, [listener]);
  }

  /** Without a session, the command goes to the browser itself. */
  send<Method extends keyof Commands>(
    method: Method,
    params: Params<Method>,
    sessionId?: string,
  ): Promise<Answered<Method>> {
    if (this.#closed) return Promise.resolve({ok: false, error: 'closed'});
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise(resolve => {
      // What answers `id` has the shape of the command that was sent under it.
      this.#pending.set(id, answer => resolve(answer as Answered<Method>));
      this.#input.write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    });
  }

  /** Ends every command that waits. Nothing is sent or heard afterwards. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts = [];
    this.#listeners.clear();
    for (const settle of this.#pending.values()) settle({ok: false, error: 'closed'});
    this.#pending.clear();
    this.#markClosed();
  }

  #receive(bytes: Buffer): void {
    let rest = bytes;
    for (let end = rest.indexOf(NUL); end !== -1 && !this.#closed; end = rest.indexOf(NUL)) {
      this.#parts.push(rest.subarray(0, end));
      const parts = this.#parts;
      this.#parts = [];
      this.#length = 0;
      rest = rest.subarray(end + 1);
      // What does not speak the protocol is no Chromium.
      if (!this.#take(parts)) this.close();
    }
    if (this.#closed || rest.length === 0) return;
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length > MAX_MESSAGE_BYTES) this.close();
  }

  /**
   * Whether the bytes are a message that its listeners can take. A page has influence on what is said here, and
   * nobody above would catch what is thrown in the event of a pipe.
   */
  #take(parts: readonly Buffer[]): boolean {
    try {
      const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
      if (typeof value !== 'object' || value === null) return false;
      this.#dispatch(value);
      return true;
    } catch {
      return false;
    }
  }

  #dispatch({id, method, params, result, error, sessionId}: Message): void {
    if (id === undefined) {
      // Chromium's word that what it calls by this name has this shape.
      for (const listener of this.#listeners.get(method ?? '') ?? []) listener(params as never, sessionId);
      return;
    }
    const settle = this.#pending.get(id);
    this.#pending.delete(id);
    settle?.(error ? {ok: false, error: error.message ?? 'refused'} : ok(result));
  }
}

export type CdpHeader = Protocol.Fetch.HeaderEntry;
export type ErrorReason = Protocol.Network.ErrorReason;
export type PausedRequest = Protocol.Fetch.RequestPausedEvent;
export type AttachedTarget = Protocol.Target.AttachedToTargetEvent;
/** Its `requestId` is a `networkId`. */
export type EndedLoad = Pick<Protocol.Network.LoadingFinishedEvent, 'requestId'>;
export type NavigatedFrame = Protocol.Page.FrameNavigatedEvent;
