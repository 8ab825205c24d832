import {crc32} from 'node:zlib';

/** A robots.txt as it came: its first bytes, and whether there were more. Nothing where the site has none. */
export interface RobotsText {
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

const FORM = 'robots 1';

/** For other replicas: whose it is and a checksum on one line, then the text. */
export function printRobotsText(origin: string, {bytes, cut}: RobotsText): Uint8Array {
  return Buffer.concat([Buffer.from(`${FORM} ${origin} ${cut ? 'cut' : 'whole'} ${crc32(bytes)}\n`), bytes]);
}

/** `undefined` for what is not, to the last byte, the text of this origin. No more of it than `maxBytes` is read. */
export function readRobotsText(shared: Buffer, origin: string, maxBytes: number): RobotsText | undefined {
  const end = shared.indexOf('\n');
  const bytes = shared.subarray(end + 1);
  const head = shared.toString('latin1', 0, Math.max(0, end));
  for (const cut of [false, true]) {
    if (head !== `${FORM} ${origin} ${cut ? 'cut' : 'whole'} ${crc32(bytes)}`) continue;
    return {bytes: bytes.subarray(0, maxBytes), cut: cut || bytes.length > maxBytes};
  }
  return undefined;
}
