/** Messages of TLS as a command could make them by hand. */

function vector(lengthBytes, content) {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}

export function extension(type, content) {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(type);
  return Buffer.concat([head, vector(2, content)]);
}

export function serverNames(...names) {
  const list = names.map(name => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))]));
  return extension(0, vector(2, Buffer.concat(list)));
}

/** A ClientHello message with these extensions. */
export function clientHello(...extensions) {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(0)),
    vector(2, Buffer.from([0x13, 0x01])),
    vector(1, Buffer.from([0])),
    vector(2, Buffer.concat(extensions)),
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

export function record(content, type = 22) {
  return Buffer.concat([Buffer.from([type, 3, 1]), vector(2, content)]);
}
