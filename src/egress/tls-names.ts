// Reads the server name from the first bytes of a TLS connection.

/** RFC 8446 §4: the beginning of a handshake message. */
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** RFC 9849, and the drafts before it: the name that counts is not the one that is seen. */
const ENCRYPTED: ReadonlySet<number> = new Set([0xfe0d, 0xfd00, 0xffce, 0xfe0a, 0xfe09, 0xfe08]);

type ClientHello =
  /** The one name it asks for, in lower case. */
  {readonly kind: 'named'; readonly name: string} | {readonly kind: 'refused'; readonly reason: string};

/** Reads bytes in order; what is not there makes it `failed`. */
class Reader {
  failed = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  number(bytes: 1 | 2 | 3): number {
    const taken = this.take(bytes);
    return taken.length === bytes ? taken.readUIntBE(0, bytes) : 0;
  }

  take(count: number): Buffer {
    if (count > this.left) this.failed = true;
    const from = this.#at;
    this.#at = Math.min(this.#bytes.length, this.#at + count);
    return this.#bytes.subarray(from, this.#at);
  }

  /** What is behind its length. */
  vector(lengthBytes: 1 | 2 | 3): Reader {
    const inner = new Reader(this.take(this.number(lengthBytes)));
    inner.failed = this.failed;
    return inner;
  }
}

/** RFC 8446 §4.1.2: a whole ClientHello message, and nothing behind it. */
export function readClientHello(message: Buffer): ClientHello {
  const broken: ClientHello = {kind: 'refused', reason: 'What was sent first is no ClientHello of TLS.'};
  const reader = new Reader(message);
  if (reader.number(1) !== CLIENT_HELLO) return broken;
  const body = reader.vector(3);
  if (reader.failed || reader.left > 0) return broken;
  // legacy_version, random
  body.take(34);
  body.vector(1);
  body.vector(2);
  body.vector(1);
  const extensions = body.vector(2);
  if (body.failed || body.left > 0) return broken;
  const seen = new Set<number>();
  let name: string | undefined;
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (extensions.failed || seen.has(type)) return broken;
    seen.add(type);
    if (ENCRYPTED.has(type)) {
      return {kind: 'refused', reason: 'The name in its ClientHello is encrypted (ECH).'};
    }
    if (type === SERVER_NAME) {
      name = onlyName(content);
      if (name === undefined)
        return {kind: 'refused', reason: 'Its ClientHello does not name exactly one host.'};
    }
  }
  if (name === undefined) return {kind: 'refused', reason: 'Its ClientHello names no host (SNI).'};
  return {kind: 'named', name};
}

/** RFC 6066 §3. */
function onlyName(content: Reader): string | undefined {
  const list = content.vector(2);
  const type = list.number(1);
  const name = list.vector(2);
  const text = name.take(name.left).toString('latin1').toLowerCase();
  const isWhole = !content.failed && content.left === 0 && !list.failed && list.left === 0 && !name.failed;
  return isWhole && type === HOST_NAME && text !== '' ? text : undefined;
}

/** RFC 8446 §5.1, with what older versions add to a record that is encrypted. */
const MOST_RECORD_BYTES = 16_384 + 2048;
const HEADER_BYTES = 5;
const HANDSHAKE = 22;
const CONTENT_TYPES: ReadonlySet<number> = new Set([20, 21, 22, 23]);
/** Of a ClientHello; with every key share and ticket there is, they have a few thousand. */
const MOST_HELLO_BYTES = 16_384;
/** A message in more of them is no program's. */
const MOST_HELLO_RECORDS = 16;
/** The same without its body: a second one of a session whose first had no key that the server takes. */
const HELLO_START = /^\x01[\s\S]{3}\x03[\x01-\x03]/;

export type RecordsState =
  | {readonly kind: 'waiting'}
  /** The ClientHello is whole and names the host. */
  | {readonly kind: 'open'}
  | {readonly kind: 'refused'; readonly reason: string};

const NOT_TLS: RecordsState = {kind: 'refused', reason: 'What it sent is not TLS.'};

