import type {HttpRequest} from '../../page.ts';
import type {NetworkError} from '../network-error.ts';
import {type BodyFraming, bodyFraming} from './body-framing.ts';
import {ChunkedDecoder} from './chunked-decoder.ts';
import {HeadReader} from './head-reader.ts';
import {headerTokens} from './header-tokens.ts';
import {parseResponseHead, type ResponseHead} from './parse-response-head.ts';

const MAX_INFORMATIONAL = 8;

export interface ResponseHandler {
  readonly onHead: (head: ResponseHead) => void;
  /** A part of the body, never empty. */
  readonly onData: (bytes: Buffer) => void;
  /** The message has ended. `reusable`: the connection may carry another request. */
  readonly onComplete: (reusable: boolean) => void;
}

/**
 * One HTTP/1.1 response, from bytes to calls of a handler. It knows no socket, and how the bytes
 * are cut makes no difference to what it reports.
 */
export class ResponseParser {
  readonly #method: HttpRequest['method'];
  readonly #handler: ResponseHandler;
  #headReader: HeadReader | undefined = new HeadReader();
  #framing: BodyFraming = {kind: 'none'};
  #remaining = 0;
  #chunks = new ChunkedDecoder();
  #informational = 0;
  #reusable = false;
  #complete = false;

  constructor(method: HttpRequest['method'], handler: ResponseHandler) {
    this.#method = method;
    this.#handler = handler;
  }

  /** The error that ends the response, if `bytes` breaks the protocol. `bytes` may be overwritten. */
  push(bytes: Buffer): NetworkError | undefined {
    let input = bytes;
    while (this.#headReader !== undefined) {
      const read = this.#headReader.push(input);
      if (!read.ok) return read.error;
      if (read.value === undefined) return undefined;
      const problem = this.#onHeadBytes(read.value.head);
      if (problem !== undefined) return problem;
      input = read.value.rest;
      if (this.#headReader !== undefined && input.length === 0) return undefined;
    }
    return this.#onBodyBytes(input);
  }

  /** The peer has closed its side. */
  end(): NetworkError | undefined {
    if (this.#complete) return undefined;
    if (this.#headReader !== undefined) return 'connection_closed';
    if (this.#framing.kind !== 'until-close') return 'truncated_body';
    this.#finish(false);
    return undefined;
  }

  #onHeadBytes(bytes: Buffer): NetworkError | undefined {
    const parsed = parseResponseHead(bytes);
    if (!parsed.ok) return parsed.error;
    const head = parsed.value;
    const framing = bodyFraming(head, this.#method);
    if (!framing.ok) return framing.error;

    if (head.status === 101) return 'unexpected_upgrade';
    if (head.status < 200) {
      this.#informational += 1;
      this.#headReader = new HeadReader();
      return this.#informational > MAX_INFORMATIONAL ? 'too_many_informational' : undefined;
    }
    this.#headReader = undefined;
    this.#framing = framing.value;
    this.#remaining = framing.value.kind === 'length' ? framing.value.length : 0;
    this.#reusable = isReusable(head, framing.value);
    this.#handler.onHead(head);
    return undefined;
  }

  #onBodyBytes(bytes: Buffer): NetworkError | undefined {
    // What follows a complete response was not asked for: it is ignored, with its connection.
    if (this.#complete) return undefined;
    switch (this.#framing.kind) {
      case 'none':
        this.#finish(bytes.length === 0);
        return undefined;
      case 'until-close':
        this.#emit(bytes);
        return undefined;
      case 'length': {
        const body = bytes.subarray(0, this.#remaining);
        this.#remaining -= body.length;
        this.#emit(body);
        if (this.#remaining === 0) this.#finish(body.length === bytes.length);
        return undefined;
      }
      case 'chunked': {
        const decoded = this.#chunks.push(bytes);
        if (!decoded.ok) return decoded.error;
        this.#emit(decoded.value.data);
        if (decoded.value.rest !== undefined) this.#finish(decoded.value.rest.length === 0);
        return undefined;
      }
    }
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > 0) this.#handler.onData(bytes);
  }

  #finish(exact: boolean): void {
    this.#complete = true;
    this.#handler.onComplete(exact && this.#reusable);
  }
}

function isReusable(head: ResponseHead, framing: BodyFraming): boolean {
  if (head.minorVersion === 0 || framing.kind === 'until-close') return false;
  // Some servers send the body that their headers announce even where there must be none (HEAD, 204).
  const announced = head.headers.has('content-length') || head.headers.has('transfer-encoding');
  if (framing.kind === 'none' && announced) return false;
  return !headerTokens(head.headers, 'connection').includes('close');
}
