import {randomBytes} from 'node:crypto';

/** The only gateway to randomness: `2 × bytes` lower-case hexadecimal digits. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** From 0 up to 1, to spread what would come at the same time. */
export function randomShare(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}