/**
 * What a command sends into a tunnel: TLS records and nothing else, of which the first are a ClientHello for one host.
 * Keeps what it needs to see the next header, not what passes.
 */
export class TlsRecords {
  readonly #host: string;
  /** What is not yet looked at: a header, or a record of the handshake. */
  #open: Buffer = Buffer.alloc(0);
  /** Bytes of the present record that are still to come and are nobody's concern. */
  #toSkip = 0;
  #hello: Buffer | undefined = Buffer.alloc(0);
  #helloRecords = 0;
  #state: RecordsState = {kind: 'waiting'};

  constructor(host: string) {
    this.#host = host;
  }

  /** To be called with everything, in order, before it is passed on. */
  take(chunk: Buffer): RecordsState {
    let rest = chunk;
    while (this.#state.kind !== 'refused') {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, rest.length);
        this.#toSkip -= skipped;
        rest = rest.subarray(skipped);
        if (this.#toSkip > 0) break;
      }
      this.#open = this.#open.length === 0 ? rest : Buffer.concat([this.#open, rest]);
      rest = Buffer.alloc(0);
      const next = this.#readRecord();
      if (next === undefined) break;
      rest = next;
    }
    return this.#state;
  }

  /** Takes one record off the front. The value is what is behind it; `undefined` where more has to come. */
  #readRecord(): Buffer | undefined {
    const bytes = this.#open;
    if (bytes.length === 0) return undefined;
    const isTls =
      CONTENT_TYPES.has(bytes[0] ?? 0) &&
      (bytes.length < 2 || bytes[1] === 3) &&
      (bytes.length < 3 || (bytes[2] ?? 9) <= 4);
    if (!isTls) return this.#refuse(NOT_TLS);
    if (bytes.length < HEADER_BYTES) return undefined;
    const length = bytes.readUInt16BE(3);
    if (length > MOST_RECORD_BYTES || length === 0) return this.#refuse(NOT_TLS);
    const isHandshake = bytes[0] === HANDSHAKE;
    if (this.#hello === undefined && !isHandshake) {
      this.#toSkip = length;
      this.#open = Buffer.alloc(0);
      return bytes.subarray(HEADER_BYTES);
    }
    if (!isHandshake) return this.#refuse(NOT_TLS);
    if (bytes.length < HEADER_BYTES + length) return undefined;
    const content = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
    this.#open = Buffer.alloc(0);
    if (this.#hello === undefined) this.#checkLater(content);
    else this.#collect(Buffer.concat([this.#hello, content]));
    return bytes.subarray(HEADER_BYTES + length);
  }

  #collect(hello: Buffer): void {
    this.#hello = hello;
    const whole = hello.length < 4 ? undefined : 4 + hello.readUIntBE(1, 3);
    this.#helloRecords += 1;
    if (hello[0] !== 1 || (whole ?? 0) > MOST_HELLO_BYTES || this.#helloRecords > MOST_HELLO_RECORDS)
      this.#refuse(NOT_TLS);
    else if (whole !== undefined && hello.length >= whole) {
      this.#hello = undefined;
      this.#check(hello);
    }
  }

  /** RFC 8446 §4.1.2: after a HelloRetryRequest the second one asks for the same. */
  #checkLater(content: Buffer): void {
    const start = content.subarray(0, 6).toString('latin1');
    // What is encrypted is longer, and a ClientHello in pieces would be looked at by the host alone.
    if (start.length < 6 && content[0] === 1) this.#refuse(NOT_TLS);
    else if (HELLO_START.test(start)) this.#check(content);
  }

  #check(message: Buffer): void {
    const hello = readClientHello(message);
    if (hello.kind === 'refused') this.#refuse(hello);
    else if (hello.name !== this.#host) {
      this.#refuse({kind: 'refused', reason: 'Its ClientHello names another host than it connected to.'});
    } else this.#state = {kind: 'open'};
  }

  #refuse(state: RecordsState): undefined {
    this.#state = state;
    return undefined;
  }
}
