import type {WireConnection} from './wire-server.ts';

/** What a server does beyond writing its bytes at once. */
export type WireScript = (connection: WireConnection) => void;

const DRIP_MS = 50;
/** Long after every limit; a client that still reads then is at fault, not this machine. */
const FLOOD_BYTES = 268_435_456;
const BLOCK_BYTES = 65_536;

/** Header bytes are bytes, whatever characters stand for them here. */
function bytesOf(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
}

/** Writes `start`, then `unit` over and over, as fast as the client takes it. */
export function flood(start: string | Buffer, unit: string | Buffer): WireScript {
  const piece = bytesOf(unit);
  const block = Buffer.concat(Array<Buffer>(Math.ceil(BLOCK_BYTES / piece.length)).fill(piece));
  return ({wire}) => {
    let left = FLOOD_BYTES;
    const more = (): void => {
      while (left > 0 && !wire.destroyed) {
        left -= block.length;
        if (!wire.write(block)) return;
      }
      wire.end();
    };
    wire.on('drain', more);
    wire.write(bytesOf(start));
    more();
  };
}

/** Writes `start`, then `unit` over and over, one piece every few milliseconds, without end. */
export function drip(start: string | Buffer, unit: string | Buffer): WireScript {
  return ({wire}) => {
    wire.write(bytesOf(start));
    const timer = setInterval(() => wire.write(bytesOf(unit)), DRIP_MS);
    wire.once('close', () => clearInterval(timer));
  };
}

/** Writes the bytes one by one. */
export function byteByByte(bytes: string | Buffer): WireScript {
  return ({wire}) => {
    for (const byte of bytesOf(bytes)) wire.write(Buffer.of(byte));
  };
}

/** Writes, lets it arrive, then resets the connection. */
export function reset(bytes: string | Buffer): WireScript {
  return ({wire, tcp}) => {
    const end = (): void => void setTimeout(() => tcp.resetAndDestroy(), DRIP_MS);
    if (bytes.length === 0) tcp.resetAndDestroy();
    else wire.write(bytesOf(bytes), end);
  };
}

/** Writes, and says that nothing more will come, but keeps listening. */
export function close(bytes: string | Buffer): WireScript {
  return ({wire}) => {
    wire.end(bytesOf(bytes));
  };
}

/** Writes, and keeps the connection open in silence. */
export function wait(bytes: string | Buffer): WireScript {
  return ({wire}) => {
    wire.write(bytesOf(bytes));
  };
}
