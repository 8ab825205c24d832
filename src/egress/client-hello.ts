/** RFC 8446 §4: the beginning of a handshake message. */
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** RFC 9849, and the drafts before it: the name that counts is not the one that is seen. */
const ENCRYPTED: ReadonlySet<number> = new Set([0xfe0d, 0xfd00, 0xffce, 0xfe0a, 0xfe09, 0xfe08]);

export type ClientHello =
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
